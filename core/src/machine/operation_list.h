// The one list of operations. Each is declared once, in its own file under operations/: name, code, tensors, attributes
// and what runs it. A new operation: its file, and one word here. A build for one model may have a shorter list, that
// of the operations that its program uses (`bitreplay export` writes it): BITREPLAY_OPERATIONS names its header.
#pragma once

namespace bitreplay {

struct Operation;

#if defined(BITREPLAY_OPERATIONS)
#include BITREPLAY_OPERATIONS
#else
// clang-format off
#define BR_OPERATIONS(EACH) \
  EACH(kPackSigns) EACH(kSignInputGrad) \
  EACH(kBinaryConv) EACH(kBinaryConvInputGrad) \
  EACH(kBatchnormFold) EACH(kAffine) EACH(kAffineInputGrad) EACH(kAffineParamGrad) EACH(kBatchnormUpdate) \
  EACH(kAveragePool) EACH(kAveragePoolInputGrad) \
  EACH(kGradientSum) \
  EACH(kIntegerConv) \
  EACH(kImageTable) \
  EACH(kEncodeLatents) EACH(kDecodeLatents) \
  EACH(kDenseOperand) EACH(kDense) EACH(kDenseInputGrad) EACH(kDenseParamGrad) EACH(kDenseUpdate) \
  EACH(kCrossEntropy) \
  EACH(kPackSignsClipped) EACH(kClippedSignInputGrad) EACH(kUnpackSigns) \
  EACH(kLatentSigns) EACH(kLatentUpdate) \
  EACH(kFilterPool) EACH(kFilterPoolInputGrad) \
  EACH(kConvOperand) EACH(kLearnedConv) EACH(kIntegerConvInputGrad) EACH(kLearnedConvUpdate) \
  EACH(kDepthwiseConv) EACH(kLearnedDepthwise) EACH(kDepthwiseConvInputGrad) EACH(kLearnedDepthwiseUpdate) \
  EACH(kLearnedOperand) EACH(kLearnedUpdate) \
  EACH(kPackSignsAbove) EACH(kRSignInputGrad) EACH(kRSignParamGrad) \
  EACH(kRPReLU) EACH(kRPReLUInputGrad) EACH(kRPReLUParamGrad) \
  EACH(kClip) EACH(kClipInputGrad) \
  EACH(kAdd) \
  EACH(kConcat) EACH(kConcatInputGrad) \
  EACH(kAffineFine) \
  EACH(kMaxPool) EACH(kMaxPoolInputGrad)
// clang-format on
#endif

#define BR_DECLARE(operation) extern const Operation operation;
BR_OPERATIONS(BR_DECLARE)
#undef BR_DECLARE

}  // namespace bitreplay
