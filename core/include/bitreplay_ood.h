/* Pictures that were not learned: docs/law.md section 14. How far they lie under the covariance that the sums have,
 * what distance and which temperature are expected of those of known classes. See bitreplay.h for sums and
 * solutions. */
#ifndef BITREPLAY_OOD_H
#define BITREPLAY_OOD_H
#include "bitreplay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* rows, halves and centre lie in the `work` of br_sums_factor (br_sums_solve_bytes), which stays as it is while they
 * are used, or in copies. */
typedef struct br_factor {
  const int32_t* rows;   /* [numbers (numbers + 1) / 2], the lower triangle by rows, 30 bits behind the point */
  const int32_t* halves; /* [numbers] */
  const int32_t* centre; /* [numbers]: the middle of all pictures */
  int64_t* ridges;       /* [parts], the caller's */
  int64_t pictures;
  uint32_t features;
  uint32_t dropped_features;
  int32_t point;
} br_factor;

typedef struct br_ood {
  int64_t fitted;      /* 16 bits behind the point */
  int64_t ratio;       /* 24 bits */
  int64_t expected;    /* 16 bits */
  int64_t temperature; /* 16 bits */
  int32_t* weights;    /* [numbers], the caller's: the class that stands in the middle */
  int64_t bias;
} br_ood;

BR_API int br_sums_factor(const br_sums* sums, const br_sums_part* parts, uint32_t part_count, void* work,
                          br_factor* factor);
/* br_sums_solve and br_sums_factor in one: the covariance is factored once. */
BR_API int br_sums_solve_factor(const br_sums* sums, const br_sums_part* parts, uint32_t part_count, void* work,
                                br_solution* solution, br_factor* factor);
BR_API uint64_t br_sums_mahalanobis_bytes(uint32_t features);
/* y[vectors][numbers], at most 254: the length is squares pictures 2^(point + exponent). */
BR_API int br_sums_mahalanobis(const br_factor* factor, const int16_t* y, uint64_t vectors, void* work,
                               int64_t* squares, int32_t* exponents);
/* Of a solution with shrunk means; `work` as for br_sums_mahalanobis. */
BR_API int br_sums_ood(const br_sums* sums, const br_solution* solution, const br_factor* factor,
                       const br_sums_part* parts, uint32_t part_count, void* work, br_ood* ood);
/* |x - mu|^2 / 8 - s + 3/4 s_0 of a picture, 16 bits behind the point, `best` its best score s. `away` has room for x,
 * `work` as for br_sums_mahalanobis. The picture is unknown where it is above br_ood_threshold, which `share` of the
 * pictures of known classes is expected to exceed: 16 bits behind the point; below 1 % as 1 %, above 50 % as 50 %. */
BR_API int br_sums_ood_score(const br_solution* solution, const br_factor* factor, const br_ood* ood, const int8_t* x,
                             int64_t best, int16_t* away, void* work, int64_t* score);
BR_API int64_t br_ood_threshold(const br_ood* ood, uint32_t share);

#ifdef __cplusplus
}
#endif
#endif
