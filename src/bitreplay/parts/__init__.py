"""What a strategy is put together from: the frozen backbone, and the parts that learn."""
