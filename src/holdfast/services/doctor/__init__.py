"""Check the installation, and run save, compact and restore once as a test."""
