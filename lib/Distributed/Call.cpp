// Collectives as calls: entering, meeting, waiting, and breaking off.
#include "Distributed/Call.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <thread>

#include <sched.h>

#include "Ops/Interpreter.h"
#include "Program/Ranks.h"
#include "Runtime/CallContext.h"
#include "Runtime/NewTensor.h"
#include "Support/Callback.h"
#include "Support/Fault.h"
#include "Support/Fork.h"
#include "Support/Log.h"
#include <weft/detail/distributed_place.h>
#include <weft/detail/interrupts.h>

namespace weft::distributed {

namespace {

/// The line that another language calls a collective at.
std::string &place_of_thread() {
  static thread_local auto *place = new std::string; // of few threads, and small
  return *place;
}

constexpr std::uint32_t kMagic = 0x57454654;

/// What ranks tell each other; sizes, texts and bytes come behind it.
struct Header {
  std::uint64_t sequence = 0;
  std::uint64_t program = 0; ///< the digest of its schedule; 0 of a call outside of compiled code
  std::uint32_t magic = kMagic;
  std::uint8_t dtype = 0, has_tensor = 0;
  std::uint16_t dimensions = 0;
  std::uint16_t function = 0, arguments = 0, place = 0; ///< bytes of texts
  std::uint16_t fails = 0;
  std::uint32_t digest = 0; ///< of the arguments, which may be cut off
  std::uint32_t bytes = 0;
};
constexpr std::size_t kMostText = 320;
constexpr std::size_t kMostHeader =
    sizeof(Header) + max_rank * sizeof(std::int64_t) + 3 * kMostText + 16;

/// A header that came.
struct Told {
  Header head;
  Shape shape;
  std::string function, arguments, place;
  std::string_view bytes; ///< where they came
};

std::uint32_t digest_of(std::string_view text) {
  std::uint32_t digest = 2166136261U; // FNV-1a
  for (const char letter : text) digest = (digest ^ static_cast<unsigned char>(letter)) * 16777619U;
  return digest;
}

std::string packed(std::uint64_t sequence, const Call::Common &common, const std::string &more,
                   std::string_view function, std::string_view place, std::string_view bytes) {
  Header head;
  head.sequence = sequence;
  if (const RanksSchedule *schedule = RanksScope::current(); schedule != nullptr)
    head.program = schedule->digest;
  const auto cut = [](std::string_view text) { return text.substr(0, kMostText); };
  const std::string with =
      more.empty() || common.fails ? common.arguments : common.arguments + ", " + more;
  const std::string_view arguments = cut(with);
  head.dtype = static_cast<std::uint8_t>(common.dtype);
  head.has_tensor = common.has_tensor;
  head.dimensions = static_cast<std::uint16_t>(common.shape.size());
  head.function = static_cast<std::uint16_t>(cut(function).size());
  head.arguments = static_cast<std::uint16_t>(arguments.size());
  head.place = static_cast<std::uint16_t>(cut(place).size());
  head.digest = digest_of(with);
  head.fails = common.fails ? 1 : 0;
  head.bytes = static_cast<std::uint32_t>(bytes.size());
  std::string text;
  text.reserve(kMostHeader + bytes.size());
  text.append(reinterpret_cast<const char *>(&head), sizeof head);
  for (const std::int64_t size : common.shape)
    text.append(reinterpret_cast<const char *>(&size), sizeof size);
  text += cut(function);
  text += arguments;
  text += cut(place);
  text.resize((text.size() + 15) / 16 * 16); // elements may lie behind it
  text += bytes;
  return text;
}

bool unpack(const std::byte *from, std::size_t room, Told &told) {
  std::memcpy(&told.head, from, sizeof told.head);
  const Header &head = told.head;
  if (head.magic != kMagic || head.dimensions > max_rank) return false;
  std::size_t at = sizeof head;
  const auto text = [&](std::size_t count) {
    const std::size_t start = std::min(at, room), taken = std::min(count, room - start);
    at = start + taken;
    return std::string(reinterpret_cast<const char *>(from) + start, taken);
  };
  const std::string sizes = text(head.dimensions * sizeof(std::int64_t));
  std::vector<std::int64_t> dims(sizes.size() / sizeof(std::int64_t));
  // A scalar has none, and memcpy takes no null pointer.
  if (!dims.empty()) std::memcpy(dims.data(), sizes.data(), dims.size() * sizeof(std::int64_t));
  told.shape = Shape(dims);
  told.function = text(head.function);
  told.arguments = text(head.arguments);
  told.place = text(head.place);
  at = (at + 15) / 16 * 16;
  if (at > room || head.bytes > room - at) return false;
  told.bytes = {reinterpret_cast<const char *>(from) + at, head.bytes};
  return true;
}

/// " (train.py:41)", or nothing.
std::string in_brackets(const std::string &place) {
  return place.empty() ? std::string() : " (" + place + ")";
}

/// Throws what two ranks do not have in common.
void compare(const char *function, int first, const Told &a, int second, const Told &b) {
  const auto both = [&](const std::string &of_a, const std::string &of_b) {
    return "rank " + std::to_string(first) + " has " + of_a + in_brackets(a.place) + " and rank " +
           std::to_string(second) + " " + of_b + in_brackets(b.place);
  };
  const std::string name = std::string(function) + ": ";
  for (const auto &[rank, told] : {std::pair(first, &a), std::pair(second, &b)})
    if (told->head.fails != 0)
      raise(ErrorKind::state, name + "rank " + std::to_string(rank) + ": " + told->arguments +
                                  in_brackets(told->place));
  if (a.function != b.function || a.head.sequence != b.head.sequence) {
    const auto call = [](const Told &told) {
      return told.function + " as collective " + std::to_string(told.head.sequence);
    };
    raise(ErrorKind::state, name + "ranks call different collectives: " + both(call(a), call(b)));
  }
  if (a.arguments != b.arguments || a.head.digest != b.head.digest ||
      a.head.has_tensor != b.head.has_tensor)
    raise(ErrorKind::state,
          name + "arguments differ between ranks: " + both(a.arguments, b.arguments));
  if (a.head.dtype != b.head.dtype)
    raise(ErrorKind::dtype, name + "dtypes differ between ranks: " +
                                both(std::string(name_of(static_cast<DType>(a.head.dtype))),
                                     std::string(name_of(static_cast<DType>(b.head.dtype)))));
  if (a.shape != b.shape)
    raise(ErrorKind::shape,
          name + "shapes differ between ranks: " + both(to_string(a.shape), to_string(b.shape)));
}

} // namespace

detail::Place::Place(std::string place)
    : outer_(std::exchange(place_of_thread(), std::move(place))) {}
detail::Place::~Place() { place_of_thread() = std::move(outer_); }
std::string detail::Place::current() { return place_of_thread(); }

//===----------------------------------------------------------------------===//
// Entering and leaving
//===----------------------------------------------------------------------===//

Call::Call(const char *function, const Group &group, const std::source_location &where, bool meets)
    : function_(function), site_(function, where),
      group_(group.state() != nullptr ? group.state() : world_group()), to_meet_(meets),
      exceptions_(std::uncaught_exceptions()) {
  const auto refuse = [&](ErrorKind kind, const std::string &what) {
    raise(kind, std::string(function) + ": " + what);
  };
  if (Interpreter *current = Interpreter::current(); current != nullptr && current->traces())
    refuse(ErrorKind::state, "collectives run at once and are no part of traced functions: call "
                             "it outside of the function, with what it returns");
  if (const char *callback = Callback::current())
    refuse(ErrorKind::state, "it is called in " + std::string(callback) +
                                 ", which other ranks need not be in: call it outside");
  World &world = group_->world;
  using Channel = detail::GroupState::Channel;
  tag_ = group_->tag(group_->in_background ? Channel::background : Channel::collective);
  if (world.engine != nullptr && world.generation != forks::generation())
    refuse(ErrorKind::state, "this process was forked from one that has a world of " +
                                 world.engine_name + ": collectives work in the parent alone");
  const std::string &other = place_of_thread();
  place_ = other.empty() ? to_string(CallSite::location()) : other;
  if (!group_->in_background) GroupsScope::check_free(group_->number, function);
  if (!group_->busy.try_lock()) {
    const std::lock_guard lock(group_->naming);
    refuse(ErrorKind::state,
           "another thread is in " +
               (group_->under_way != nullptr ? group_->under_way->call_text() : "a collective") +
               " of this group: give each thread a group of its own, by split");
  }
  if (world.watch != nullptr && world.watch->broken()) {
    group_->busy.unlock();
    refuse(ErrorKind::peer, world.watch->cause());
  }
  set_ranks_know_of_error(false);
  const std::lock_guard lock(group_->naming);
  group_->under_way = this;
}

namespace {

void refuse_for(const char *function, const Group &group, const std::string *error) noexcept {
  try {
    Call call(function, group, {});
    if (error != nullptr) call.refuses_for(*error);
    throw StateError(function); // the call tells the others when it ends by an exception
    // NOLINTNEXTLINE(bugprone-empty-catch)
  } catch (const Error &) {
  }
}

} // namespace

void detail::refuse(const char *function, const Group &group) noexcept {
  refuse_for(function, group, nullptr);
}
void detail::refuse(const char *function, const Group &group, const std::string &error) noexcept {
  refuse_for(function, group, &error);
}

void Call::refuse_to_meet() noexcept {
  try {
    meet({.arguments = refusal_, .has_tensor = false, .fails = fails_});
    // NOLINTNEXTLINE(bugprone-empty-catch)
  } catch (const Error &) {
    // Why this rank refuses is its error; the others have one that names it.
  }
}

Call::~Call() {
  if (std::uncaught_exceptions() > exceptions_) set_ranks_know_of_error(true);
  if (to_meet_ && size() > 1 && std::uncaught_exceptions() > exceptions_) refuse_to_meet();
  // Memory that the engine may still write stays.
  bool all = true;
  for (std::size_t i = done_; i < messages_.size(); ++i) all = all && messages_[i].done;
  if (!all) {
    if (!group_->world.watch->broken()) {
      const std::string text = call_text() + " was left in the middle";
      group_->world.watch->fails(text);
    }
    for (auto &room : rooms_) static_cast<void>(room.release());
    for (Tensor &tensor : tensors_) static_cast<void>(std::move(tensor).detach());
  }
  {
    const std::lock_guard lock(group_->naming);
    group_->under_way = nullptr;
  }
  group_->busy.unlock();
}

std::vector<int> Call::others() const {
  std::vector<int> all;
  for (int i = 1; i < size(); ++i) all.push_back((rank() + i) % size());
  return all;
}

std::string_view Call::place() const { return place_; }

std::string Call::call_text() const { return function_ + in_brackets(place_); }

//===----------------------------------------------------------------------===//
// Meeting
//===----------------------------------------------------------------------===//

std::vector<std::string_view> Call::meet(const Common &common, std::string_view bytes) {
  std::vector<std::string_view> all(static_cast<std::size_t>(size()));
  const std::uint64_t sequence = ++group_->sequence;
  to_meet_ = false;
  if (size() == 1) {
    all[0] = bytes;
    return all;
  }
  const std::string own = packed(sequence, common, argument_, function_, place(), bytes);
  const std::size_t text = own.size() - bytes.size();
  constexpr std::size_t most = (kMostHeader + kSmall + 63) / 64 * 64;
  std::byte *const rooms = room(all.size() * most);
  std::byte *const to_send = rooms + static_cast<std::size_t>(rank()) * most;
  std::memcpy(to_send, own.data(), own.size());
  arrived_.assign(all.size(), false);
  for (const int other : others())
    recv(other, rooms + static_cast<std::size_t>(other) * most, most);
  for (const int other : others()) send(other, to_send, own.size());
  wait_all();
  // Mostly all is the same, but for the bytes.
  bool same = true;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::byte *from = rooms + i * most;
    same = same && std::memcmp(from, to_send, text) == 0;
    all[i] = {reinterpret_cast<const char *>(from) + text, bytes.size()};
  }
  if (same) return all;
  // All ranks have the same headers, and so throw the same.
  std::vector<Told> told(all.size());
  for (std::size_t i = 0; i < told.size(); ++i)
    if (!unpack(rooms + i * most, most, told[i]))
      raise(ErrorKind::internal,
            std::string(function_) + ": rank " + std::to_string(i) + " sent what is no header");
  std::vector<std::uint64_t> programs;
  for (const Told &one : told)
    if (one.head.program != 0) programs.push_back(one.head.program);
  if (std::ranges::adjacent_find(programs, std::not_equal_to<>()) != programs.end())
    compare_programs();
  for (std::size_t i = 1; i < told.size(); ++i)
    compare(function_, 0, told[0], static_cast<int>(i), told[i]);
  for (std::size_t i = 0; i < told.size(); ++i) all[i] = told[i].bytes;
  return all;
}

