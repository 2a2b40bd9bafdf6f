"""From the bytes of a picture to the square that a backbone reads: formats, colours, sizes, augmentation."""
