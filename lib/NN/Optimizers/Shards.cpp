// Cuts the state of optimizers, and joins what ranks have.
#include "NN/Optimizers/Shards.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "Distributed/Buckets.h"
#include "Distributed/Execute.h"
#include "Distributed/Tree.h"
#include "Distributed/World.h"
#include "NN/Optimizers/State.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include <weft/ops.h>

namespace weft::optimizers {

namespace detail {

Cut::Cut(std::vector<Sized> variables, int ranks, bool each_alone)
    : variables_(std::move(variables)), order_(variables_.size()), places_(variables_.size()),
      ranks_(ranks), each_alone_(each_alone) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::ranges::sort(order_, [&](std::size_t a, std::size_t b) {
    const std::size_t of_a = variables_[a].item_size, of_b = variables_[b].item_size;
    return of_a != of_b ? of_a > of_b : a < b;
  });
  // What is left behind the last full run goes with that.
  std::int64_t left = 0;
  for (const Sized &variable : variables_) left += bytes_of(variable);
  runs_.push_back(0);
  for (const std::size_t i : order_) {
    if (runs_.back() >= kRunBytes && left >= kRunBytes) runs_.push_back(0);
    places_[i] = {runs_.size() - 1, runs_.back()};
    runs_.back() += bytes_of(variables_[i]);
    left -= bytes_of(variables_[i]);
  }
}

Piece Cut::piece(std::size_t variable, int rank) const {
  const Sized &of = variables_[variable];
  if (each_alone_) {
    const std::int64_t size = (of.elements + ranks_ - 1) / ranks_,
                       begin = std::min(rank * size, of.elements);
    return {begin, std::min(begin + size, of.elements)};
  }
  const auto item = static_cast<std::int64_t>(of.item_size);
  const auto element = [&](std::int64_t byte) {
    const std::int64_t within = byte - places_[variable].begin;
    return within <= 0 ? 0 : std::min((within + item - 1) / item, of.elements);
  };
  const auto [begin, end] = distributed::share_of(runs_[places_[variable].run], rank, ranks_);
  return {element(begin), element(end)};
}

std::vector<Tensor> gather_parts(const char *function, const Shards &shards,
                                 const std::vector<OwnPart> &own, const char *what,
                                 const std::source_location &where) {
  const Cut &cut = *shards.cut;
  std::vector<Tensor> results;
  std::vector<const OwnPart *> of_variable(cut.order().size());
  for (const OwnPart &one : own) {
    of_variable[one.variable] = &one;
    results.push_back(weft::detail::new_tensor(one.dtype, one.shape));
  }
  // One behind the other as they are cut, so that what each rank has is one run of bytes.
  std::vector<const OwnPart *> ordered;
  for (const std::size_t i : cut.order())
    if (of_variable[i] != nullptr) ordered.push_back(of_variable[i]);
  std::vector<std::size_t> ends;
  std::size_t bytes = 0, own_begin = 0;
  for (int rank = 0; rank < shards.ranks; ++rank) {
    if (rank == shards.rank) own_begin = bytes;
    for (const OwnPart *const one : ordered)
      bytes +=
          static_cast<std::size_t>(cut.piece(one->variable, rank).size()) * item_size(one->dtype);
    ends.push_back(bytes);
  }
  const Tensor all = weft::detail::new_tensor(DType::u8, Shape{static_cast<std::int64_t>(bytes)});
  std::byte *at = all.impl()->data + own_begin;
  const auto bytes_of = [](const Tensor &tensor) {
    return static_cast<std::size_t>(tensor.size()) * item_size(tensor.dtype());
  };
  const auto copy = [](std::byte *to, const std::byte *from, std::size_t size) {
    if (size != 0) std::memcpy(to, from, size);
  };
  for (const OwnPart *const one : ordered) {
    copy(at, one->part.impl()->data, bytes_of(one->part));
    at += bytes_of(one->part);
  }
  distributed::gather_run({function, where}, shards.group, what, ends, all);
  at = all.impl()->data;
  for (int rank = 0; rank < shards.ranks; ++rank)
    for (const OwnPart *const one : ordered) {
      const Piece piece = cut.piece(one->variable, rank);
      const std::size_t item = item_size(one->dtype);
      const Tensor &result = results[static_cast<std::size_t>(one - own.data())];
      const std::size_t size = static_cast<std::size_t>(piece.size()) * item;
      copy(result.impl()->data + static_cast<std::size_t>(piece.begin) * item, at, size);
      at += size;
    }
  return results;
}

void check_may_shard(const OptimizerState &state, bool parts_of_gradients) {
  static constexpr const char *can[] = {
#define WEFT_RULE(Class, Formula) #Class,
#include "NN/Optimizers/Rules.def"
  };
  const std::string kind = state.kind;
  if (!state.rule->is_elementwise()) {
    std::string names;
    for (const char *const name : can) names += (names.empty() ? "" : ", ") + std::string(name);
    throw ValueError(kind +
                     ": shard_state: an update takes norms of whole variables, of which a "
                     "rank would have a part; the state of " +
                     names + " can be cut");
  }
  if (!state.common.clip_norm && !state.common.clip_global_norm) return;
  const char *const clip = state.common.clip_norm ? "clip_norm" : "clip_global_norm";
  if (state.common.accumulate > 1)
    throw ValueError(kind + ": shard_state: with accumulate, " + clip +
                     " takes norms of what is accumulated, of which a rank would have a part: "
                     "clip_value can be used, or accumulate = 1");
  if (parts_of_gradients)
    throw ValueError(
        kind + ": shard_state: " + clip +
        " takes norms of whole gradients, of which a rank would have a part: "
        "clip_value can be used, or shard_state = optimizer, where gradients are whole");
}

void shard(OptimizerState &state, const distributed::Group &group, bool weights,
           const std::source_location &where) {
  const distributed::Group over(group.state() == nullptr ? distributed::world_group()
                                                         : group.state());
  const int ranks = over.size(where);
  if (ranks > 1)
    state.shard(
        {.group = over, .rank = over.rank(where), .ranks = ranks, .weights = weights, .cut = {}});
}

void cut_weight(const Variable &weight, const Piece &own, const Shards &over) {
  const Interpreter::Scope eager(nullptr);
  VariableState &whole = *weight.state();
  const TensorType type = whole.type();
  const Tensor all = whole.load();
  const std::int64_t elements = all.size(), size = (elements + over.ranks - 1) / over.ranks;
  Tensor value = part_of(all, own);
  if (own.size() < size) {
    const Tensor parts[] = {value, zeros({size - own.size()}, type.dtype)};
    value = concatenate(parts, {.axis = 0});
  }
  auto part = std::make_shared<VariableState>(value, whole.name(), whole.trainable());
  part->is_piece({.whole = type.shape, .begin = own.begin, .ranks = over.ranks});
  whole.cut({.part = part,
             .group = distributed::number_of(over.group.state()),
             .ranks = over.ranks,
             .gather = [part, shape = type.shape, elements, group = over.group] {
               const Interpreter::Scope eager(nullptr);
               const Tensor all = distributed::all_gather(part->load(), 0, group, true);
               return reshape(all.size() == elements ? all : all[{slice(0, elements)}], shape);
             }});
}

PartsOfGradients::PartsOfGradients(OptimizerState &state) : state_(state) {
  state.gets_parts = true;
}
PartsOfGradients::~PartsOfGradients() { state_.gets_parts = false; }

Tensor part_of(const Tensor &whole, const Piece &piece) {
  const Interpreter::Scope eager(nullptr);
  return weft::detail::copy_of(reshape(whole, {-1})[{slice(piece.begin, piece.end)}]);
}

void assign_parts(const OptimizerState &state, const Entries &entries,
                  const std::vector<Tensor> &parts, const char *what,
                  const std::source_location &where) {
  std::vector<OwnPart> own;
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (const Variable &weight = entries[i]->weight.variable;
        parts[i].defined() && entries[i]->own_cut() == nullptr)
      own.push_back({i, weight.dtype(), weight.shape(), weft::detail::on_host(parts[i])});
  std::vector<Tensor> values;
  if (!own.empty()) values = gather_parts(state.kind, *state.shards(), own, what, where);
  for (std::size_t i = 0; i < own.size(); ++i)
    entries[own[i].variable]->weight.variable.assign(values[i]);
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (parts[i].defined() && entries[i]->own_cut() != nullptr)
      keep_own_part(*entries[i], parts[i]);
}

Tensor own_part_of(const Entry &entry) {
  if (const auto cut = entry.own_cut()) return part_of(cut->part->load(), {0, entry.piece->size()});
  const Interpreter::Scope eager(nullptr);
  return part_of(entry.weight.variable.value(), *entry.piece);
}

void keep_own_part(const Entry &entry, const Tensor &part) {
  const auto cut = entry.own_cut();
  const Interpreter::Scope eager(nullptr);
  const std::int64_t missing = cut->part->type().shape[0] - part.size();
  if (missing == 0) return cut->part->store(part);
  const Tensor parts[] = {part, zeros({missing}, part.dtype())};
  cut->part->store(concatenate(parts, {.axis = 0}));
}

void swap_parts(const OptimizerState &state, const Entries &entries,
                const std::source_location &where) {
  std::vector<Tensor> averages, weights;
  for (const auto &entry : entries) {
    averages.push_back(entry->average->value());
    weights.push_back(own_part_of(*entry));
  }
  assign_parts(state, entries, averages, "averages of the weights", where);
  for (std::size_t i = 0; i < entries.size(); ++i) entries[i]->average->assign(weights[i]);
}

} // namespace detail

