#include "learner/fit.h"

#include "arithmetic/fixedpoint.h"

namespace bitreplay {
namespace {

// Which of n input pixels make output pixel i of m, and with which weights: `total` is the sum of the weights.
struct Axis {
  int64_t n, m;
  bool larger() const { return m > n; }
  int64_t total() const { return larger() ? 2 * m : n; }

  // The centre of i among the centres of the input pixels, in units of 1 / 2m.
  int64_t centre(int64_t i) const { return (2 * i + 1) * n - m; }
  int64_t first(int64_t i) const { return larger() ? divide_floor(centre(i), 2 * m) : i * n / m; }
  int64_t last(int64_t i) const { return larger() ? first(i) + 1 : ((i + 1) * n - 1) / m; }
  int64_t weight(int64_t i, int64_t j) const {
    if (!larger()) return min_of((j + 1) * m, (i + 1) * n) - max_of(j * m, i * n);
    const int64_t past = centre(i) - first(i) * 2 * m;
    return j == first(i) ? 2 * m - past : past;
  }
  int64_t place(int64_t j) const { return saturate(j, 0, n - 1); }  // outside its edge is repeated
};

}  // namespace

bool is_picture(const br_picture* p) {
  if (!p || !p->pixels || (p->pixel_bytes != 3 && p->pixel_bytes != 4)) return false;
  if (p->width < 1 || p->width > kLargestSide || p->height < 1 || p->height > kLargestSide) return false;
  return !p->row_bytes || p->row_bytes >= size_t(p->width) * p->pixel_bytes;
}

void fit(const br_picture& p, int64_t side, uint8_t* fitted) {
  const int64_t square = min_of(p.width, p.height), step = p.pixel_bytes;
  const size_t row_bytes = p.row_bytes ? p.row_bytes : size_t(p.width) * p.pixel_bytes;
  const uint8_t* corner = p.pixels + size_t((p.height - square) / 2) * row_bytes + (p.width - square) / 2 * step;
  const Axis axis = {square, side};
  const int64_t area = axis.total() * axis.total();
  for (int64_t y = 0; y < side; ++y)
    for (int64_t x = 0; x < side; ++x, fitted += 3) {
      int64_t sums[3] = {};
      const int64_t left = axis.first(x), right = axis.last(x);
      for (int64_t i = axis.first(y); i <= axis.last(y); ++i) {
        const uint8_t* row = corner + size_t(axis.place(i)) * row_bytes;
        const int64_t down = axis.weight(y, i);
        int64_t along[3] = {};
        for (int64_t j = left; j <= right; ++j) {
          const uint8_t* pixel = row + axis.place(j) * step;
          const int64_t weight = axis.weight(x, j);
          for (int c = 0; c < 3; ++c) along[c] += weight * pixel[c];
        }
        for (int c = 0; c < 3; ++c) sums[c] += down * along[c];
      }
      for (int c = 0; c < 3; ++c) fitted[c] = uint8_t((2 * sums[c] + area) / (2 * area));
    }
}

}  // namespace bitreplay

int br_fit(const br_picture* picture, uint32_t side, uint8_t* fitted) {
  if (!bitreplay::is_picture(picture) || !fitted || side < 1 || side > bitreplay::kLargestSide) return BR_BAD_ARGUMENT;
  bitreplay::fit(*picture, side, fitted);
  return BR_OK;
}
