/**
 * Fits a picture to a network's input in integers, as the core does (docs/pictures.md): the middle square, reduced by area
 * averages or enlarged bilinearly, halves rounded up. So a device is sent few bytes and learns the same pixels as any other.
 *
 * @typedef {{data: Uint8Array | Uint8ClampedArray, width: number, height: number}} Picture
 */

/**
 * For each of m output pixels, those of n input pixels that contribute to it, with weights that sum to `total`.
 * @param {number} n @param {number} m
 */
function taps(n, m) {
  const rows = [];
  for (let i = 0; i < m; ++i) {
    /** @type {[number, number][]} */
    const row = [];
    if (m > n) {
      const center = (2 * i + 1) * n - m;
      const before = Math.floor(center / (2 * m));
      const past = center - 2 * m * before;
      row.push([Math.max(before, 0), 2 * m - past], [Math.min(before + 1, n - 1), past]);
    } else
      for (let j = Math.floor((i * n) / m); j * m < (i + 1) * n; ++j)
        row.push([j, Math.min((j + 1) * m, (i + 1) * n) - Math.max(j * m, i * n)]);
    rows.push(row);
  }
  return { rows, total: m > n ? 2 * m : n };
}

/** side * side * 3 bytes. Sums stay below 2^37, which a double holds exactly. @param {Picture} picture @param {number} side */
export function fit({ data, width, height }, side) {
  const cropped = Math.min(width, height);
  const top = (height - cropped) >> 1;
  const left = (width - cropped) >> 1;
  const pixelBytes = data.length / (width * height);
  const { rows, total } = taps(cropped, side);
  const area = total * total;
  const pixels = new Uint8Array(side * side * 3);
  const line = new Float64Array(cropped * 3);
  rows.forEach((down, y) => {
    line.fill(0);
    for (const [j, weight] of down)
      for (let x = 0, at = ((top + j) * width + left) * pixelBytes; x < cropped; ++x, at += pixelBytes)
        for (let c = 0; c < 3; ++c) line[3 * x + c] += weight * data[at + c];
    rows.forEach((across, x) => {
      for (let c = 0; c < 3; ++c) {
        let sum = 0;
        for (const [j, weight] of across) sum += weight * line[3 * j + c];
        pixels[3 * (y * side + x) + c] = Math.floor((2 * sum + area) / (2 * area));
      }
    });
  });
  return pixels;
}

/** A BMP file: 24 bits per pixel, rows from the bottom up. @param {Uint8Array} pixels @param {number} side */
export function bmp(pixels, side) {
  const stride = (3 * side + 3) & ~3;
  const file = new Uint8Array(54 + stride * side);
  const view = new DataView(file.buffer);
  file.set([0x42, 0x4d]);
  [[2, file.length], [10, 54], [14, 40], [18, side], [22, side], [34, stride * side]].forEach(([at, value]) => view.setUint32(at, value, true)); // prettier-ignore
  view.setUint16(26, 1, true);
  view.setUint16(28, 24, true);
  for (let y = 0; y < side; ++y)
    for (let x = 0; x < side; ++x)
      for (let c = 0; c < 3; ++c) file[54 + (side - 1 - y) * stride + 3 * x + 2 - c] = pixels[3 * (y * side + x) + c];
  return file;
}
