#include "kernels/loops/loops.h"

namespace bitreplay {

const Loop* const kLoopsWasm = kLoops;

}  // namespace bitreplay
