// Instruction sets: one table of kernels each, chosen when a program is opened. Another set: one file per kernel and
// one table line in dispatch.cc; where a set has no kernel of its own it names the scalar one.
#pragma once
#include "kernels/affine/affine.h"
#include "kernels/affine/affine_grad.h"
#include "kernels/binary_conv/binary_conv.h"
#include "kernels/binary_conv/binary_conv_input_grad.h"
#include "kernels/integer_conv/depthwise_conv.h"
#include "kernels/integer_conv/integer_conv.h"
#include "kernels/integer_conv/integer_conv_input_grad.h"
#include "kernels/latent_code/latent_code.h"
#include "kernels/latent_weights/latent_update.h"
#include "kernels/sign/pack_signs.h"
#include "kernels/sign/sign_input_grad.h"
#include "kernels/sums/sums.h"

namespace bitreplay {

struct Call;

struct Operation;

// An operation whose run was compiled for an instruction set (kernels/loops/loops.h); the list ends with null.
struct Loop {
  const Operation* operation;
  int (*run)(const Call&);
};
extern const Loop* const kLoopsAvx2;
extern const Loop* const kLoopsAvx512;
extern const Loop* const kLoopsWasm;

struct Kernels {
  const char* name;
  bool (*supported)();
  PackSigns* pack_signs;
  SignInputGrad* sign_input_grad;
  BinaryConv binary_conv;
  BinaryConvInputGrad binary_conv_input_grad;
  Affine* affine;
  AffineClipped* affine_clipped = nullptr;  // null: none
  AffinePrepare affine_prepare = {};
  AffineInputGrad* affine_input_grad;
  AffineParamGrad* affine_param_grad;
  IntegerConv integer_conv;
  IntegerConvInputGrad integer_conv_input_grad;
  DepthwiseConv depthwise_conv;
  EncodeLatents* encode_latents;
  DecodeLatents* decode_latents;
  LatentUpdate latent_update;
  LatentSigns* latent_signs;
  SumsKernels sums;
  const Loop* const* loops;  // null: the operations' own
};

// The table that br_set_isa or BITREPLAY_ISA chose; null if the variable names none that can be used.
const Kernels* chosen_kernels();

}  // namespace bitreplay
