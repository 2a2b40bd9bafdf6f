"""One file a command, named like it."""
