// Whether n S = G - sum_c s s^T / n_c has no negative eigenvalue, within rounding: docs/law.md section 13, "Possible".
//
// Each entry of the matrix is off by n / 4 at most, each of the factor's squares by 2^-29 of the diagonal's unit. The
// diagonal is raised by more than both, so that no row of pictures' sums is left out.
#include "sums/scatter.h"

namespace bitreplay {

bool has_factor(const Solving& s) {
  constexpr int64_t little = 1024;
  const int64_t raised = mean_of_diagonal(s, 0, s.features) / little + s.pictures * s.features / 4 + 1;
  for (int64_t i = 0; i < s.features; ++i) {
    const int64_t at = triangle(i) + i, value = max_of(s.number(at), 0);
    s.set_number(at, value + value / little + raised);
  }
  return factor(s) == 0;
}

}  // namespace bitreplay

using namespace bitreplay;

int br_sums_has_factor(const br_sums* sums, void* work) {
  const Kernels* kernels = chosen_kernels();
  const int64_t pictures = checked_pictures(sums);
  if (!kernels) return BR_UNKNOWN_ISA;
  if (pictures < 1 || !work) return BR_BAD_ARGUMENT;
  if (reinterpret_cast<uintptr_t>(work) % 64) return BR_MISALIGNED;
  Solving s = solving_in(work, *kernels, sums->features, sums->classes, pictures, br_sums_extent(sums));
  s.sums = sums;
  scatter(s);
  return has_factor(s) ? BR_OK : BR_IMPOSSIBLE;
}
