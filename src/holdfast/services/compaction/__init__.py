"""Save before a compaction, restore after it, and prove that the brief arrived."""
