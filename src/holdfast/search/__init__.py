"""Full-text index over transcripts and notes, in files that can be deleted and rebuilt."""
