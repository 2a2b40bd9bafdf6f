// Operations whose loops the compiler turns into vectors: the same text, compiled once for each instruction set. A file
// kernels/loops_<set>.cc includes this one; an operation's own file is the scalar copy. Everything here is local to the
// file that includes it.
#pragma once
#include "operations/add_loops.h"
#include "operations/average_pool_loops.h"
#include "operations/batchnorm_loops.h"
#include "operations/clip_loops.h"
#include "operations/concat_loops.h"
#include "operations/dense_grad_loops.h"
#include "operations/dense_loops.h"
#include "operations/depthwise_conv_loops.h"
#include "operations/filter_pool_loops.h"
#include "operations/gradient_sum_loops.h"
#include "operations/learned_loops.h"
#include "operations/max_pool_loops.h"
#include "operations/rprelu_loops.h"
#include "operations/rsign_loops.h"

namespace bitreplay {
namespace {

// By the operation's code (operations.h).
const Loop kLoops[] = {
    {140, add_maps::run},
    {30, average_pool::run},
    {31, average_pool_input_grad::run},
    {20, batchnorm_fold::run},
    {24, batchnorm_update::run},
    {130, clip::run},
    {131, clip_input_grad::run},
    {150, concat::run},
    {151, concat_input_grad::run},
    {82, dense_input_grad::run},
    {83, dense_param_grad::run},
    {84, dense_update::run},
    {80, dense_operand::run},
    {81, dense::run},
    {55, depthwise_conv::run},
    {56, learned_depthwise::run},
    {57, depthwise_conv_input_grad::run},
    {58, learned_depthwise_update::run},
    {32, filter_pool::run},
    {33, filter_pool_input_grad::run},
    {40, gradient_sum::run},
    {100, learned_operand::run},
    {101, learned_update::run},
    {160, max_pool::run},
    {161, max_pool_input_grad::run},
    {120, rprelu::run},
    {121, rprelu_input_grad::run},
    {122, rprelu_param_grad::run},
    {110, pack_signs_above::run},
    {111, rsign_input_grad::run},
    {112, rsign_param_grad::run},
    {0, nullptr},
};

}  // namespace
}  // namespace bitreplay
