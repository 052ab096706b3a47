// The replicas that take a step together, as layers know them that synchronize with the others.
#pragma once

#include <cstdint>
#include <string>

#include <weft/distributed.h>

namespace weft::detail {

/// Where the replicas of a rank, which one thread each computes, meet in the middle of a step.
class ReplicaMeeting {
public:
  virtual ~ReplicaMeeting() = default;
  /// The sum over all replicas of what each gives, of one shape; called once by each, in the layer
  /// `where`. It returns when all have come. Throws StateError on all if some come to another layer
  /// or to their end instead.
  virtual Tensor sum(std::int64_t replica, const std::string &where, const Tensor &own) = 0;
};

/// While it lives, this thread runs one of several replicas that take a step together, which the
/// ranks of a group share. One alone is none of several.
class ReplicasInStep {
public:
  /// Without a meeting those of one rank do not wait for each other.
  ReplicasInStep(std::int64_t replicas, distributed::Group group, std::int64_t own = 0,
                 ReplicaMeeting *meeting = nullptr);
  ~ReplicasInStep();
  ReplicasInStep(const ReplicasInStep &) = delete;
  ReplicasInStep &operator=(const ReplicasInStep &) = delete;

  /// Those that this thread runs one of; null for none.
  static const ReplicasInStep *current();
  const distributed::Group &group() const { return group_; }
  /// What all replicas give, of one dimension, as rows in their order. Differentiable, at once and
  /// in traces. Throws ValueError, beginning with `prefix`, the layer's "1 (BatchNorm): ", if a
  /// rank has several replicas that do not meet: the first would wait for those behind it.
  Tensor rows_of_all(const std::string &prefix, const Tensor &own) const;

private:
  static const ReplicasInStep &in_meeting();
  static Tensor gathered(const std::string &where, const Tensor &own, std::int64_t replicas);
  static Tensor scattered(const std::string &where, const Tensor &rows);

  std::int64_t replicas_;
  distributed::Group group_;
  std::int64_t own_;
  ReplicaMeeting *meeting_;
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
