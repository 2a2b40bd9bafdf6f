"""What the engine is compared with in benchmarks: the same networks, trained and run by PyTorch."""
