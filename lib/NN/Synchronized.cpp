// Scopes of replicas that take a step together.
#include <weft/detail/synchronized.h>

#include <utility>

#include <weft/error.h>

namespace weft::detail {

namespace {

thread_local constinit const ReplicasInStep *replicas_of_thread = nullptr;
thread_local constinit const WeightOfRows *weight_of_thread = nullptr;

} // namespace

ReplicasInStep::ReplicasInStep(std::int64_t replicas, distributed::Group group)
    : replicas_(replicas), group_(std::move(group)),
      outer_(std::exchange(replicas_of_thread, this)) {}
ReplicasInStep::~ReplicasInStep() { replicas_of_thread = outer_; }

const ReplicasInStep *ReplicasInStep::current() {
  return replicas_of_thread != nullptr && replicas_of_thread->replicas_ > 1 ? replicas_of_thread
                                                                            : nullptr;
}

void ReplicasInStep::check_one_on_each_rank(const std::string &prefix) const {
  const int ranks = group_.size();
  if (replicas_ == ranks) return;
  throw ValueError(prefix + "synchronized statistics are those of all replicas, and " +
                   std::to_string(replicas_) + " replicas on " + std::to_string(ranks) +
                   (ranks == 1 ? " rank" : " ranks") +
                   " are computed one after the other: start a rank for each, or leave "
                   "synchronized out");
}

WeightOfRows::WeightOfRows(Tensor weight)
    : weight_(std::move(weight)), outer_(std::exchange(weight_of_thread, this)) {}
WeightOfRows::~WeightOfRows() { weight_of_thread = outer_; }

Tensor WeightOfRows::current() {
  return weight_of_thread == nullptr ? Tensor() : weight_of_thread->weight_;
}

} // namespace weft::detail
