"""Made by `make docs`."""
