// The replay learner in the caller's memory: a frozen backbone, a tail that learns, a head, a memory of latents. What
// is in which file:
//
//     open.cc          memory, and where everything lies in it
//     networks.cc      the tensors of backbone and tail
//     learn.cc         an experience
//     store.cc         stored latents: a reservoir for each class
//     change.cc        forgetting, renaming, counts
//     answer.cc        latents and answers
//     method.cc        the settings that replay needs
//     state_arrays.cc  the arrays of a state
//     state_write.cc   hash and bytes of a state
//     state_read.cc    parses and checks a state file, and replaces what was learned by it
#pragma once
#include "learner/replay/class_numbers.h"
#include "learner/replay/functions.h"
#include "learner/replay/method.h"
#include "sums/bump_allocator.h"

namespace bitreplay {

constexpr uint32_t kFirstRoom = 16;
constexpr int64_t kMaxExperiences = (int64_t(1) << 31) - 1;

// Offsets in the tail for a number of classes; all tails have the same tensors except for the head's rows.
struct TailPlaces {
  size_t codes_at, labels_at, logits_at;  // in the arena
  size_t weights_at, active_at;           // in the parameters
  uint32_t room, columns;
};

enum class Phase { idle, adding, stepping };

// Stored latents, class after class in the order of numbers: as state files have them.
struct Store {
  int32_t* classes;  // [count]
  int64_t* seen;     // [count]
  int32_t* sizes;    // [count]
  uint32_t count;
  uint64_t* codes;   // [stored][words]
  int32_t* origins;  // [stored]
  int64_t* ids;      // [stored]
  uint32_t stored;
  int64_t offered, draws;
};

struct ReplayLearner : br_learner {
  Method method;

  // the networks
  br_program *backbone, *tail;
  uint8_t *backbone_parameters, *parameters;
  uint8_t* tail_tables;  // where the tail of the present room is opened
  size_t tail_tables_bytes, parameter_bytes, images_at, codes_at;
  uint32_t words, code_shape[3], tensor_count;  // tensors that learn
  TailPlaces at;
  uint16_t* tensors;  // [tensor_count] their numbers in the program, by name

  // the state
  ClassNumbers names;
  int32_t* consolidated;  // [room][columns]
  int64_t* past;          // [room]
  Store store;
  int64_t experiences, steps;

  // an experience
  Phase phase;
  uint64_t* fresh;  // [options.samples][words]
  int32_t* labels;  // [options.samples] class numbers; -1 - k is the name k of `pending`
  uint64_t* order;  // [options.samples]
  Names pending;
  int64_t* present;     // [room]
  uint32_t* picked;     // [replay_batch_size]
  uint32_t* exchanged;  // [2 replay_batch_size]
  uint32_t fresh_count;
  uint64_t done, all_steps;
  int64_t* logits;    // [options.classes] scores of an answer
  uint64_t* encoded;  // [words] of an image to be classified

  // shared, one use at a time
  uint8_t *work, *backbone_arena;
  size_t work_bytes, tail_arena_bytes, backbone_arena_bytes;
  bool backbone_is_clean, tail_is_clean, tail_is_prepared;  // the last: packed weights are up to date

  int32_t* head_weights() const { return reinterpret_cast<int32_t*>(parameters + at.weights_at); }
  uint8_t* active() const { return parameters + at.active_at; }
};

inline bool is_open(const ReplayLearner* l) { return l->tail; }

// open.cc
uint32_t room_for(uint32_t classes);
bool has_tail(const ReplayLearner& l, uint32_t room);
// Opens the tail for this number of classes, with the program's initial parameters. It fails only if the instruction
// set was changed meanwhile; then there is no tail, and every call is refused.
int open_tail(ReplayLearner* l, uint32_t room);
// As `open_tail`, but keeps what was learned.
int resize(ReplayLearner* l, uint32_t room);
void clear(ReplayLearner* l);

// learn.cc
// The work memory for anything but networks.
uint8_t* use_work(ReplayLearner* l);
int prepare_tail(ReplayLearner* l);
// The head's active classes: those that were consolidated.
void activate(ReplayLearner* l);

// store.cc
uint32_t max_stored(const ReplayLearner& l);
int64_t stored_of(const ReplayLearner& l, int32_t label);
int64_t seen_of(const ReplayLearner& l, int32_t label);
void offer(ReplayLearner* l, const uint64_t* code, int32_t label);
void drop_class(ReplayLearner* l, int32_t label);
bool drop_sample(ReplayLearner* l, int64_t sample);
// The class of a stored sample.
int32_t label_of(const ReplayLearner& l, uint32_t at);

// state_read.cc
// The work memory that reading takes.
size_t read_memory_bytes(const ReplayLearner& l);

// change.cc
bool can_answer(const ReplayLearner& l, uint32_t number);

}  // namespace bitreplay
