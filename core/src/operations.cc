// The one list of operations. A new operation: its file under operations/, and one line here.
#include "operations.h"

#include <cstring>

namespace bitreplay {

extern const Operation kPackSigns, kSignInputGrad;
extern const Operation kBinaryConv, kBinaryConvInputGrad;
extern const Operation kBatchnormFold, kAffine, kAffineInputGrad, kAffineParamGrad, kBatchnormUpdate;
extern const Operation kAveragePool, kAveragePoolInputGrad;
extern const Operation kGradientSum;
extern const Operation kIntegerConv;
extern const Operation kImageTable;
extern const Operation kEncodeLevel, kDecodeLevel;
extern const Operation kDenseOperand, kDense, kDenseInputGrad, kDenseParamGrad, kDenseUpdate;
extern const Operation kCrossEntropy;
extern const Operation kPackSignsClipped, kClippedSignInputGrad, kUnpackSigns;
extern const Operation kLatentSigns, kLatentUpdate;
extern const Operation kFilterPool, kFilterPoolInputGrad;
extern const Operation kConvOperand, kLearnedConv, kIntegerConvInputGrad, kLearnedConvUpdate;
extern const Operation kDepthwiseConv, kLearnedDepthwise, kDepthwiseConvInputGrad, kLearnedDepthwiseUpdate;
extern const Operation kLearnedOperand, kLearnedUpdate;
extern const Operation kPackSignsAbove, kRSignInputGrad, kRSignParamGrad;
extern const Operation kRPReLU, kRPReLUInputGrad, kRPReLUParamGrad;
extern const Operation kClip, kClipInputGrad;
extern const Operation kAdd;
extern const Operation kConcat, kConcatInputGrad;
extern const Operation kAffineFine;
extern const Operation kMaxPool, kMaxPoolInputGrad;

static const Operation* const kOperations[] = {
    &kPackSigns, &kSignInputGrad,
    &kBinaryConv, &kBinaryConvInputGrad,
    &kBatchnormFold, &kAffine, &kAffineInputGrad, &kAffineParamGrad, &kBatchnormUpdate,
    &kAveragePool, &kAveragePoolInputGrad,
    &kGradientSum,
    &kIntegerConv,
    &kImageTable,
    &kEncodeLevel, &kDecodeLevel,
    &kDenseOperand, &kDense, &kDenseInputGrad, &kDenseParamGrad, &kDenseUpdate,
    &kCrossEntropy,
    &kPackSignsClipped, &kClippedSignInputGrad, &kUnpackSigns,
    &kLatentSigns, &kLatentUpdate,
    &kFilterPool, &kFilterPoolInputGrad,
    &kConvOperand, &kLearnedConv, &kIntegerConvInputGrad, &kLearnedConvUpdate,
    &kDepthwiseConv, &kLearnedDepthwise, &kDepthwiseConvInputGrad, &kLearnedDepthwiseUpdate,
    &kLearnedOperand, &kLearnedUpdate,
    &kPackSignsAbove, &kRSignInputGrad, &kRSignParamGrad,
    &kRPReLU, &kRPReLUInputGrad, &kRPReLUParamGrad,
    &kClip, &kClipInputGrad,
    &kAdd,
    &kConcat, &kConcatInputGrad,
    &kAffineFine,
    &kMaxPool, &kMaxPoolInputGrad,
};

const Operation* operation_of_code(uint32_t code) {
  for (const Operation* operation : kOperations)
    if (operation->code == code) return operation;
  return nullptr;
}

int (*run_of(const Kernels& kernels, const Operation& operation))(const Call&) {
  for (const Loop* loop = kernels.loops ? *kernels.loops : nullptr; loop && loop->code; ++loop)
    if (loop->code == operation.code) return loop->run;
  return operation.run;
}

const Operation* operation_at(size_t index) {
  return index < sizeof kOperations / sizeof *kOperations ? kOperations[index] : nullptr;
}

static const char* next_word(const char* text, int* length) {
  while (*text == ' ') ++text;
  *length = int(strcspn(text, " "));
  return *length ? text : nullptr;
}

int words_in(const char* text) {
  int count = 0, length;
  while ((text = next_word(text, &length))) {
    text += length;
    ++count;
  }
  return count;
}

int roles_of(const Operation& operation, Role roles[kMostRoles]) {
  int count = 0, length;
  for (const char* text = operation.reads; (text = next_word(text, &length)); text += length) {
    bool optional = text[length - 1] == '?';
    roles[count++] = {text, length - optional, optional, false};
  }
  int reads = count;
  for (const char* text = operation.writes; (text = next_word(text, &length)); text += length) {
    bool optional = text[length - 1] == '?', known = false;
    for (int i = 0; i < reads; ++i) {
      if (roles[i].length == length - optional && !memcmp(roles[i].name, text, size_t(roles[i].length)))
        known = roles[i].written = true;
    }
    if (!known) roles[count++] = {text, length - optional, optional, true};
  }
  return count;
}

}  // namespace bitreplay

int br_operation(size_t index, br_operation_info* info) {
  const bitreplay::Operation* operation = bitreplay::operation_at(index);
  if (!operation) return 0;
  *info = {operation->name, operation->reads, operation->writes, operation->attributes, operation->code};
  return 1;
}
