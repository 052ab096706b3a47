// A run as checkpoints have it, and data sets whose states are read.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <weft/checkpoint.h>
#include <weft/data.h>
#include <weft/ops.h>
#include <weft/train/history.h>

namespace weft::fuzz {

enum class Phase : std::uint8_t { warming, steady };

/// What a checkpoint keeps, one of each kind.
struct Run {
  Variable weight{zeros({2, 3})}, count{zeros({}, DType::i64)};
  Tensor scale = zeros({4});
  std::int64_t epoch = 0;
  double rate = 0;
  std::string name = "none";
  Phase phase = Phase::warming;
  data::BasicDataset<Tensor> data = data::range(20).shuffle({.seed = 5}).repeat(2);
  train::History history;
  WEFT_FIELDS(Run, weight, count, scale, epoch, rate, name, phase, data, history)

  void advance();
  /// All of it as one text, to compare.
  std::string text() const;
};

/// Data sets by names; "endless.json" has no end.
std::map<std::string, data::BasicDataset<Tensor>> state_datasets();
/// Their states when some elements were handed out.
std::map<std::string, std::string> states_of_datasets();

} // namespace weft::fuzz
