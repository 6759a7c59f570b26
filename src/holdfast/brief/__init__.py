"""What must be known again: a state under a budget, minus what the summary already says.

Pure: the same state and budget give the same bytes.
"""
