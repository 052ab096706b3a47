// Scopes of replicas that take a step together.
#include <weft/detail/synchronized.h>

#include <utility>

#include <weft/composites.h>
#include <weft/custom_gradient.h>
#include <weft/error.h>
#include <weft/host_call.h>
#include <weft/ops.h>

namespace weft::detail {

namespace {

thread_local constinit const ReplicasInStep *replicas_of_thread = nullptr;
thread_local constinit const WeightOfRows *weight_of_thread = nullptr;

} // namespace

ReplicasInStep::ReplicasInStep(std::int64_t replicas, distributed::Group group, std::int64_t own,
                               ReplicaMeeting *meeting)
    : replicas_(replicas), group_(std::move(group)), own_(own), meeting_(meeting),
      outer_(std::exchange(replicas_of_thread, this)) {}
ReplicasInStep::~ReplicasInStep() { replicas_of_thread = outer_; }

const ReplicasInStep *ReplicasInStep::current() {
  return replicas_of_thread != nullptr && replicas_of_thread->replicas_ > 1 ? replicas_of_thread
                                                                            : nullptr;
}

const ReplicasInStep &ReplicasInStep::in_meeting() {
  const ReplicasInStep *const step = current();
  if (step == nullptr || step->meeting_ == nullptr)
    throw StateError("synchronized statistics are asked for outside of the step of replicas that "
                     "the function was traced in");
  return *step;
}

Tensor ReplicasInStep::gathered(const std::string &where, const Tensor &own,
                                std::int64_t replicas) {
  const auto gather = [where, replicas](const Tensor &row) {
    const ReplicasInStep &step = in_meeting();
    std::vector<Tensor> rows(static_cast<std::size_t>(replicas), zeros_like(row));
    rows[static_cast<std::size_t>(step.own_)] = row;
    return step.meeting_->sum(step.own_, where, stack(rows));
  };
  return custom_gradient(
      [&](const Tensor &row) {
        const TensorType type = type_of(row);
        return Pullback{
            host_call(gather, {.results = {spec(type.dtype, {replicas, type.shape[0]})}}, row),
            [where](const Tensor &cotangent) { return scattered(where, cotangent); }};
      },
      {.name = "BatchNorm"})(own);
}

Tensor ReplicasInStep::scattered(const std::string &where, const Tensor &rows) {
  const auto scatter = [where](const Tensor &mine) -> Tensor {
    const ReplicasInStep &step = in_meeting();
    return step.meeting_->sum(step.own_, "the gradient of " + where, mine)[step.own_];
  };
  return custom_gradient(
      [&](const Tensor &mine) {
        const TensorType type = type_of(mine);
        const std::int64_t replicas = type.shape[0];
        return Pullback{host_call(scatter, {.results = {spec(type.dtype, {type.shape[1]})}}, mine),
                        [where, replicas](const Tensor &cotangent) {
                          return gathered(where, cotangent, replicas);
                        }};
      },
      {.name = "BatchNorm"})(rows);
}

Tensor ReplicasInStep::rows_of_all(const std::string &prefix, const Tensor &own) const {
  const int ranks = group_.size();
  if (replicas_ == ranks) return distributed::all_gather(own[{newaxis, all}], 0, group_);
  if (meeting_ != nullptr) return gathered(prefix.substr(0, prefix.find(": ")), own, replicas_);
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