void Call::send_to(int to, const Common &common, const void *data, std::size_t bytes) {
  tag_ = group_->tag(detail::GroupState::Channel::pair);
  const bool small = bytes <= kSmall;
  const std::string_view with(static_cast<const char *>(data), small ? bytes : 0);
  const std::string own = packed(0, common, {}, function_, place(), with);
  std::byte *const header = room(own.size());
  std::memcpy(header, own.data(), own.size());
  send(to, header, own.size());
  if (!small) send(to, data, bytes);
  wait_all();
}

Tensor Call::recv_from(int from) {
  tag_ = group_->tag(detail::GroupState::Channel::pair);
  constexpr std::size_t most = kMostHeader + kSmall;
  std::byte *const header = room(most);
  recv(from, header, most);
  wait_all();
  Told told;
  if (!unpack(header, most, told) || told.head.dtype >= kNumDTypes)
    raise(ErrorKind::internal,
          std::string(function_) + ": rank " + std::to_string(from) + " sent what is no header");
  Tensor result = weft::detail::new_tensor(static_cast<DType>(told.head.dtype), told.shape);
  keep(result);
  const std::size_t bytes = static_cast<std::size_t>(result.size()) * item_size(result.dtype());
  if (bytes <= kSmall) {
    std::memcpy(result.impl()->data, told.bytes.data(), std::min(bytes, told.bytes.size()));
    return result;
  }
  recv(from, result.impl()->data, bytes);
  wait_all();
  return result;
}

