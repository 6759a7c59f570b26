"""Other views of the same state, under other budgets."""
