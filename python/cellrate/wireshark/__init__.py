"""Files of a run for Wireshark: captures of its cells, and the dissector that reads them."""
