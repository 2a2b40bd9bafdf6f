#include "learner/fit.h"

#include "arithmetic/fixedpoint.h"

namespace bitreplay {
namespace {

// Which of n input pixels make output pixel i of m: `first` to `last`, with the weights `head` and `tail`, and m for
// all between them; `total` is the sum of the weights. Moves from one output pixel to the next without a division.
struct Axis {
  const int64_t n, m;
  int64_t first, last, head, tail;

  Axis(int64_t size, int64_t side) : n(size), m(side) { begin(); }
  bool larger() const { return m > n; }
  int64_t total() const { return larger() ? 2 * m : n; }
  int64_t place(int64_t j) const { return saturate(j, 0, n - 1); }  // outside its edge is repeated

  void begin() {
    if (larger()) return set_centre(divide_floor(n - m, 2 * m), n - m - 2 * m * divide_floor(n - m, 2 * m));
    start_ = 0;
    first = 0;
    find_last();
  }

  void next() {
    if (larger())
      return tail + 2 * n >= 2 * m ? set_centre(first + 1, tail + 2 * n - 2 * m) : set_centre(first, tail + 2 * n);
    start_ += n;
    first = last + ((last + 1) * m == start_);
    find_last();
  }

 private:
  int64_t start_;  // of output pixel i, in units of 1 / m of an input pixel

  // The centre of i lies `past` / 2m behind that of input pixel j.
  void set_centre(int64_t j, int64_t past) {
    first = j;
    last = j + 1;
    head = 2 * m - past;
    tail = past;
  }

  void find_last() {
    const int64_t end = start_ + n;
    last = first + (end - first * m - 1) / m;
    head = min_of((first + 1) * m, end) - start_;
    tail = last > first ? end - last * m : 0;
  }
};

// The weighted sum of the pixels of a row.
inline void add_along(const Axis& x, const uint8_t* row, int64_t step, int64_t sums[3]) {
  const uint8_t *first = row + x.place(x.first) * step, *last = row + x.place(x.last) * step;
  int64_t between[3] = {};
  if (!x.larger())
    for (const uint8_t* pixel = first + step; pixel < last; pixel += step)
      for (int c = 0; c < 3; ++c) between[c] += pixel[c];
  for (int c = 0; c < 3; ++c) sums[c] = x.head * first[c] + x.m * between[c] + x.tail * last[c];
}

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
  Axis y(square, side), x(square, side);
  const int64_t area = y.total() * y.total();
  for (int64_t row = 0; row < side; ++row, y.next()) {
    x.begin();
    for (int64_t column = 0; column < side; ++column, fitted += 3, x.next()) {
      int64_t sums[3] = {}, along[3];
      for (int64_t i = y.first; i <= y.last; ++i) {
        const int64_t weight = i == y.first ? y.head : i == y.last ? y.tail : y.m;
        add_along(x, corner + size_t(y.place(i)) * row_bytes, step, along);
        for (int c = 0; c < 3; ++c) sums[c] += weight * along[c];
      }
      for (int c = 0; c < 3; ++c) fitted[c] = uint8_t((2 * sums[c] + area) / (2 * area));
    }
  }
}

}  // namespace bitreplay

int br_fit(const br_picture* picture, uint32_t side, uint8_t* fitted) {
  if (!bitreplay::is_picture(picture) || !fitted || side < 1 || side > bitreplay::kLargestSide) return BR_BAD_ARGUMENT;
  bitreplay::fit(*picture, side, fitted);
  return BR_OK;
}
