"""The hook process: one handler per event, and the background jobs that hooks start."""
