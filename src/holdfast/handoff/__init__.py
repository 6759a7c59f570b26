"""What one agent hands to the next: typed, read tolerantly, and never more than 500 tokens.

Pure; `compact` and `reading` are used by a hook.
"""
