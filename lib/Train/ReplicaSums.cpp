// What replicas come to together: sums of their results over all ranks, and what variables have
// behind a step.
#include <algorithm>
#include <map>

#include "Distributed/Tree.h"
#include "Runtime/OnDevice.h"
#include "Support/Callback.h"
#include "Train/Replicas.h"
#include <weft/detail/binding.h>
#include <weft/ops.h>

namespace weft::train::detail {

using distributed::Reduction;

Tensor scalar_of(double value) { return weft::detail::uncommitted(full({}, value, DType::f64)); }

namespace {

/// What values of a variable are added up as.
DType wide(DType dtype) { return dtype == DType::f64 || is_complex(dtype) ? dtype : DType::f32; }

/// Whether replicas have a mean of it, or its largest value.
bool has_mean(DType dtype) { return is_inexact(dtype) || is_storage(dtype); }

} // namespace

std::size_t Replicas::bucket_bytes() const {
  return static_cast<std::size_t>(settings_.parallel.bucket_mib * (std::int64_t{1} << 20));
}

bool Replicas::handed(std::size_t number) const {
  return number + 1 < handed_over_.size() && handed_over_[number + 1];
}

/// Such a gradient is result `number + 1`, behind the loss.
void Replicas::hand_over(std::size_t number, const Tensor &gradient,
                         const std::vector<Leaf> &others, double weight) {
  std::vector<Tensor> leaves;
  const auto add = [&](const Tensor &value, double of) {
    leaves.push_back(weft::detail::on_host(of > 0 ? value : zeros_like(value)));
  };
  for (const Leaf &leaf : others)
    if (const Tensor &own = leaf.sums[number + 1]; own.defined()) add(own, leaf.weight);
    else add(gradient, 0);
  add(gradient, weight);
  handed_over_.resize(std::max(handed_over_.size(), number + 2));
  handed_over_[number + 1] = true;
  background_->add(number, std::move(leaves));
}

/// Gives a replica whose loss does not depend on a variable, as another's does, a gradient of 0.
/// What no replica of this rank has is named in what the ranks are told.
std::string Replicas::complete(std::vector<Leaf> &leaves) const {
  std::string missing;
  for (std::size_t i = 1; i < leaves.front().sums.size(); ++i) {
    const auto has = [&](const Leaf &leaf) { return leaf.sums[i].defined(); };
    const auto one = std::ranges::find_if(leaves, has);
    if (one == leaves.end()) {
      missing += (missing.empty() ? ", without a gradient of '" : ", '") +
                 parts_.replicas.variables()[i - 1].variable.name() + "'";
      continue;
    }
    for (Leaf &leaf : leaves)
      if (!has(leaf)) leaf.sums[i] = zeros_like(one->sums[i]);
  }
  return missing;
}

Tensor Replicas::sum_of(const std::vector<Tensor> &own, const std::string &where) {
  std::vector<Rows> leaves;
  for (const Tensor &tensor : own) leaves.push_back({tensor});
  Tensor total;
  const weft::Callback in_none(nullptr); // each replica of each rank comes here
  together([&] {
    const distributed::Lists lists[] = {{Reduction::sum, leaves}};
    total = reduce_in_buckets(caller_, group_, count_, lists, "statistics of " + where,
                              bucket_bytes())[0][0];
  });
  return total;
}

Replicas::Rows Replicas::reduce(std::vector<Leaf> leaves, const std::string &step) {
  const std::size_t results = leaves.front().sums.size();
  const std::string what = step + complete(leaves);
  const DeviceScope host{Device()}; // scalars go from there to what they are used with
  if (background_ != nullptr) background_->close();
  // Of a replica that was computed twice the first results are of no use: those of draws that all
  // replicas have in common. All ranks find that in the same step.
  if (repeats_) handed_over_.clear();
  handed_over_.resize(results);
  // One that is merged has a row for each replica, of which the others are 0.
  const auto in_row = [&](const Tensor &value, std::int64_t row) {
    const Tensor own = value[{newaxis, ellipsis}];
    std::vector<Tensor> rows(static_cast<std::size_t>(count_), zeros_like(own));
    rows[static_cast<std::size_t>(row)] = own;
    return concatenate(rows, {.axis = 0});
  };
  const auto [first, last] = distributed::share_of(count_, rank_, ranks_);
  find_parts();
  std::vector<Rows> sums, gradients, largest;
  std::vector<std::size_t> numbers; // of those that ranks get parts of
  std::vector<bool> is_there(results, true);
  for (Leaf &leaf : leaves) {
    const bool counts = leaf.weight > 0;
    const auto add = [&](const Tensor &value, std::vector<Rows> &to) {
      to.back().push_back(counts ? value : zeros_like(value));
    };
    sums.emplace_back();
    gradients.emplace_back();
    largest.emplace_back();
    numbers.clear();
    for (std::size_t i = 0; i < results; ++i) {
      is_there[i] = leaf.sums[i].defined() && !handed_over_[i];
      if (!is_there[i]) continue;
      const bool in_parts = i > 0 && part_of_;
      add(leaf.sums[i], in_parts ? gradients : sums);
      if (in_parts) numbers.push_back(i - 1);
    }
    const std::int64_t replica = first + (&leaf - leaves.data());
    for (std::size_t i = 0; i < metrics_.size(); ++i)
      if (const Tensor &value = leaf.metrics[i]; value.defined())
        add(metrics_[i].variable->merge() == nullptr ? value : in_row(value, replica), sums);
    for (std::size_t i = 0; i < others_.size(); ++i) {
      // One that this replica did not write is as it was.
      const Tensor value = i < leaf.others.size() ? leaf.others[i] : others_[i].before;
      if (has_mean(value.dtype()))
        add(cast(value, wide(value.dtype())) * cast(scalar_of(leaf.weight), wide(value.dtype())),
            sums);
      else largest.back().push_back(cast(counts ? value : others_[i].before, DType::i64));
    }
    for (std::size_t i = 0; i < generators_.size(); ++i) {
      const Tensor far = i < leaf.draws.size() ? leaf.draws[i] : zeros({2}, DType::i64);
      largest.back().push_back(counts ? far : zeros_like(far));
    }
  }
  Rows sum, parts, most;
  together([&] {
    const auto part_of = [&](std::size_t i, int rank) { return part_of_(numbers[i], rank); };
    const distributed::Lists lists[] = {
        {Reduction::sum, sums}, {Reduction::sum, gradients, part_of}, {Reduction::max, largest}};
    auto all = reduce_in_buckets(caller_, group_, count_, lists, what, bucket_bytes());
    sum = std::move(all[0]);
    parts = std::move(all[1]);
    most = std::move(all[2]);
  });
  std::map<std::size_t, Tensor> sums_behind;
  if (background_ != nullptr) {
    background_->wait();
    together([&] { sums_behind = background_->take(); });
  }
  std::size_t next = 0, next_part = 0, next_most = 0;
  Rows all(results);
  for (std::size_t i = 0; i < results; ++i)
    if (is_there[i]) all[i] = i > 0 && part_of_ ? parts[next_part++] : sum[next++];
    else if (handed_over_[i])
      all[i] = weft::detail::moved(sums_behind.at(i - 1), leaves.front().sums[i].impl()->device);
  for (std::size_t i = 0; i < metrics_.size(); ++i)
    if (leaves.front().metrics[i].defined()) {
      const Tensor &counted = sum[next++];
      const VariableState::Merge merge = metrics_[i].variable->merge();
      Tensor all_so_far = metrics_[i].before;
      const auto take = [&](const Tensor &value) {
        if (!all_so_far.defined()) {
          all_so_far = value;
          return;
        }
        const Tensor beside = weft::detail::moved(value, all_so_far.device());
        all_so_far = merge == nullptr ? all_so_far + beside : merge(all_so_far, beside);
      };
      if (merge == nullptr) take(counted);
      else
        for (std::int64_t replica = 0; replica < count_; ++replica) take(counted[replica]);
      metrics_[i].variable->store(all_so_far);
    }
  for (const Written &other : others_) {
    const DType dtype = other.before.dtype();
    other.variable->store(cast(has_mean(dtype) ? sum[next++] : most[next_most++], dtype));
  }
  for (const Written &generator : generators_)
    generator.variable->store(generator.before +
                              weft::detail::moved(most[next_most++], generator.before.device()));
  return all;
}

} // namespace weft::train::detail
