"""An index of what a session mentions: files, identifiers, commands, links and ids.

It is separate from the state because it searches all tool output: it is updated when a brief is
about to be built, not at every step. Pure: values in, values out.
"""
