"""Reports on a session besides the brief: losses of a summary, differences of states, timeline."""
