"""One window of the page a file. A window shows numbers and asks for others; it computes none."""
