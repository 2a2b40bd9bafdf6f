// A window that slides over a map: its check, and the sizes that arguments of every convolution's kernel have, by the
// same names.
#pragma once
#include "machine/call.h"
#include "machine/checker.h"

namespace bitreplay {

// Weights (outputs, kernel, kernel, channels) between a map of `channels` and one of `outputs`.
inline void check_convolution(Checker& c, int weights, int map, int result) {
  c.square(weights, 1);
  c.window(map, result);
  if (!c.ok()) return;
  c.require(c.size(weights, 3) == c.size(map, 2), "the weights do not match the channels");
  c.require(c.size(weights, 0) == c.size(result, 2), "the weights do not match the outputs");
}

// Weights (outputs, kernel, kernel, ...) between a map (height, width, ...) and a result (out_h, out_w, outputs).
template <class Args>
Args window_arguments(const Call& c, int map, int weights, int result, int stride, int pad) {
  Args a = {};
  a.samples = c.samples();
  a.height = c.size(map, 0);
  a.width = c.size(map, 1);
  a.outputs = c.size(result, 2);
  a.kernel = c.size(weights, 1);
  a.out_h = c.size(result, 0);
  a.out_w = c.size(result, 1);
  a.stride = c.attribute(stride);
  a.pad = c.attribute(pad);
  return a;
}

}  // namespace bitreplay
