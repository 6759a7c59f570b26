"""Reports on a session besides the brief: losses, costs, window contents, diff, timeline."""
