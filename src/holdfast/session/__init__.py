"""For people who build agents: a conversation that never outgrows its model's window."""
