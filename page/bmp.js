/**
 * A picture as a BMP file: 24 bits per pixel, rows from the bottom up.
 * @param {{data: Uint8Array | Uint8ClampedArray, width: number, height: number}} picture 3 or 4 bytes per pixel
 */
export function bmp({ data, width, height }) {
  const stride = (3 * width + 3) & ~3;
  const pixelBytes = data.length / (width * height);
  const file = new Uint8Array(54 + stride * height);
  const view = new DataView(file.buffer);
  file.set([0x42, 0x4d]);
  [[2, file.length], [10, 54], [14, 40], [18, width], [22, height], [34, stride * height]].forEach(([at, value]) => view.setUint32(at, value, true)); // prettier-ignore
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  for (let y = 0, from = 0; y < height; ++y)
    for (let x = 0, to = 54 + (height - 1 - y) * stride; x < width; ++x, from += pixelBytes, to += 3)
      for (let c = 0; c < 3; ++c) file[to + 2 - c] = data[from + c];
  return file;
}
