// Operations whose loops the compiler turns into vectors: the same text, compiled once for each instruction set. A file
// kernels/loops_<set>.cc includes this one; an operation's own file is the scalar copy. Everything here is local to the
// file that includes it.
#pragma once
#include "kernels/activation/clip_loops.h"
#include "kernels/activation/learned_loops.h"
#include "kernels/activation/rprelu_loops.h"
#include "kernels/affine/batchnorm_loops.h"
#include "kernels/head/dense_grad_loops.h"
#include "kernels/head/dense_loops.h"
#include "kernels/image/image_loops.h"
#include "kernels/integer_conv/depthwise_conv_loops.h"
#include "kernels/join/add_loops.h"
#include "kernels/join/concat_loops.h"
#include "kernels/join/gradient_sum_loops.h"
#include "kernels/pool/average_pool_loops.h"
#include "kernels/pool/filter_pool_loops.h"
#include "kernels/pool/max_pool_loops.h"
#include "kernels/sign/clipped_sign_loops.h"
#include "kernels/sign/rsign_loops.h"
#include "machine/operation_list.h"

namespace bitreplay {
namespace {

const Loop kLoops[] = {
    {&kAdd, add_maps::run},
    {&kAveragePool, average_pool::run},
    {&kAveragePoolInputGrad, average_pool_input_grad::run},
    {&kBatchnormFold, batchnorm_fold::run},
    {&kBatchnormUpdate, batchnorm_update::run},
    {&kClip, clip::run},
    {&kClipInputGrad, clip_input_grad::run},
    {&kClippedSignInputGrad, clipped_sign_input_grad::run},
    {&kConcat, concat::run},
    {&kConcatInputGrad, concat_input_grad::run},
    {&kDenseInputGrad, dense_input_grad::run},
    {&kDenseParamGrad, dense_param_grad::run},
    {&kDenseUpdate, dense_update::run},
    {&kDenseOperand, dense_operand::run},
    {&kDense, dense::run},
    {&kDepthwiseConv, depthwise_conv::run},
    {&kLearnedDepthwise, learned_depthwise::run},
    {&kDepthwiseConvInputGrad, depthwise_conv_input_grad::run},
    {&kLearnedDepthwiseUpdate, learned_depthwise_update::run},
    {&kFilterPool, filter_pool::run},
    {&kFilterPoolInputGrad, filter_pool_input_grad::run},
    {&kGradientSum, gradient_sum::run},
    {&kImageTable, image_table::run},
    {&kLearnedOperand, learned_operand::run},
    {&kLearnedUpdate, learned_update::run},
    {&kMaxPool, max_pool::run},
    {&kMaxPoolInputGrad, max_pool_input_grad::run},
    {&kRPReLU, rprelu::run},
    {&kRPReLUInputGrad, rprelu_input_grad::run},
    {&kRPReLUParamGrad, rprelu_param_grad::run},
    {&kPackSignsClipped, pack_signs_clipped::run},
    {&kPackSignsAbove, pack_signs_above::run},
    {&kRSignInputGrad, rsign_input_grad::run},
    {&kRSignParamGrad, rsign_param_grad::run},
    {nullptr, nullptr},
};

}  // namespace
}  // namespace bitreplay