//===----------------------------------------------------------------------===//
// Messages
//===----------------------------------------------------------------------===//

std::byte *Call::room(std::size_t bytes) {
  rooms_.push_back(std::make_unique_for_overwrite<std::byte[]>(bytes));
  return rooms_.back().get();
}

std::size_t Call::send(int to, const void *data, std::size_t bytes) {
  return start(to, const_cast<void *>(data), bytes, true);
}
std::size_t Call::recv(int from, void *data, std::size_t bytes) {
  return start(from, data, bytes, false);
}

std::size_t Call::start(int peer, void *data, std::size_t bytes, bool sends) {
  // MPI counts in an int, and what is larger shows no progress on the way.
  constexpr std::size_t kMost = 1 << 20;
  World &world = group_->world;
  if (sends) group_->sent += bytes;
  for (std::size_t at = 0; at < bytes; at += kMost) {
    messages_.push_back({.data = static_cast<std::byte *>(data) + at,
                         .bytes = std::min(kMost, bytes - at),
                         .peer = group_->ranks[static_cast<std::size_t>(peer)],
                         .tag = tag_,
                         .sends = sends});
    bool started = false;
    {
      const std::lock_guard lock(world.lock);
      started = world.engine->start(messages_.back());
    }
    if (!started) break_off();
  }
  return messages_.size();
}

