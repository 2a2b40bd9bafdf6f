// No kernel of its own: the loops do the work.
#include "kernels/integer_conv/depthwise_conv.h"

namespace bitreplay {

const DepthwiseConv kDepthwiseConvScalar = {[](const DepthwiseConvArgs&) { return uint64_t(0); },
                                            [](const DepthwiseConvArgs&, uint8_t*) {},
                                            [](const DepthwiseConvArgs&) { return false; }};

}  // namespace bitreplay
