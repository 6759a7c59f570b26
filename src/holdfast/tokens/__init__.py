"""Token estimates, and their calibration by the counts that hosts write into their transcripts."""
