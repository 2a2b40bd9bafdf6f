#include "kernels/integer_conv/integer_conv_input_grad_pairs.h"
#include "kernels/integer_conv/integer_conv_lanes_avx2.h"

namespace bitreplay {

const IntegerConv kIntegerConvAvx2 = TiledConv<PairLanes, NoQuads>::table();
const IntegerConvInputGrad kIntegerConvInputGradAvx2 = integer_conv_input_grad_with<PairLanes>();

}  // namespace bitreplay
