#include "kernels/loops/loops.h"

namespace bitreplay {

const Loop* const kLoopsAvx2 = kLoops;

}  // namespace bitreplay
