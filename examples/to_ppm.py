"""Photographs as PPM, which the examples in C and JavaScript read: the pixels as `bitreplay` sees them.

python examples/to_ppm.py OUT PICTURE...        OUT/NAME.ppm of each

The same file then gives the same answer everywhere: `bitreplay predict` reads PPM too.
"""

import sys
from pathlib import Path

import bitreplay


def main(out: Path, pictures: list[Path]) -> None:
    out.mkdir(parents=True, exist_ok=True)
    for path in pictures:
        pixels = bitreplay.read(path)
        height, width, _ = pixels.shape
        target = out / f"{path.stem}.ppm"
        target.write_bytes(f"P6\n{width} {height}\n255\n".encode() + pixels.tobytes())
        print(target)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: to_ppm.py OUT PICTURE...")
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
