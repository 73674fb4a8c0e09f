"""Advice on ABR parameters: from what a person knows of a network to values, each with its reason."""
