// The table of optimizers' updates that one x86-64 level offers; UpdateLevel.cpp fills it once per
// level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only.
#pragma once

#include <cstdint>

#include "NN/Optimizers/Formulas.h"

namespace weft::optimizers {

/// The slots of a weight, and the numbers of a rule, that there are at most.
inline constexpr int kMostSlots = 3, kMostNumbers = 1;

/// Elements of a weight, and what their update takes. What a weight does not have is null, and 0
/// where it is a number.
template <typename T>
struct UpdateBlock {
  int64_t count;
  T *weight;
  const T *gradient;
  T *slots[kMostSlots];
  T *average;
  bool scales, clips, decays;
  double scale, clip, decay, follow, rule[kMostNumbers];
};

/// In one pass over memory, with the bits that ops on whole tensors give. One for each optimizer.
template <typename T>
struct UpdateKernels {
#define WEFT_RULE(Class, Formula)                                                                  \
  void (*Class)(const Formula &formula, const UpdateBlock<T> &block);
#include "NN/Optimizers/Rules.def"
};

struct UpdateLevel {
  UpdateKernels<float> f32;
  UpdateKernels<double> f64;
};

extern const UpdateLevel update_level_v2;
extern const UpdateLevel update_level_v3;
extern const UpdateLevel update_level_v4;

} // namespace weft::optimizers
