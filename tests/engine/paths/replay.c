/* Runs a program from C, for machines without Python.
 *
 *     replay program regions result path list samples steps rate_mantissa rate_shift
 *
 * `regions` holds the parameters and then the arena, and `result` gets both after the list has run `steps` times
 * (list: a number of br_list; the steps are numbered from 0, the seed is 7). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bitreplay.h"

static int fail(const char* what) {
  fprintf(stderr, "replay: %s\n", what);
  return 1;
}

/* The whole file in memory aligned to 64, or null. */
static unsigned char* read_file(const char* name, size_t* size) {
  FILE* file = fopen(name, "rb");
  if (!file) return NULL;
  fseek(file, 0, SEEK_END);
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char* bytes = aligned_alloc(64, (*size + 64) / 64 * 64);
  if (bytes && fread(bytes, 1, *size, file) != *size) bytes = NULL;
  fclose(file);
  return bytes;
}

int main(int count, char** words) {
  if (count != 10) return fail("nine arguments expected");
  size_t program_size, regions_size;
  unsigned char* bytes = read_file(words[1], &program_size);
  unsigned char* regions = read_file(words[2], &regions_size);
  if (!bytes || !regions) return fail("a file could not be read");
  if (br_set_path(words[4])) return fail("the instruction set cannot be used");
  br_program* program;
  char error[256];
  if (br_program_open(bytes, program_size, &program, error, sizeof error)) return fail(error);
  const size_t parameter_bytes = br_program_parameter_bytes(program), arena_bytes = br_program_arena_bytes(program);
  if (regions_size < parameter_bytes || regions_size - parameter_bytes > arena_bytes) return fail("regions do not fit");
  unsigned char* parameters = aligned_alloc(64, (parameter_bytes + 64) / 64 * 64);
  unsigned char* arena = aligned_alloc(64, (arena_bytes + 64) / 64 * 64);
  memset(arena, 0, arena_bytes);
  memcpy(parameters, regions, parameter_bytes);
  memcpy(arena, regions + parameter_bytes, regions_size - parameter_bytes);
  for (int step = 0; step < atoi(words[7]); ++step) {
    const br_run_args args = {7, (uint64_t)step, atoi(words[6]), atoll(words[8]), atoll(words[9])};
    const int failed = br_run(program, atoi(words[5]), parameters, arena, &args);
    if (failed) return fail(br_error_text(failed));
  }
  FILE* file = fopen(words[3], "wb");
  if (!file) return fail("the result cannot be written");
  fwrite(parameters, 1, parameter_bytes, file);
  fwrite(arena, 1, regions_size - parameter_bytes, file);
  fclose(file);
  br_program_close(program);
  return 0;
}
