"""Documentation; the pages under reference/ are made from the code."""