void Call::test(Message &message) {
  World &world = group_->world;
  bool fine = false;
  {
    const std::lock_guard lock(world.lock);
    fine = world.engine->test(message);
  }
  if (!fine) {
    const std::string failed = world.engine->failed();
    // A lost connection is an error of the engine before it is one of a rank: who is gone is known
    // a moment later.
    for (int i = 0; i < 100 && !world.watch->broken(); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (!world.watch->broken()) world.watch->fails(world.engine_name + ": " + failed);
    break_off();
  }
  if (!message.done) return;
  ++finished_;
  ++world.finished;
  if (message.sends || arrived_.empty()) return;
  const auto &ranks = group_->ranks;
  const auto at = std::find(ranks.begin(), ranks.end(), message.peer) - ranks.begin();
  arrived_[static_cast<std::size_t>(at)] = true;
}

void Call::wait(std::size_t last) {
  World &world = group_->world;
  constexpr std::chrono::microseconds kSpin(100), kNap(200);
  for (; done_ < last; ++done_) {
    Message &message = messages_[done_];
    Watch::Clock::time_point began{};
    bool spins = world.may_spin;
    for (int i = 0; !message.done; ++i) {
      test(message);
      if (message.done) break;
      if (world.watch->broken()) break_off();
      if (group_->in_background && !group_->hurry) {
        // The processor is for those who compute; engines hold what comes meanwhile.
        std::this_thread::sleep_for(kNap);
        look_up(done_);
        continue;
      }
      // For some microseconds, however long the engine takes to look.
      if (spins && i % 8 == 0) {
        const Watch::Clock::time_point now = Watch::Clock::now();
        if (i == 0) began = now;
        spins = now - began < kSpin;
      }
      if (spins) {
        __builtin_ia32_pause();
        continue;
      }
      sched_yield();
      if (i % 16 == 0) look_up(done_);
    }
    moved_ = {};
  }
}

void Call::look_up(std::size_t at) {
  const Watch::Clock::time_point now = Watch::Clock::now();
  const double limit = timeout();
  const double interval = std::clamp(limit / 8, 0.02, 1.0);
  if (moved_ == Watch::Clock::time_point{}) {
    moved_ = said_ = now;
    return;
  }
  const auto since = [&](Watch::Clock::time_point then) {
    return std::chrono::duration<double>(now - then).count();
  };
  if (weft_rt_interrupt_flag.load(std::memory_order_relaxed) != 0 && !group_->in_background)
    weft::detail::handle_interrupt();
  // Whoever waits for long need not be there at once.
  if (since(moved_) > 0.05) std::this_thread::sleep_for(std::chrono::microseconds(50));
  if (since(said_) < interval && since(moved_) < limit) return;
  said_ = now;
  const std::uint64_t before = finished_;
  for (std::size_t i = at; i < messages_.size(); ++i)
    if (!messages_[i].done) test(messages_[i]);
  if (finished_ != before) moved_ = now;
  Watch &watch = *group_->world.watch;
  const std::vector<int> missing = pending();
  watch.waits(missing, group_->world.finished, call_text());
  if (logging() && since(moved_) > std::min(10.0, limit / 2) &&
      since(moved_) < std::min(10.0, limit / 2) + 1.5 * interval) {
    std::string line = "distributed: " + call_text() + " waits for";
    for (const int rank : missing) line += " " + watch.name_of(rank);
    log_line(line);
  }
  if (since(moved_) >= limit && watch.timed_out(limit)) moved_ = now;
}

std::vector<int> Call::pending() const {
  std::vector<int> all;
  for (const bool sends : {false, true}) {
    for (std::size_t i = done_; i < messages_.size(); ++i)
      if (!messages_[i].done && messages_[i].sends == sends) all.push_back(messages_[i].peer);
    if (!all.empty()) break;
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void Call::break_off() {
  Watch &watch = *group_->world.watch;
  std::string text = std::string(function_) + ": " + watch.cause();
  if (!arrived_.empty()) {
    arrived_[static_cast<std::size_t>(rank())] = true;
    std::vector<int> came;
    for (std::size_t i = 0; i < arrived_.size(); ++i)
      if (arrived_[i]) came.push_back(group_->ranks[i]);
    std::sort(came.begin(), came.end());
    text += came.size() == 1 ? "; rank " : "; ranks ";
    for (const int one : came) text += (one == came.front() ? "" : ", ") + std::to_string(one);
    text += came.size() == 1 ? " has arrived" : " have arrived";
  }
  raise(ErrorKind::peer, text);
}

} // namespace weft::distributed
