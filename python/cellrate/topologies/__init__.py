"""Networks of the world as scenarios: topology files of others, and families of networks made by rule."""
