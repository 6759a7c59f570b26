"""A bounded run of faults and attacks against real processes: `make torture`."""
