/* From class statistics to answers: docs/law.md sections 13 and 14. The discriminant with shrunk means, the Mahalanobis
 * distance of an image under its covariance, and the distance and temperature that are expected for images of known
 * classes. See bitreplay.h for br_sums and br_solution, and for the rules of `work`. Real numbers are integers scaled
 * by a power of two.
 *
 *     br_discriminant d = {.sums = &sums, .parts = parts, .part_count = 1, .keeps_factor = 1};
 *     memory = aligned_alloc(64, br_discriminant_place(&d, features, classes, NULL));
 *     br_discriminant_place(&d, features, classes, memory);
 *     br_discriminant_solve(&d, work);
 *     br_discriminant_answer(&d, x, images, &answers, work);
 */
#ifndef BITREPLAY_DISCRIMINANT_H
#define BITREPLAY_DISCRIMINANT_H
#include "bitreplay.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The factor of the covariance, which a br_discriminant keeps. */
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

/* A discriminant. The caller sets the first five fields; what they point to stays in place while it is used. */
typedef struct br_discriminant {
  const br_sums* sums;
  const br_sums_part* parts; /* a part whose top and bottom are 0 has the lambda of `shrinkage` */
  uint32_t part_count;
  uint32_t keeps_factor;  /* 1: keep the factor that `unknown` of answers needs, in 2 d (d + 1) bytes for d features; 0:
                          * compute it again whenever it is asked for */
  br_shrinkage shrinkage; /* all 0: the default */
  uint32_t is_expected;   /* 1: `ood` has been computed */
  br_solution solution;   /* with shrunk means */
  br_factor factor;       /* if it is kept */
  br_ood ood;
} br_discriminant;

/* What br_discriminant_answer writes, for each image. The caller sets all fields; each pointer may be null if that is
 * not wanted. */
typedef struct br_answers {
  uint32_t* labels;       /* [images]: the first class with the largest score */
  int64_t* scores;        /* [images][classes] */
  int32_t* probabilities; /* [images][classes], scaled by 2^30 */
  uint32_t* unknown;      /* [images]: 1 if the image is unlike those that were learned, else 0 */
  uint32_t share; /* for `unknown`: the share of images of known classes that may be called so, scaled by 2^16 */
} br_answers;

/* Divides `memory`, which is aligned to 64, among the arrays of a discriminant of so many features and at most so many
 * classes, and returns the bytes that they take. With `memory` null it only does the latter. */
BR_API uint64_t br_discriminant_place(br_discriminant* discriminant, uint32_t features, uint32_t classes, void* memory);
/* The bytes of `work` for br_discriminant_solve and br_discriminant_expect. */
BR_API uint64_t br_discriminant_work_bytes(uint32_t features, uint32_t classes, uint32_t part_count);
/* The bytes of `work` for br_discriminant_answer: 8 per class; with `unknown`, as much as this function returns. Where
 * the factor is not kept, `unknown` takes br_discriminant_work_bytes, and so do the first probabilities. */
BR_API uint64_t br_discriminant_answer_bytes(uint32_t features, uint32_t classes);
/* Computes the discriminant of the sums as they are now. BR_BAD_ARGUMENT if there is no image. */
BR_API int br_discriminant_solve(br_discriminant* discriminant, void* work);
/* Computes temperature and expected distances, unless they have been. Otherwise the first answer that needs them does;
 * after this, answers do not change the discriminant, so that threads may share it. */
BR_API int br_discriminant_expect(br_discriminant* discriminant, void* work);
/* Answers for x[images][features], from a discriminant that was solved. */
BR_API int br_discriminant_answer(br_discriminant* discriminant, const int8_t* x, uint64_t images,
                                  const br_answers* answers, void* work);

/* ---- The steps of it ---- */

/* The squared Mahalanobis lengths of y[vectors][features], whose elements are within +-254. The length of vector i is
 * squares[i] * pictures * 2^(point + exponents[i]). `work` holds br_sums_mahalanobis_bytes. */
BR_API int br_sums_mahalanobis(const br_factor* factor, const int16_t* y, uint64_t vectors, void* work,
                               int64_t* squares, int32_t* exponents);
BR_API uint64_t br_sums_mahalanobis_bytes(uint32_t features);
/* Computes what br_sums_ood_score needs, for a solution with means shrunk by these constants; null: the default ones.
 * `work` holds br_sums_mahalanobis_bytes. */
BR_API int br_sums_ood(const br_sums* sums, const br_solution* solution, const br_factor* factor,
                       const br_sums_part* parts, uint32_t part_count, const br_shrinkage* shrinkage, void* work,
                       br_ood* ood);
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
