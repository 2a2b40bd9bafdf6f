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
#define BR_SECTION_HEAD 312 /* bytes of a section before its content, at most */
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
/* Writes what stands before a section's content to `head` and returns its size, or 0 if there is no such section.
 * `offset` and `size` of the section are not read. After the content come zeros up to a multiple of 8. */
BR_API size_t br_section_head(const br_section* section, uint8_t head[312]);

#ifdef __cplusplus
}
#endif
#endif
