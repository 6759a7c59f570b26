"""The work that agents share: projects, requests, tasks, waves, subtasks, actions, messages."""
