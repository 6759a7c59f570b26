"""Quality metrics of briefs, computed from raw transcripts.

What a session needed is read without the product's own decoder and rules, so that a bug in them
cannot hide itself.
"""
