// The update of all weights as one pass over their memory, on all threads.
#include <algorithm>
#include <type_traits>

#include "NN/Optimizers/State.h"
#include "Runtime/StridedCopy.h"
#include "Runtime/Variable.h"
#include "Support/Cpu.h"
#include "Support/Threads.h"

namespace weft::optimizers {

namespace {

/// Elements that a thread takes at a time.
constexpr std::int64_t kChunk = std::int64_t{1} << 14;

/// The part of the update that is of one weight.
struct Work {
  std::int64_t first_chunk, size;
  DType dtype;
  std::byte *weight;
  const std::byte *gradient;
  std::vector<std::byte *> slots;
  std::byte *average = nullptr;
  bool decays = false;
  double scale = 1;
};

const UpdateLevel &update_level() {
  static const UpdateLevel &level =
      of_host_level(update_level_v2, update_level_v3, update_level_v4);
  return level;
}

} // namespace

void update_in_one_pass(const detail::OptimizerState &state, const detail::Entries &entries,
                        std::span<const Tensor> gradients, std::span<const Tensor> scales,
                        const Tensor &rate, std::span<const Tensor> scalars, const Tensor &average,
                        std::span<const Tensor> parts) {
  // All that can fail comes first.
  std::vector<Tensor> dense(gradients.size());
  std::vector<VariableState *> states;
  const auto holds = [&](const Variable &variable) {
    states.push_back(&variable.state()->for_call(/*writes=*/true));
  };
  if (parts.empty()) holds(state.step);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!gradients[i].defined()) continue;
    dense[i] = make_contiguous(gradients[i]);
    const std::vector<Variable> all = entries[i]->all();
    std::for_each(all.begin() + (parts.empty() ? 0 : 1), all.end(), holds);
  }
  std::vector<double> factors;
  for (const Tensor &scale : scales) factors.push_back(scale.astype(DType::f64).item<double>());
  std::vector<double> numbers;
  for (const Tensor &scalar : scalars) numbers.push_back(scalar.item<double>());
  const double decay = rate.item<double>() * state.common.weight_decay;
  const double follow = average.defined() ? average.item<double>() : 0;

  const HeldVariables held(std::move(states));
  const auto buffer = [](const Variable &variable) {
    return static_cast<std::byte *>(variable.state()->for_call(/*writes=*/true).update_buffer());
  };
  std::vector<Work> all;
  std::int64_t chunks = 0;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!dense[i].defined()) continue;
    const detail::Entry &entry = *entries[i];
    Work work{.first_chunk = chunks,
              .size = dense[i].size(),
              .dtype = dense[i].dtype(),
              .weight = parts.empty() ? buffer(entry.weight.variable) : parts[i].impl()->data,
              .gradient = dense[i].impl()->data,
              .slots = {}};
    for (const Variable &slot : entry.slots) work.slots.push_back(buffer(slot));
    if (entry.average) work.average = buffer(*entry.average);
    work.decays = entry.decays;
    if (!factors.empty()) work.scale = factors.size() == 1 ? factors[0] : factors[i];
    chunks += (work.size + kChunk - 1) / kChunk;
    all.push_back(std::move(work));
  }
  auto *const step = parts.empty() ? reinterpret_cast<std::int64_t *>(buffer(state.step)) : nullptr;

  const UpdateLevel &level = update_level();
  const auto run = [&]<class T>(const UpdateKernels<T> &kernels, const Work &work,
                                std::int64_t begin, std::int64_t end) {
    const auto at = [&](auto *array) {
      using Array = std::conditional_t<std::is_const_v<std::remove_pointer_t<decltype(array)>>,
                                       const T *, T *>;
      return array == nullptr ? nullptr : reinterpret_cast<Array>(array) + begin;
    };
    const std::optional<double> &clip = state.common.clip_value;
    UpdateBlock<T> block{.count = end - begin,
                         .weight = at(work.weight),
                         .gradient = at(work.gradient),
                         .slots = {},
                         .average = at(work.average),
                         .scales = !factors.empty(),
                         .clips = clip.has_value(),
                         .decays = work.decays,
                         .scale = work.scale,
                         .clip = clip.value_or(0),
                         .decay = decay,
                         .follow = follow,
                         .rule = {}};
    for (std::size_t i = 0; i < work.slots.size(); ++i) block.slots[i] = at(work.slots[i]);
    std::copy(numbers.begin(), numbers.end(), block.rule);
    state.rule->update(kernels, block);
  };
  threads::parallel_for(0, chunks, 1, [&](std::int64_t begin, std::int64_t end) {
    auto work = std::prev(
        std::upper_bound(all.begin(), all.end(), begin, [](std::int64_t chunk, const Work &one) {
          return chunk < one.first_chunk;
        }));
    for (std::int64_t chunk = begin; chunk < end; ++chunk) {
      while (std::next(work) != all.end() && std::next(work)->first_chunk <= chunk) ++work;
      const std::int64_t from = (chunk - work->first_chunk) * kChunk;
      const std::int64_t to = std::min(from + kChunk, work->size);
      if (work->dtype == DType::f32) run(level.f32, *work, from, to);
      else run(level.f64, *work, from, to);
    }
  });
  if (step != nullptr) ++*step;
}

} // namespace weft::optimizers
