"""How good it is: quality metrics, computed from raw transcripts and nothing else of Holdfast."""
