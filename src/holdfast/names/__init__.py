"""Which names a session uses: files, identifiers, commands, links. An index of the log.

Kept apart from the state, because it looks into everything that tools printed: it is brought up
to date when a brief is near, not at every step. Pure: values in, values out.
"""
