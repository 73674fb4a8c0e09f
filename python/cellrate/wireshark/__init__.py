"""What a run leaves for Wireshark: captures of its cells, and the dissector that reads them."""
