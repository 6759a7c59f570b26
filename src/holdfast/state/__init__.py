"""What it means: the working state, folded from events. Pure: no clock, no files."""
