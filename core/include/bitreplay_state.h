/* State files of format 3: sections of bytes, each with a name, a type and a shape (docs/state-format.md). The learners
 * read and write whole states (bitreplay_learner.h); this is what lies below them, for programs that make states of
 * their own. C99, no heap.
 *
 * A file is BR_STATE_HEAD bytes, "BITSTATE", the version as uint64, the SHA-256 of all that follows, and then sections
 * in the order of their names. Numbers are little-endian.
 */
#ifndef BITREPLAY_STATE_H
#define BITREPLAY_STATE_H

#include "bitreplay.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BR_STATE_HEAD 48
#define BR_SECTION_ROOM 320 /* bytes of a section around its content, at most */
#define BR_SECTION_RANK 6

/* The first seven are those of `enum br_dtype`. */
enum br_section_type {
  BR_SECTION_INT8,
  BR_SECTION_INT16,
  BR_SECTION_INT32,
  BR_SECTION_INT64,
  BR_SECTION_UINT8,
  BR_SECTION_UINT32,
  BR_SECTION_UINT64,
  BR_SECTION_FLAG,     /* one byte, 0 or 1 */
  BR_SECTION_FRACTION, /* two int64 in lowest terms, the second above 0 */
  BR_SECTION_TEXT,     /* UTF-8; the shape is its number of bytes */
  BR_SECTION_NAMES     /* names of classes; the shape is their number of bytes */
};

typedef struct br_section {
  uint64_t shape[6];     /* 1 from `rank` on */
  uint64_t offset, size; /* of its content, in the file */
  uint32_t type, rank;
  char name[256]; /* 1 to 255 bytes of UTF-8, and a 0 */
} br_section;

/* Finds the sections of a file's bytes, writes the first `room` of them to `sections` and the number of all to
 * `*count`. BR_MALFORMED unless the file is in the one form that its content has; the SHA-256 is not compared. */
BR_API int br_state_sections(const void* bytes, size_t size, br_section* sections, uint32_t room, uint32_t* count);
/* Lays out sections, which are in the order of their names, one behind the other from `offset` on, a multiple of 8:
 * writes the `offset` and `size` of each section's content, and to `heads` what stands before and behind contents.
 * What stands before content k ends at ends[k], and begins where that of the one before ends; ends[count] is the end of
 * the zeros behind the last. `heads` holds BR_SECTION_ROOM bytes per section, `ends` count + 1 numbers. BR_MALFORMED if
 * there are no such sections. */
BR_API int br_state_lay_out(br_section* sections, uint32_t count, uint64_t offset, uint8_t* heads, uint64_t* ends);
/* The first 8 bytes of the SHA-256 of two pieces, one behind the other: the marks before an experience and the SHA-256
 * of what it brought are its mark in the lineage; nothing and an image's features are its digest. */
BR_API uint64_t br_mark(const void* before, size_t before_size, const void* bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
