// The replicas that take a step together, as layers know them that synchronize with the others.
#pragma once

#include <cstdint>
#include <string>

#include <weft/distributed.h>

namespace weft::detail {

/// While it lives, this thread runs one of several replicas that take a step together, which the
/// ranks of a group share. One alone is none of several.
class ReplicasInStep {
public:
  ReplicasInStep(std::int64_t replicas, distributed::Group group);
  ~ReplicasInStep();
  ReplicasInStep(const ReplicasInStep &) = delete;
  ReplicasInStep &operator=(const ReplicasInStep &) = delete;

  /// Those that this thread runs one of; null for none.
  static const ReplicasInStep *current();
  const distributed::Group &group() const { return group_; }
  /// Throws ValueError, beginning with `prefix`, unless each rank runs one replica: of several, the
  /// first would wait for those behind it.
  void check_one_on_each_rank(const std::string &prefix) const;

private:
  std::int64_t replicas_;
  distributed::Group group_;
  const ReplicasInStep *outer_;
};

/// While it lives, the rows that this thread computes have that weight in the step, a scalar: of
/// weight 0 they are there in the place of none.
class WeightOfRows {
public:
  explicit WeightOfRows(Tensor weight);
  ~WeightOfRows();
  WeightOfRows(const WeightOfRows &) = delete;
  WeightOfRows &operator=(const WeightOfRows &) = delete;

  /// Undefined where there is none.
  static Tensor current();

private:
  Tensor weight_;
  const WeightOfRows *outer_;
};

} // namespace weft::detail
