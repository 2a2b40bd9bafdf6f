/* Reading and writing whole files, and memory that ends at a page that cannot be touched. */
#ifndef BITREPLAY_TOOLS_FILE_H
#define BITREPLAY_TOOLS_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static inline void stop(const char* what, const char* detail) {
  fprintf(stderr, "%s: %s\n", what, detail);
  exit(1);
}

/* `size` zeroed bytes, a multiple of 8, whose last is followed by a page without access. */
static inline uint8_t* guarded(size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page;
  uint8_t* area = mmap(NULL, (pages + 1) * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (area == MAP_FAILED || mprotect(area + pages * page, page, PROT_NONE)) stop("no memory", "mmap failed");
  return area + pages * page - size;
}

static inline void release(uint8_t* bytes, size_t size) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), pages = (size + page - 1) / page;
  munmap(bytes + size - pages * page, (pages + 1) * page);
}

static inline uint8_t* read_file(const char* name, size_t* size) {
  FILE* file = fopen(name, "rb");
  if (!file || fseek(file, 0, SEEK_END)) stop(name, "cannot be read");
  *size = (size_t)ftell(file);
  rewind(file);
  uint8_t* bytes = guarded(*size + (8 - *size % 8) % 8);
  if (fread(bytes, 1, *size, file) != *size) stop(name, "ends early");
  fclose(file);
  return bytes;
}

static inline void write_file(const char* name, const void* bytes, size_t size) {
  FILE* file = fopen(name, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file)) stop(name, "cannot be written");
}

#endif
