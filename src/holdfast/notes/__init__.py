"""Session notes: a Markdown file per session in the project, written by Holdfast and by people."""
