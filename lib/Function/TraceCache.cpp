// Look-up, nearest trace and eviction.
#include "Function/TraceCache.h"

#include <algorithm>

#include "Runtime/Variable.h"

namespace weft::detail {

bool FunctionCore::Trace::binds(const ArgumentReader &arguments) const {
  return other_binding(arguments).empty();
}

std::string FunctionCore::Trace::other_binding(const ArgumentReader &arguments) const {
  const auto name = [](const VariableRef &variable) {
    return "the variable '" + variable->name() + "'";
  };
  for (std::size_t i = 0; i < arguments.variables.size(); ++i) {
    const VariableRef &variable = *arguments.variables[i];
    if (captured[i]) {
      if (captured[i] != variable)
        return "variable " + std::to_string(i) + " of the call was " + name(captured[i]) +
               ", which the function also captures";
    } else if (program->variable_index(variable) != program->variables.size()) {
      return "variable " + std::to_string(i) + " of the call is now " + name(variable) +
             ", which the function also captures";
    }
  }
  return {};
}

void FunctionCore::Trace::note_cuts() {
  cuts = VariableState::cuts();
  for (const VariableRef &variable : program->variables) parts.push_back(variable->cut());
}

std::string FunctionCore::Trace::other_cut() const {
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (const VariableRef &variable = program->variables[i]; variable->cut() != parts[i])
      return "the variable '" + variable->name() +
             (variable->cut() == nullptr ? "' is whole again" : "' was cut over ranks");
  return {};
}

bool FunctionCore::Trace::is_cut_as_then() const {
  const std::uint64_t now = VariableState::cuts();
  for (std::size_t i = 0; i < parts.size(); ++i)
    if (program->variables[i]->cut() != parts[i]) return false;
  cuts.store(now, std::memory_order_relaxed);
  return true;
}

TraceCache::TracePtr TraceCache::find(const ArgumentReader &arguments, bool exactly,
                                      const std::vector<Shape> *shapes, std::uint32_t orders) {
  const std::lock_guard lock(mutex_);
  TracePtr best;
  for (const TracePtr &trace : traces_) {
    if (!trace->serves(arguments) || trace->program->orders < orders) continue;
    if (exactly && !(trace->key == arguments.key)) continue;
    if (shapes != nullptr && !trace->is_for(*shapes)) continue;
    if (!best || trace->open.size() < best->open.size()) best = trace;
  }
  if (best) best->used = ++clock_;
  return best;
}

TraceCache::TracePtr TraceCache::nearest(const ArgumentReader &arguments) const {
  const std::lock_guard lock(mutex_);
  TracePtr best;
  std::size_t least = 0;
  for (const TracePtr &trace : traces_) {
    const std::size_t count = differences(trace->key, arguments.key).size();
    if (best && (count > least || (count == least && trace->used < best->used))) continue;
    best = trace;
    least = count;
  }
  return best;
}

TraceCache::TracePtr TraceCache::nearest_in_size(const ArgumentReader &arguments) const {
  const std::lock_guard lock(mutex_);
  TracePtr best;
  std::size_t least = 0;
  for (const TracePtr &trace : traces_) {
    const auto sizes = differing_sizes(trace->key, arguments.key);
    // Among equals the later one, which may leave more open.
    if (!sizes || (best && sizes->size() > least)) continue;
    best = trace;
    least = sizes->size();
  }
  return best;
}

std::size_t TraceCache::insert(TracePtr trace) {
  std::vector<TracePtr> dropped; // freed without the lock
  const std::lock_guard lock(mutex_);
  trace->used = ++clock_;
  traces_.push_back(std::move(trace));
  while (traces_.size() > capacity_) {
    // The last call's is used all the time, without telling.
    if (const TracePtr last = last_.load()) last->used = std::max(last->used, clock_ - 1);
    const auto oldest =
        std::min_element(traces_.begin(), traces_.end(),
                         [](const TracePtr &a, const TracePtr &b) { return a->used < b->used; });
    dropped.push_back(*oldest);
    traces_.erase(oldest);
  }
  return dropped.size();
}

void TraceCache::erase(const TracePtr &trace) {
  const std::lock_guard lock(mutex_);
  std::erase(traces_, trace);
}

std::size_t TraceCache::size() const {
  const std::lock_guard lock(mutex_);
  return traces_.size();
}

void TraceCache::set_last(const TracePtr &trace) {
  const std::lock_guard lock(mutex_);
  if (const TracePtr before = last_.load()) before->used = ++clock_;
  trace->used = ++clock_;
  last_.store(trace);
}

} // namespace weft::detail
