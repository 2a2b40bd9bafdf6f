/* Learns by sums with allocators of its own that count: what the core asks for must be nothing.
 *
 *     sums_no_allocation     prints "allocations, answers that are right of 12" */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../native/counting_allocators.h"
#include "bitreplay_discriminant.h"

enum { NUMBERS = 19, CLASSES = 3, PICTURES = 12 };

int main(void) {
  static int64_t counts[CLASSES], other_counts[CLASSES], biases[CLASSES], scores[PICTURES * CLASSES];
  static int32_t probabilities[PICTURES * CLASSES];
  static uint32_t answered[PICTURES], unknown[PICTURES];
  static int32_t class_sums[CLASSES * NUMBERS], products[NUMBERS * (NUMBERS + 1) / 2], weights[CLASSES * NUMBERS];
  static int64_t other_class_sums[CLASSES * NUMBERS], other_products[NUMBERS * (NUMBERS + 1) / 2];
  static int8_t x[PICTURES * NUMBERS];
  int32_t labels[PICTURES];
  for (int k = 0; k < PICTURES; ++k) {
    labels[k] = k % CLASSES;
    for (int i = 0; i < NUMBERS; ++i) x[k * NUMBERS + i] = (int8_t)(40 * labels[k] * (i % 3 - 1) + (7 * k + 5 * i * k) % 11);
  }
  br_sums sums = {NUMBERS, CLASSES, 32, counts, class_sums, products, NULL};
  br_sums wide = {NUMBERS, CLASSES, 64, other_counts, other_class_sums, other_products, NULL};
  br_solution solution = {weights, biases, 0, 0, 0, 0, 0};
  void* add_work = aligned_alloc(64, br_sums_add_bytes(NUMBERS));
  void* solve_work = aligned_alloc(64, br_sums_solve_bytes(NUMBERS, CLASSES));
  br_sums_part part = {NUMBERS, 0, 0};
  br_discriminant rule = {.sums = &sums, .parts = &part, .part_count = 1, .keeps_factor = 1};
  void* rule_memory = aligned_alloc(64, br_discriminant_place(&rule, NUMBERS, CLASSES, NULL));
  void* rule_work = aligned_alloc(64, br_discriminant_work_bytes(NUMBERS, CLASSES, 1));
  const br_answers wanted = {answered, NULL, probabilities, unknown, 3277};
  if (br_sums_bits(131072) != 32 || br_sums_bits(131073) != 64) return 2;
  count = 0;
  br_discriminant_place(&rule, NUMBERS, CLASSES, rule_memory);
  br_sums_shrinkage(NULL, PICTURES, NUMBERS, &part.top, &part.bottom);
  int failed = br_sums_add(&sums, x, labels, PICTURES, 1, add_work) || br_sums_combine(&wide, &sums, 1) ||
               br_sums_combine(&sums, &wide, -1) || br_sums_combine(&sums, &wide, 1) ||
               br_sums_solve(&sums, &part, 1, solve_work, &solution) ||
               br_sums_scores(&solution, x, PICTURES, scores) || br_discriminant_solve(&rule, rule_work) ||
               br_discriminant_answer(&rule, x, PICTURES, &wanted, rule_work);
  const long allocations = count;
  int right = 0;
  for (int k = 0; k < PICTURES; ++k) {
    int best = 0;
    for (int c = 1; c < CLASSES; ++c)
      if (scores[k * CLASSES + c] > scores[k * CLASSES + best]) best = c;
    right += best == labels[k] && answered[k] == (uint32_t)best && probabilities[k * CLASSES + best] > 1 << 29;
  }
  printf("%ld %d\n", allocations, right);
  return failed;
}
