/* Allocators that count, in the place of the C library's: a program that includes this sees in `count` what was asked for. */
#pragma once
#include <errno.h>
#include <stdlib.h>

void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);

static long count;
static void counted(void) { __atomic_fetch_add(&count, 1, __ATOMIC_RELAXED); }

void* malloc(size_t size) { return counted(), __libc_malloc(size); }
void* calloc(size_t number, size_t size) { return counted(), __libc_calloc(number, size); }
void* realloc(void* old, size_t size) { return counted(), __libc_realloc(old, size); }
void* aligned_alloc(size_t alignment, size_t size) { return counted(), __libc_memalign(alignment, size); }
void* memalign(size_t alignment, size_t size) { return counted(), __libc_memalign(alignment, size); }
int posix_memalign(void** to, size_t alignment, size_t size) {
  counted();
  *to = __libc_memalign(alignment, size);
  return *to ? 0 : ENOMEM;
}
