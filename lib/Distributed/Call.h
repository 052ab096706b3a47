// One collective of a group: who may call it, what ranks tell each other first, and the messages
// between them, with deadlines.
#pragma once

#include <deque>
#include <exception>
#include <source_location>
#include <string>
#include <utility>
#include <vector>

#include "Distributed/Cost.h"
#include "Distributed/World.h"
#include "Support/CallSite.h"

namespace weft::distributed {

class Call {
public:
  /// `function` lives for ever. Throws StateError unless this thread may call a collective of the
  /// group now, and PeerError if the world is broken.
  /// `meets` is whether all ranks of the group do it, which `meet`.
  Call(const char *function, const Group &group, const std::source_location &where,
       bool meets = true);
  /// The call belongs to the group alone while it lives. What it leaves in the middle breaks the
  /// world; a rank that refuses its arguments before it meets the others says so to them.
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  /// What the others read if this rank refuses.
  void refuses_for(std::string why) {
    refusal_ = std::move(why);
    fails_ = true;
  }

  const char *function() const { return function_; }
  int rank() const { return group_->rank; }
  int size() const { return group_->size(); }
  detail::GroupState &group() { return *group_; }
  /// All other ranks, beginning with the next.
  std::vector<int> others() const;

  /// What of a call all ranks have to have in common.
  struct Common {
    DType dtype = DType::boolean;
    Shape shape = {};
    std::string arguments = {}; ///< "root = 0"
    bool has_tensor = true;
    bool fails = false; ///< `arguments` are the words of an error of this rank
  };
  /// Says one more argument in words, when ranks meet.
  void adds_argument(std::string words) { argument_ = std::move(words); }
  /// Tells all ranks what this call is, with a few bytes more, and throws on all of them what is
  /// not the same. Gives their bytes, which lie where elements may; there are kSmall at most.
  std::vector<std::string_view> meet(const Common &common, std::string_view bytes = {});

  /// Starts messages, in parts where they are long; gives the number of the last one. Messages
  /// between two ranks are started in the same order on both. The memory must stay until they are
  /// done: see `keep`.
  std::size_t send(int to, const void *data, std::size_t bytes);
  std::size_t recv(int from, void *data, std::size_t bytes);
  /// Returns when the messages up to that number are done. Throws PeerError.
  void wait(std::size_t last);
  void wait_all() { wait(messages_.size()); }
  /// Keeps memory of messages where the call does not end well.
  void keep(Tensor tensor) { tensors_.push_back(std::move(tensor)); }
  /// Memory for messages.
  std::byte *room(std::size_t bytes);

  /// A message between two ranks alone, which says itself what it is.
  void send_to(int to, const Common &common, const void *data, std::size_t bytes);
  Tensor recv_from(int from);

private:
  /// Of ranks that run programs with different schedules: throws what differs first.
  void compare_programs();
  std::size_t start(int peer, void *data, std::size_t bytes, bool sends);
  void test(Message &message);
  void look_up(std::size_t at);
  [[noreturn]] void break_off();
  void refuse_to_meet() noexcept;
  std::vector<int> pending() const;
  std::string_view place() const;
  std::string call_text() const;

  const char *function_;
  CompositeCall site_;
  std::string place_; ///< the user's line
  std::shared_ptr<detail::GroupState> group_;
  int tag_ = 0;
  std::string argument_; ///< beside those that `meet` is told
  std::string refusal_ = "arguments that it refuses";
  bool fails_ = false; ///< for another reason than its arguments
  bool to_meet_;       ///< whether the other ranks still wait for this one
  int exceptions_;
  std::deque<Message> messages_;
  std::vector<Tensor> tensors_;
  std::vector<std::unique_ptr<std::byte[]>> rooms_;
  std::vector<bool> arrived_; ///< ranks whose first message is here
  std::size_t done_ = 0;      ///< all messages before are
  std::uint64_t finished_ = 0;
  Watch::Clock::time_point moved_{}, said_{};
};

} // namespace weft::distributed
