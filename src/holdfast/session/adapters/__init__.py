"""The same conversation in other people's frameworks. Each adapter needs its framework only."""
