"""A library for people who build agents: conversations that fit their model's window."""
