/* Out-of-distribution images: docs/law.md section 14. The Mahalanobis distance of an image under the covariance of the
 * class statistics, and the distance and temperature that are expected for images of known classes. See bitreplay.h for
 * br_sums and br_solution, and for the rules of `work`. Real numbers are integers scaled by a power of two. */
#ifndef BITREPLAY_OOD_H
#define BITREPLAY_OOD_H
#include "bitreplay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The factor of the covariance. `rows`, `halves` and `centre` point into the `work` of br_sums_factor, which must stay
 * unchanged while they are used; or point them to copies. */
typedef struct br_factor {
  const int32_t* rows;   /* [features (features + 1) / 2], the lower triangle by rows, scaled by 2^30 */
  const int32_t* halves; /* [features] */
  const int32_t* centre; /* [features]: the mean of all images */
  int64_t* ridges;       /* [parts], the caller's */
  int64_t pictures;
  uint32_t features;
  uint32_t dropped_features;
  int32_t point;
} br_factor;

typedef struct br_ood {
  int64_t fitted;      /* scaled by 2^16 */
  int64_t ratio;       /* scaled by 2^24 */
  int64_t expected;    /* scaled by 2^16 */
  int64_t temperature; /* scaled by 2^16 */
  int32_t* weights;    /* [features], the caller's: of a class whose mean is the centre */
  int64_t bias;
} br_ood;

/* Factors the covariance. `work` holds br_sums_solve_bytes, and `factor` points into it afterwards. */
BR_API int br_sums_factor(const br_sums* sums, const br_sums_part* parts, uint32_t part_count, void* work,
                          br_factor* factor);
/* br_sums_solve and br_sums_factor in one call, which factors the covariance once. */
BR_API int br_sums_solve_factor(const br_sums* sums, const br_sums_part* parts, uint32_t part_count, void* work,
                                br_solution* solution, br_factor* factor);
/* The squared Mahalanobis lengths of y[vectors][features], whose elements are within +-254. The length of vector i is
 * squares[i] * pictures * 2^(point + exponents[i]). `work` holds br_sums_mahalanobis_bytes. */
BR_API int br_sums_mahalanobis(const br_factor* factor, const int16_t* y, uint64_t vectors, void* work,
                               int64_t* squares, int32_t* exponents);
BR_API uint64_t br_sums_mahalanobis_bytes(uint32_t features);
/* Computes what br_sums_ood_score needs, for a solution with shrunk means. `work` holds br_sums_mahalanobis_bytes. */
BR_API int br_sums_ood(const br_sums* sums, const br_solution* solution, const br_factor* factor,
                       const br_sums_part* parts, uint32_t part_count, void* work, br_ood* ood);
/* The out-of-distribution score of x[features]: |x - mu|^2 / 8 - s + 3/4 s_0, scaled by 2^16, where s is `best`, its
 * largest class score. The image is unknown if its score exceeds br_ood_threshold. away[features] and `work`, of
 * br_sums_mahalanobis_bytes, are work space. */
BR_API int br_sums_ood_score(const br_solution* solution, const br_factor* factor, const br_ood* ood, const int8_t* x,
                             int64_t best, int16_t* away, void* work, int64_t* score);
/* The score that `share` (scaled by 2^16) of the images of known classes is expected to exceed. Shares below 1 % count
 * as 1 %, above 50 % as 50 %. */
BR_API int64_t br_ood_threshold(const br_ood* ood, uint32_t share);

#ifdef __cplusplus
}
#endif
#endif
