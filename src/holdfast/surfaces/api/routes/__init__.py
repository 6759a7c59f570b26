"""What callers can ask for, address by address."""
