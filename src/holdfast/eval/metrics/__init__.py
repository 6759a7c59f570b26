"""One module per metric; each gives named figures for one text at one cut."""
