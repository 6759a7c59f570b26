"""How many tokens text really takes: learned from the counts that a host writes into its log."""