void Optimizer::shard_state(const distributed::Group &group, const ShardOptions &options,
                            std::source_location where) const {
  const CompositeCall site(state_->kind, where);
  std::vector<std::string> lines = {std::string("an optimizer ") + state_->kind,
                                    options.weights ? "with the weights" : "without the weights"};
  for (const auto &[option, text] : state_->options) lines.push_back(option + " = " + text);
  for (const nn::NamedVariable &entry : state_->listed())
    lines.push_back("'" + entry.variable.name() + "' of " +
                    (entry.variable.initialized()
                         ? to_string(entry.variable.state()->type())
                         : std::string(name_of(entry.variable.dtype())) + " without a value"));
  distributed::compare_lines({"shard_state", where}, group, lines);
  detail::check_may_shard(*state_);
  if (options.weights || state_->keeps_any()) detail::shard(*state_, group, options.weights, where);
}

bool Optimizer::is_sharded() const { return state_->shards() != nullptr; }

void Optimizer::gather_state(std::source_location where) const {
  const CompositeCall site(state_->kind, where);
  if (const Interpreter *const around = Interpreter::current();
      around != nullptr && around->traces())
    throw StateError(std::string(state_->kind) +
                     ": gather_state: a traced function cannot call it: call it outside");
  const std::shared_ptr<const detail::Shards> shards = state_->shards();
  const detail::Entries entries = state_->all();
  // Weights too that an optimizer has cut which is gone.
  for (const auto &entry : entries)
    if (VariableState &weight = *entry->weight.variable.state(); const auto cut = weight.cut())
      if (entry->own_cut() == nullptr) weight.join(cut->gather());
  if (shards == nullptr) return;
  if (!shards->cut) return state_->unshard({});
  std::vector<std::vector<Tensor>> values(entries.size());
  for (std::size_t kept = shards->weights ? 0 : 1; kept < entries.front()->all().size(); ++kept) {
    std::vector<detail::OwnPart> own;
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const detail::Entry &entry = *entries[i];
      if (kept == 0 && entry.own_cut() == nullptr) continue;
      const TensorType &type = entry.weight.variable.state()->type();
      own.push_back({i, type.dtype, type.shape,
                     weft::detail::on_host(kept == 0 ? detail::own_part_of(entry)
                                                     : entry.all()[kept].state()->load())});
    }
    const std::vector<Tensor> whole =
        detail::gather_parts(state_->kind, *shards, own, "the optimizer's state", where);
    for (std::size_t i = 0; i < own.size(); ++i) values[own[i].variable].push_back(whole[i]);
  }
  state_->unshard(values);
}

} // namespace weft::optimizers
