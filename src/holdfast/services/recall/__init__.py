"""Look up what a brief left out: transcript lines, notes, earlier sessions."""
