"""Adapters of conversations for agent frameworks; each needs only its own framework."""
