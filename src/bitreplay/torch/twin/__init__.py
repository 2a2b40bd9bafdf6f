"""Networks in floating point beside the engine's: the tail of the `float` setting, and a twin that rounds."""
