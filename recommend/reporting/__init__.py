"""A recommendation for people: in a terminal (`terminal`), in sentences (`sentences`), as a page (`page`)."""
