"""Share work through a team's PostgreSQL: push, pull, retention."""
