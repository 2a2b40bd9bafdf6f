"""From a picture's bytes to the square that a backbone reads: formats, colours, sizes, augmentation."""
