/* Runs a program's steps with allocators of its own that count: what br_run asks for must be nothing.
 *
 *     no_allocation PROGRAM THREADS     prints "allocations while opening, while running"
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bitreplay.h"
#include "counting_allocators.h"

static void* room(size_t bytes) {
  bytes = (bytes + 63) / 64 * 64;
  return memset(aligned_alloc(64, bytes), 0, bytes);
}

static void* serve(void* program) {
  br_worker_run(program);
  return NULL;
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  const uint32_t threads = (uint32_t)atoi(argv[2]);
  FILE* file = fopen(argv[1], "rb");
  if (!file) return 3;
  fseek(file, 0, SEEK_END);
  const size_t size = (size_t)ftell(file);
  rewind(file);
  void* bytes = room(size);
  if (fread(bytes, 1, size, file) != size) return 4;
  fclose(file);

  char error[256];
  br_program* program;
  count = 0;
  if (br_program_open_threads(bytes, size, threads, &program, error, sizeof error)) {
    fprintf(stderr, "%s\n", error);
    return 5;
  }
  const long opening = count;
  pthread_t helpers[64];
  for (uint32_t i = 1; i < threads; ++i)
    if (pthread_create(&helpers[i], NULL, serve, program)) return 8;
  while (br_program_workers(program) < threads - 1) sched_yield();
  void *parameters = room(br_program_parameter_bytes(program)), *arena = room(br_program_arena_bytes(program));
  memcpy(parameters, br_program_initial_parameters(program), br_program_parameter_bytes(program));
  br_run_args args = {1, 0, (int64_t)br_program_max_samples(program), 1717986918, 35};
  count = 0;
  if (br_run(program, BR_PREPARE, parameters, arena, &args)) return 6;
  for (args.step = 0; args.step < 3; ++args.step)
    if (br_run(program, BR_STEP, parameters, arena, &args)) return 7;
  const long running = count;
  br_program_close(program);
  for (uint32_t i = 1; i < threads; ++i) pthread_join(helpers[i], NULL);
  printf("%ld %ld\n", opening, running);
  return 0;
}
