/* Eight threads run forward on one opened program while another thread learns with it.
 *
 *     races PROGRAM STEPS           every answer is that of a whole state, and what is learned is as without them
 *     races PROGRAM STEPS careless  they read the parameters while these change: ThreadSanitizer must find that
 *
 * First one thread alone learns STEPS steps and answers after each; these answers are what the others must give. The
 * program must learn and have been compiled for one sample or more. Prints the instruction set and the number of
 * answers. Link with a library built by -DBITREPLAY_SANITIZE=thread to look for races. */
#include <pthread.h>

#include "bitreplay.h"
#include "file.h"

enum { ANSWERING = 8, HELPING = 2 };

typedef struct {
  uint8_t *parameters, *arena;
} memory;

static br_program* program;
static br_tensor_info latents, labels, logits;
static size_t parameter_bytes, arena_bytes, answer_bytes;
static int64_t steps;
static int careless;
static uint8_t **states, **answers; /* before step i, and what it answers */
static memory learning;
static int64_t latest; /* the last whole state that was learned */

static uint8_t* region(size_t size) {
  uint8_t* bytes = aligned_alloc(64, (size + 63) / 64 * 64 + 64);
  if (!bytes) stop("no memory", "aligned_alloc failed");
  memset(bytes, 0, size);
  return bytes;
}

static void run(int list, memory place, int64_t step) {
  const br_run_args args = {1, (uint64_t)step, 1, 1 << 30, 35};
  int failed = br_run(program, list, place.parameters, place.arena, &args);
  if (failed) stop("a run failed", br_error_text(failed));
}

static void feed(memory place, int64_t number) {
  uint64_t state = (uint64_t)number + 1, *words = (uint64_t*)(place.arena + latents.offset);
  size_t count = 1;
  for (uint32_t axis = 0; axis < latents.dimensions; ++axis) count *= latents.shape[axis];
  for (size_t i = 0; i < count; ++i) words[i] = state = state * 6364136223846793005u + 1442695040888963407u;
  *(int32_t*)(place.arena + labels.offset) = (int32_t)(number % logits.shape[0]);
}

static const uint8_t* answer(memory place) {
  run(BR_PREPARE, place, 0);
  feed(place, -1);
  run(BR_FORWARD, place, 0);
  return place.arena + logits.offset;
}

static void learn(memory place, int64_t step) {
  feed(place, step);
  run(BR_STEP, place, step);
}

static void* teach(void* nothing) {
  for (int64_t step = 0; step < steps; ++step) {
    learn(learning, step);
    if (!careless && memcmp(learning.parameters, states[step + 1], parameter_bytes)) stop("learned", "another state");
    __atomic_store_n(&latest, step + 1, __ATOMIC_RELEASE);
  }
  return nothing;
}

static void* ask(void* count) {
  memory place = {NULL, region(arena_bytes)};
  for (int64_t seen = 0; seen < steps; ++*(int64_t*)count) {
    seen = __atomic_load_n(&latest, __ATOMIC_ACQUIRE);
    place.parameters = careless ? learning.parameters : states[seen]; /* shared with other threads, read alone */
    const uint8_t* reply = answer(place);
    if (!careless && memcmp(reply, answers[seen], answer_bytes)) stop("answered", "otherwise than one thread alone");
  }
  free(place.arena);
  return NULL;
}

static void* help(void* nothing) {
  br_worker_run(program);
  return nothing;
}

int main(int count, char** words) {
  if (count < 3 || count > 4) stop("usage", "races PROGRAM STEPS [careless]");
  size_t size;
  uint8_t* bytes = read_file(words[1], &size);
  steps = atoll(words[2]);
  careless = count == 4;
  char error[256];
  if (br_program_open_threads(bytes, size, 1 + HELPING, &program, error, sizeof error)) stop(words[1], error);
  if (br_program_tensor(program, "latents", &latents) || br_program_tensor(program, "labels", &labels) ||
      br_program_tensor(program, "logits", &logits))
    stop(words[1], "does not learn");
  parameter_bytes = br_program_parameter_bytes(program);
  arena_bytes = br_program_arena_bytes(program);
  answer_bytes = 4 * (size_t)logits.shape[0];

  memory alone = {region(parameter_bytes), region(arena_bytes)}, other = {NULL, region(arena_bytes)};
  memcpy(alone.parameters, br_program_initial_parameters(program), parameter_bytes);
  states = calloc((size_t)steps + 1, sizeof *states);
  answers = calloc((size_t)steps + 1, sizeof *answers);
  if (!states || !answers) stop("no memory", "calloc failed");
  run(BR_PREPARE, alone, 0);
  for (int64_t step = 0; step <= steps; ++step) {
    other.parameters = states[step] = region(parameter_bytes);
    answers[step] = region(answer_bytes);
    memcpy(states[step], alone.parameters, parameter_bytes);
    memcpy(answers[step], answer(other), answer_bytes);
    if (step < steps) learn(alone, step);
  }

  learning = (memory){region(parameter_bytes), region(arena_bytes)};
  memcpy(learning.parameters, states[0], parameter_bytes);
  run(BR_PREPARE, learning, 0);
  pthread_t teacher, asking[ANSWERING], helping[HELPING];
  int64_t answered[ANSWERING] = {0}, all = 0;
  for (int i = 0; i < HELPING; ++i) pthread_create(&helping[i], NULL, help, NULL);
  while (br_program_workers(program) < HELPING) usleep(100);
  for (int i = 0; i < ANSWERING; ++i) pthread_create(&asking[i], NULL, ask, &answered[i]);
  pthread_create(&teacher, NULL, teach, NULL);
  pthread_join(teacher, NULL);
  for (int i = 0; i < ANSWERING; ++i) {
    pthread_join(asking[i], NULL);
    all += answered[i];
  }
  printf("%s %lld\n", br_program_isa(program), (long long)all);
  br_program_close(program);
  for (int i = 0; i < HELPING; ++i) pthread_join(helping[i], NULL);
  return 0;
}
