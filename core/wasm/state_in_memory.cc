// State files in linear memory: a JavaScript function is no pointer that C could call.
#include <cstring>

#include "bitreplay_learner.h"

namespace {

struct Bytes {
  uint8_t* at;
  size_t size;
};

int read_bytes(void* context, size_t offset, void* bytes, size_t size) {
  const Bytes* file = static_cast<const Bytes*>(context);
  if (offset > file->size || size > file->size - offset) return 1;
  memcpy(bytes, file->at + offset, size);
  return 0;
}

int write_bytes(void* context, size_t offset, const void* bytes, size_t size) {
  const Bytes* file = static_cast<const Bytes*>(context);
  if (offset > file->size || size > file->size - offset) return 1;
  memcpy(file->at + offset, bytes, size);
  return 0;
}

}  // namespace

extern "C" {

BR_API int br_learner_write_bytes(br_learner* learner, uint8_t* to, size_t size) {
  Bytes file = {to, size};
  return br_learner_write(learner, write_bytes, &file);
}

BR_API int br_learner_read_bytes(br_learner* learner, uint8_t* from, size_t size) {
  Bytes file = {from, size};
  return br_learner_read(learner, read_bytes, &file, size);
}

BR_API int br_learner_verify_bytes(br_learner* learner, uint8_t* from, size_t size) {
  Bytes file = {from, size};
  return br_learner_verify(learner, read_bytes, &file, size);
}

BR_API int br_learner_merge_bytes(br_learner* learner, uint8_t* from, size_t size) {
  Bytes file = {from, size};
  return br_learner_merge(learner, read_bytes, &file, size);
}

BR_API int br_learner_take_out_bytes(br_learner* learner, uint8_t* from, size_t size) {
  Bytes file = {from, size};
  return br_learner_take_out(learner, read_bytes, &file, size);
}

BR_API int br_learner_take_out_since_bytes(br_learner* learner, uint8_t* from, size_t size, uint8_t* base,
                                           size_t base_size) {
  Bytes file = {from, size}, common = {base, base_size};
  return br_learner_take_out_since(learner, read_bytes, &file, size, read_bytes, &common, base_size);
}

BR_API int br_learner_merge_since_bytes(br_learner* learner, uint8_t* from, size_t size, uint8_t* base,
                                        size_t base_size) {
  Bytes file = {from, size}, common = {base, base_size};
  return br_learner_merge_since(learner, read_bytes, &file, size, read_bytes, &common, base_size);
}
}
