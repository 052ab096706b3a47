// Forward mode: the interpreter that computes tangents beside values.
#pragma once

#include <unordered_map>

#include "Autodiff/Layer.h"

namespace weft::autodiff {

/// Executes calls under its predecessor and pushes the tangents of their operands through them.
/// Its own work is seen by the interpreters before it, so it nests with tapes, traces and itself.
class Pushforward : public Layer {
public:
  Tensor apply(const OpCall &call) override;
  std::vector<Tensor> construct(const ConstructCall &call) override;
  std::vector<Tensor> attach_pullback(const PullbackCall &call) override;
  Recording record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                   std::uint32_t orders) override;
  std::vector<Tensor> pull(const Recording &recording, std::span<const Tensor> cotangents) override;
  Recording record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                        const IsWatched &watched) override;
  bool watches(const Tensor &tensor) const override {
    return recording_tangents() && moves(tensor);
  }
  bool watches(const VariableRef &variable) const override {
    return recording_tangents() && reads_.contains(variable);
  }
  void pause() override { ++paused_; }
  void resume() override { --paused_; }
  bool paused() const { return paused_ != 0; }

  /// Gives a tensor, or all reads of a variable, a tangent.
  void seed(const Tensor &primal, const Tensor &tangent);
  void seed(const VariableRef &variable, const Tensor &tangent) { reads_[variable] = tangent; }
  /// The tangent of a value; zeros if none reaches it, undefined if it is not floating. Throws
  /// StateError if what the value came from has no derivative.
  Tensor tangent_of(const Tensor &value);

private:
  struct Entry {
    Tensor primal, tangent;
    RefusalRef refusal = nullptr; ///< why there is no tangent
  };

  bool recording_tangents() const { return paused_ == 0; }
  /// What is known of a value, or null.
  const Entry *entry_of(const Tensor &value) const;
  /// The tangent of a value, undefined if there is none.
  Tensor known(const Tensor &value) const;
  /// Why the value has no tangent where it should have one; null if it has, or need not.
  RefusalRef refusal_of(const Tensor &value) const;
  /// Whether it depends on what has a tangent.
  bool moves(const Tensor &value) const { return entry_of(value) != nullptr; }
  /// Whoever asks for the tangent of a floating value gets this.
  void refuse(const Tensor &value, const RefusalRef &refusal);
  void drop_unused();

  // Recorded programs in a trace.
  void push(const Recording &recording);

  // Control flow in a trace.
  struct Doubled;
  std::vector<Tensor> construct_push(const ConstructCall &call);
  std::vector<Tensor> construct_choice(const ConstructCall &call);
  std::vector<Tensor> construct_loop(const ConstructCall &call);
  /// Of each value of a construct's state, or of each result.
  struct Activity {
    std::vector<bool> active;        ///< it has a tangent
    std::vector<RefusalRef> refused; ///< why not, where it should have one
    bool operator==(const Activity &) const = default;

    void resize(std::size_t count) {
      active.resize(count);
      refused.resize(count);
    }
    std::size_t size() const { return active.size(); }
    /// Takes in what is known of a value.
    void add(std::size_t i, const Pushforward &self, const Tensor &value) {
      if (!refused[i]) refused[i] = self.refusal_of(value);
      active[i] = !refused[i] && (active[i] || self.known(value).defined());
    }
  };
  std::vector<Tensor> with_tangents(std::vector<Tensor> results, const Activity &activity);

  int paused_ = 0;
  std::unordered_map<std::uint64_t, Entry> entries_; ///< by the identity of the primal
  std::size_t limit_ = 64;                           ///< of entries, before unused ones are dropped
  std::unordered_map<VariableRef, Tensor> reads_;
};

} // namespace weft::autodiff
