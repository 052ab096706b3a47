// Gradients that are handed on one by one, as soon as nothing is added to them any more.
#include <algorithm>

#include "Autodiff/Cotangents.h"
#include "Ops/DeviceOps.h"

namespace weft::autodiff {

std::optional<SlicedGradient> Tape::sliced(const GradientSource &source, Cotangents &cotangents) {
  std::uint64_t own = 0;
  Cotangents::Parts sum;
  for (const std::uint64_t identity : identities(source, own)) {
    Cotangents::Parts part = cotangents.parts(identity);
    if (part.dense.defined())
      sum.dense = sum.dense.defined() ? cotangents.emitter.add(sum.dense, part.dense) : part.dense;
    std::ranges::move(part.slices, std::back_inserter(sum.slices));
  }
  if (!sum.dense.defined() && !sum.slices.empty()) return Cotangents::joined(sum.slices);
  if (Tensor dense = Cotangents::densified(sum); dense.defined()) return dense;
  return std::nullopt;
}

std::vector<Tensor> Tape::gradient_as_ready(const Tensor &target,
                                            std::span<const GradientSource> sources,
                                            const Ready &ready) {
  check_use({&target, 1}, sources);
  DeviceOfOperands device;
  device.follow({&target, 1});
  std::vector<Tensor> gradients(sources.size());
  {
    const Use use(*this);
    Cotangents cotangents;
    const auto finish = [&](std::size_t i) {
      const std::optional<SlicedGradient> gradient = sliced(sources[i], cotangents);
      if (!gradient) return;
      const auto *const slices = std::get_if<IndexedSlices>(&*gradient);
      gradients[i] = slices != nullptr ? slices->dense() : std::get<Tensor>(*gradient);
      ready(i, gradients[i]);
    };
    // Behind its first use on the way back nothing is added to a gradient.
    const std::vector<FirstUse> uses = first_uses(sources);
    auto next = uses.begin();
    const auto behind = [&](std::size_t record) {
      for (; next != uses.end() && next->record == record; ++next) finish(next->source);
    };
    run_all({&target, 1}, sources, {}, options_.persistent, cotangents, behind);
    // Those that no call used may be the target itself.
    for (; next != uses.end(); ++next) finish(next->source);
    for (std::size_t i = 0; i < sources.size(); ++i)
      if (!gradients[i].defined()) warn_of_derivatives({&target, 1}, sources[i]);
  }
  note_derivatives(sources, gradients);
  return gradients;
}

/// Where each source is used first, the last of them first; behind them those that are not used.
std::vector<Tape::FirstUse> Tape::first_uses(std::span<const GradientSource> sources) const {
  constexpr std::size_t kNever = ~std::size_t{0};
  std::unordered_multimap<std::uint64_t, std::size_t> sources_of;
  std::vector<FirstUse> uses;
  for (std::size_t i = 0; i < sources.size(); ++i) {
    std::uint64_t own = 0;
    for (const std::uint64_t identity : identities(sources[i], own))
      sources_of.emplace(identity, i);
    uses.push_back({kNever, i});
  }
  for (std::size_t r = 0; r < records_.size(); ++r)
    for (const Value &value : std::span(values_).subspan(records_[r].first, records_[r].operands)) {
      const auto [begin, end] = sources_of.equal_range(value.identity);
      for (auto each = begin; each != end; ++each)
        uses[each->second].record = std::min(uses[each->second].record, r);
    }
  std::ranges::sort(uses, [](const FirstUse &a, const FirstUse &b) {
    return std::pair(a.record + 1, a.source) > std::pair(b.record + 1, b.source); // kNever as 0
  });
  return uses;
}

} // namespace weft::autodiff
