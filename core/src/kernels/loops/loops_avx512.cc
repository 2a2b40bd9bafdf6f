#include "kernels/loops/loops.h"

namespace bitreplay {

const Loop* const kLoopsAvx512 = kLoops;

}  // namespace bitreplay
