"""The working state of a session, folded from events. Pure: no clock, no files."""
