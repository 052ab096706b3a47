// Batches: the interpreter that runs what is written for one tensor on many at once.
#pragma once

#include <functional>
#include <memory>
#include <unordered_map>

#include "Autodiff/Layer.h"
#include <weft/size.h>

namespace weft::autodiff {

/// Executes calls whose operands stand for `count` tensors each, which a trace may not know, as one
/// call on all of them: of an op with a rule the call is the op itself, with the members along a
/// new leading axis; of another the op once per member. Control flow that a trace records is
/// recorded once, with the members in its state; what varies decides it by masks (Masking.h). Its
/// work is seen by the interpreters before it. Of other calls it is no part.
class Batcher : public Layer {
public:
  /// `name` is for messages.
  Batcher(const char *name, Size count)
      : name_(name), count_(std::move(count)), self_(std::make_shared<char>()) {}
  /// One for which the tensors of the other stand for many as well: for what it began and runs
  /// later.
  // NOLINTNEXTLINE(bugprone-copy-constructor-init): it is a layer of its own
  Batcher(const Batcher &other)
      : Layer(), name_(other.name_), count_(other.count_), self_(other.self_) {}
  Batcher &operator=(const Batcher &) = delete;

  /// A tensor that stands for the slices of `members` along its first axis, `count` of them. It has
  /// the type of one slice, and no elements to be read.
  Tensor batch(const Tensor &members) const;
  /// All members of what was computed, along a new first axis.
  Tensor members(const Tensor &tensor) const;
  /// Whether the tensor stands for many here.
  bool varies(const Tensor &tensor) const { return known(tensor) != nullptr; }

  /// Tensors that stand for many, here or in another batch, are numbered as they are created; 0 for
  /// others.
  static std::uint64_t number_of(const Tensor &tensor);
  /// A number above those of all before, and below those of all to come.
  static std::uint64_t next_number();

  Tensor apply(const OpCall &call) override;
  std::vector<Tensor> construct(const ConstructCall &call) override;
  std::vector<Tensor> whole(const detail::Body &body, std::span<const Tensor> inputs) override;
  std::vector<TracedType> types_of(std::string_view name, const detail::Body &body,
                                   std::span<const TracedType> inputs) override;
  std::vector<Tensor> attach_pullback(const PullbackCall &call) override;
  Recording record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                   std::uint32_t orders) override;
  std::vector<Tensor> pull(const Recording &recording, std::span<const Tensor> cotangents) override;
  Recording record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                        const IsWatched &watched) override;

  /// Whether ops are executed once per member, rules or not: for tests.
  bool member_by_member = false;

private:
  struct Ref;
  /// The members, or null if the tensor does not stand for any here.
  const Tensor *known(const Tensor &tensor) const;
  bool any_varies(std::span<const Tensor> tensors) const;
  /// Shows them to `following_`.
  void follow(std::span<const Tensor> tensors);
  /// The tensor as the interpreters before this one know it: all members, or itself.
  Tensor plain(const Tensor &tensor) const { return varies(tensor) ? members(tensor) : tensor; }
  [[noreturn]] void refuse(std::string_view what) const;
  /// The number of members, for what is done once for each. Throws StateError where a trace does
  /// not know it.
  std::int64_t known_count(std::string_view what) const;
  /// A recording on the members.
  struct RecordedOnMembers {
    Recording recording;
    std::vector<bool> asked = {}; ///< which of `wrt` those above ask the derivative of
    std::vector<bool> hidden;     ///< which results those above do not have
  };
  Tensor own(const Tensor &all) const;
  Recording keep_recording(Recording inner, Recording outer,
                           const std::function<Tensor(const Tensor &)> &above,
                           std::vector<bool> hidden);
  std::vector<Tensor> on_members(const RecordedOnMembers &recorded,
                                 std::span<const Tensor> cotangents) const;
  class State;
  std::vector<Tensor> construct_choice(const ConstructCall &call);
  std::vector<Tensor> construct_loop(const ConstructCall &call);
  bool condition_varies(const ConstructCall &call, const std::vector<bool> &varying,
                        std::span<const TracedType> types);
  std::vector<Tensor> construct_masked_loop(const ConstructCall &call);
  std::vector<Tensor> construct_masked_count(const ConstructCall &call);
  Tensor one_by_one(const OpCall &call) const;
  /// What `run` gives for the tensors of each member, again as tensors that stand for all.
  std::vector<Tensor>
  once_per_member(std::span<const Tensor> tensors,
                  const std::function<std::vector<Tensor>(std::span<const Tensor>)> &run) const;
  /// The tensors with member number `i` instead of all members.
  std::vector<Tensor> member(std::span<const Tensor> tensors, std::int64_t i) const;
  /// Tensors along a new first axis.
  static Tensor stacked(std::span<const Tensor> tensors);

  const char *name_;
  Size count_;
  std::shared_ptr<const void> self_; ///< whose tensors they are
  /// While a body is recorded: the members of tensors that someone follows there, by the tensor.
  std::unordered_map<const detail::TensorImpl *, Tensor> followed_;
  const std::function<void(const Tensor &)> *following_ = nullptr;    ///< while these are found
  std::unordered_map<const Program *, RecordedOnMembers> recordings_; ///< by their programs
};

} // namespace weft::autodiff
