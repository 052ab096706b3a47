// The traces of one function: look-up by signature, sizes left open, the oldest dropped.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>

#include "Function/CompiledCall.h"
#include "Function/Signature.h"
#include "Function/TapedProgram.h"
#include "Runtime/Variable.h"
#include "Support/Fork.h"
#include <weft/detail/function_core.h>

namespace weft::detail {

/// One trace. All but the code is set before others see it, and `rigid`, which only those who trace
/// look at.
class FunctionCore::Trace {
public:
  /// Whether it serves a call with these arguments.
  bool serves(const ArgumentReader &arguments) const {
    const SignatureKey &other = arguments.key;
    if (key.size() != other.size()) return false;
    const std::uint64_t *own = key.data(), *words = other.data();
    std::size_t from = 0;
    for (const std::uint32_t at : open) {
      if (std::memcmp(own + from, words + from, (at - from) * sizeof *own) != 0) return false;
      // An axis of one element may be repeated by broadcasting, which other sizes never are.
      if (words[at] == 1 && !ones_too) return false;
      from = at + 1;
    }
    for (const auto &[first, second] : equal)
      if (words[first] != words[second] || (words[first] == kUnknownSize && !names.empty()))
        return false;
    return std::memcmp(own + from, words + from, (key.size() - from) * sizeof *own) == 0 &&
           (arguments.variables.empty() || binds(arguments)) &&
           (cuts.load(std::memory_order_relaxed) == VariableState::cuts() || is_cut_as_then());
  }
  /// Which variable was cut over ranks, or joined, since it was traced, in words; "" if none was.
  std::string other_cut() const;
  /// Takes note of which variables are kept in parts, which the code depends on.
  void note_cuts();
  /// Whether it is for calls with tensors of these shapes, as far as its sizes are left open.
  bool is_for(const std::vector<Shape> &shapes) const {
    const ProgramHints *hints = program->hints.get();
    if (open.empty() && hints == nullptr) return true;
    for (std::size_t i = 0; i < shapes.size(); ++i)
      if (hints == nullptr || !(hints->shapes[program->inputs[i]] == shapes[i])) return false;
    return true;
  }
  /// Whether the variables of a call are the same as variables that the program captures where they
  /// were while it was traced, and nowhere else.
  bool binds(const ArgumentReader &arguments) const;
  /// Why not, as explanations put it.
  std::string other_binding(const ArgumentReader &arguments) const;

  SignatureKey key;                ///< with kUnknownSize for sizes left open
  std::vector<std::uint32_t> open; ///< where those are
  bool ones_too = false;           ///< sizes left open may be one
  bool rigid = false;              ///< no size must be left open
  std::vector<Shape> names;        ///< of sizes left open, as Program::names
  /// Where sizes stand that must be equal.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> equal;
  bool single_use = false; ///< good for one call of one trace around it
  std::shared_ptr<const Program> program;
  std::vector<VariablePointer> stand_ins; ///< the program's parameters
  std::vector<VariableRef> captured;      ///< for each parameter the variable it must be, or null
  std::shared_ptr<void> prototype;
  /// VariableState::cuts() when the parts of the program's variables, null for whole ones, were
  /// last seen to be these.
  mutable std::atomic<std::uint64_t> cuts = 0;
  std::vector<std::shared_ptr<const VariableCut>> parts;
  double trace_ms = 0;
  std::uint64_t used = 0; ///< when, by the cache's clock

  std::mutex compiling;
  std::atomic<bool> compiled = false;
  CompileReport report;
  std::optional<CompiledCall> call;

  /// The program for tapes, created at the first call under one.
  std::shared_ptr<TapedProgram> taped(Device device) {
    std::call_once(taped_once_, [&] { taped_ = std::make_shared<TapedProgram>(program, device); });
    return taped_;
  }

private:
  bool is_cut_as_then() const;

  std::once_flag taped_once_;
  std::shared_ptr<TapedProgram> taped_;
};

class TraceCache {
public:
  using TracePtr = std::shared_ptr<FunctionCore::Trace>;

  explicit TraceCache(std::size_t capacity) : capacity_(capacity) {}

  /// The trace that serves a call and leaves the fewest sizes open, or null. Only without an open
  /// size that the call knows if `exactly`, and traced for tensors of these shapes if there are
  /// some. Derivatives of order `orders` may be taken of it.
  TracePtr find(const ArgumentReader &arguments, bool exactly, const std::vector<Shape> *shapes,
                std::uint32_t orders);
  /// The trace that differs least, the one used last among equals; null if there is none.
  TracePtr nearest(const ArgumentReader &arguments) const;
  /// The nearest trace that differs in sizes only; null if there is none.
  TracePtr nearest_in_size(const ArgumentReader &arguments) const;
  /// Adds a trace and drops those that are too many. Returns how many were.
  std::size_t insert(TracePtr trace);
  void erase(const TracePtr &trace);
  std::size_t size() const;

  /// The compiled trace of the last call, tried first and without the cache's lock.
  TracePtr last() const { return last_.load(); }
  void set_last(const TracePtr &trace);

private:
  const std::size_t capacity_;
  mutable forks::Mutex<std::mutex> mutex_;
  std::uint64_t clock_ = 0;
  std::vector<TracePtr> traces_;
  forks::SharedPointer<FunctionCore::Trace> last_;
};

} // namespace weft::detail
