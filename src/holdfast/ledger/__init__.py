"""What agents share: project → request → task (wave) → subtask → action, agents, messages."""
