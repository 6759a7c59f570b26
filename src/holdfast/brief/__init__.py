"""Builds the brief: the session state cut to a token budget, without what the summary already says.

Pure: the same state and budget give the same bytes. There is no clock, file or environment here.
"""
