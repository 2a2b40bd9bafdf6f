/* Learning by sums, many small cases, all memory ending at a page that cannot be touched.
 *
 *     sums CASES RESULTS
 *
 * CASES: for each case six u64 (features, classes, bits, parts, pictures, taken), the parts, counts, class sums,
 * products, labels and pictures, each padded to 8 bytes (tests/engine/paths/sums_cases.py). The pictures are added, the
 * first `taken` of them taken away again. RESULTS: sums, weights, biases, exponent and dropped_features, scores, one
 * behind the other. Prints the instruction set and the number of cases. */
#include "bitreplay.h"
#include "file.h"

struct head {
  uint64_t features, classes, bits, parts, pictures, taken;
};

static FILE* results;

static size_t padded_to_8(size_t size) { return size + (8 - size % 8) % 8; }

/* Memory whose last byte, not only its last eight, is the last that can be touched. */
static void* ending(size_t size) { return guarded(padded_to_8(size)) + padded_to_8(size) - size; }

static void ended(void* bytes, size_t size) {
  release((uint8_t*)bytes - (padded_to_8(size) - size), padded_to_8(size));
}

static void write_out(void* bytes, size_t size) {
  if (fwrite(bytes, 1, size, results) != size) stop("results", "cannot be written");
}

static void check(int failed) {
  if (failed) stop("a case failed", br_error_text(failed));
}

int main(int count, char** words) {
  if (count != 3) stop("usage", "sums CASES RESULTS");
  size_t size, at = 0, cases = 0;
  uint8_t* file = read_file(words[1], &size);
  results = fopen(words[2], "wb");
  if (!results) stop(words[2], "cannot be written");
  for (; at < size; ++cases) {
    struct head head;
    memcpy(&head, file + at, sizeof head);
    at += sizeof head;
    const size_t d = head.features, c = head.classes, n = head.pictures, item = head.bits / 8;
    const size_t sizes[6] = {
        head.parts * sizeof(br_sums_part), c * 8, c * d * item, d * (d + 1) / 2 * item, n * 4, n * d};
    void* memory[6];
    for (int k = 0; k < 6; ++k) {
      memory[k] = ending(sizes[k]);
      memcpy(memory[k], file + at, sizes[k]);
      at += padded_to_8(sizes[k]);
    }
    br_sums sums = {(uint32_t)d, (uint32_t)c, (uint32_t)head.bits, memory[1], memory[2], memory[3], NULL};
    const size_t add_bytes = br_sums_add_bytes((uint32_t)d),
                 solve_bytes = br_sums_solve_bytes((uint32_t)d, (uint32_t)c);
    void *add_work = ending(add_bytes), *solve_work = ending(solve_bytes);
    check(br_sums_add(&sums, memory[5], memory[4], n, 1, add_work));
    check(br_sums_add(&sums, memory[5], memory[4], head.taken, -1, add_work));
    br_solution solution = {ending(c * d * 4), ending(c * 8), 0, 0, 0, 0, 0};
    int64_t* scores = ending(n * c * 8);
    check(br_sums_solve(&sums, memory[0], (uint32_t)head.parts, solve_work, &solution));
    check(br_sums_scores(&solution, memory[5], n, scores));
    for (int k = 1; k < 4; ++k) write_out(memory[k], sizes[k]);
    write_out(solution.weights, c * d * 4);
    write_out(solution.biases, c * 8);
    write_out(&solution.exponent, 4);
    write_out(&solution.dropped_features, 4);
    write_out(scores, n * c * 8);
    for (int k = 0; k < 6; ++k) ended(memory[k], sizes[k]);
    ended(add_work, add_bytes);
    ended(solve_work, solve_bytes);
    ended(solution.weights, c * d * 4);
    ended(solution.biases, c * 8);
    ended(scores, n * c * 8);
  }
  if (fclose(results)) stop(words[2], "cannot be written");
  printf("%s %zu\n", br_isa(), cases);
  return 0;
}
