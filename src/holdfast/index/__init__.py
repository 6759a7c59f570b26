"""Every word of every session, findable: a database of its own that can be made again."""
