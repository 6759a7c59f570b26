"""What happened: foreign transcript lines become our events, incrementally and tolerantly."""
