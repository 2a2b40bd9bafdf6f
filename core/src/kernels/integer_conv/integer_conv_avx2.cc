#include "kernels/integer_conv/integer_conv_byte_sums.h"
#include "kernels/integer_conv/integer_conv_input_grad_pairs.h"

namespace bitreplay {

const IntegerConv kIntegerConvAvx2 = TiledConv<PairLanes, ByteSums>::table();
const IntegerConvInputGrad kIntegerConvInputGradAvx2 = integer_conv_input_grad_with<PairLanes>();

}  // namespace bitreplay
