"""How many bytes and how long, before anything runs: `bitreplay plan`, and the one place where bytes are counted."""
