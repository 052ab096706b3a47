// The threads' lists of events, and the sink they go to.
#include "Support/Profile.h"

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "Support/CallSite.h"
#include "Support/Fork.h"
#include "Support/ThreadExit.h"
#include "Support/Threads.h"
#include <weft/memory.h>

namespace weft::profile {

constinit std::atomic<bool> recording = false;

namespace {

/// Events that a thread keeps before it hands them on.
constexpr std::size_t kBatch = 4096;
/// Between two notes of the memory in use, in nanoseconds, unless it has changed much.
constexpr std::int64_t kMemoryPause = 1'000'000;

/// The events of one thread, as long as somebody looks.
struct List {
  forks::Mutex<std::mutex> mutex;
  std::uint64_t session = 0; ///< of the events
  int number = 0;            ///< of the thread in this session
  std::string name;
  bool alive = true;
  std::vector<Event> events;
};

/// What threads share.
struct Shared {
  forks::Mutex<std::mutex> mutex; ///< of all below but the atomics
  std::atomic<std::uint64_t> session = 0;
  std::atomic<bool> inside = false;
  std::atomic<std::int64_t> memory_noted = 0;
  Sink *sink = nullptr;
  std::uint32_t generation = 0; ///< of the process that the sink is of
  int threads = 0;
  std::vector<std::shared_ptr<List>> lists;
  forks::Mutex<std::mutex> texts_mutex;
  std::unordered_set<std::string> texts;
};
Shared &shared() {
  static Shared &all = *new Shared;
  return all;
}

thread_local constinit List *own = nullptr;
thread_local constinit bool ended = false;
thread_local constinit Scope *at = nullptr;

/// With the list's lock held.
void hand_on(List &list) {
  Shared &all = shared();
  const std::lock_guard lock(all.mutex);
  if (all.sink != nullptr && list.session == all.session && !list.events.empty())
    all.sink->take(list.number, list.name, list.events);
  list.events.clear();
}

void end_thread() noexcept {
  ended = true;
  List *const list = std::exchange(own, nullptr);
  if (list == nullptr) return;
  const std::lock_guard lock(list->mutex);
  hand_on(*list);
  list->alive = false;
}

/// "main", "worker 2", or what the thread is called.
std::string name_of_thread(int number) {
  if (const int worker = threads::worker_number()) return "worker " + std::to_string(worker);
  if (number == 0) return "main";
  return "thread " + std::to_string(number);
}

/// The list of this thread, for this session; null at the thread's end.
List *list_of_thread() {
  if (ended) return nullptr;
  Shared &all = shared();
  if (own == nullptr) {
    at_thread_end<end_thread>();
    auto list = std::make_shared<List>();
    list->events.reserve(kBatch);
    const std::lock_guard lock(all.mutex);
    own = list.get();
    all.lists.push_back(std::move(list));
  }
  return own;
}

} // namespace

const char *name_of(Kind kind) {
  static constexpr const char *names[kKinds] = {
      "op",   "call", "layer", "gradient",   "trace", "compile", "phase", "function",
      "code", "host", "part",  "allocation", "data",  "file",    "memory"};
  return names[static_cast<std::size_t>(kind)];
}

bool busy() {
  Shared &all = shared();
  const std::lock_guard lock(all.mutex);
  return all.sink != nullptr && all.generation == forks::generation();
}

bool inside_functions() { return shared().inside.load(std::memory_order_relaxed); }

bool start(Sink &sink, bool inside_functions) {
  Shared &all = shared();
  const std::lock_guard lock(all.mutex);
  if (all.sink != nullptr && all.generation == forks::generation()) return false;
  std::erase_if(all.lists, [](const auto &list) { return !list->alive; });
  all.sink = &sink;
  all.generation = forks::generation();
  all.threads = 0;
  all.inside = inside_functions;
  all.memory_noted = 0;
  ++all.session;
  recording = true;
  return true;
}

void stop(Sink &sink) {
  Shared &all = shared();
  std::vector<std::shared_ptr<List>> lists;
  {
    const std::lock_guard lock(all.mutex);
    if (all.sink != &sink) return;
    recording = false;
    lists = all.lists;
  }
  for (const auto &list : lists) {
    const std::lock_guard lock(list->mutex);
    hand_on(*list);
  }
  const std::lock_guard lock(all.mutex);
  all.sink = nullptr;
  ++all.session;
}

const char *kept(std::string_view text) {
  Shared &all = shared();
  const std::lock_guard lock(all.texts_mutex);
  return all.texts.emplace(text).first->c_str();
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

Label innermost() { return at == nullptr ? Label{"loop"} : at->label(); }

void note(const Event &event) {
  List *const list = list_of_thread();
  if (list == nullptr) return;
  Shared &all = shared();
  const std::lock_guard lock(list->mutex);
  const std::uint64_t session = all.session;
  if (!on()) return;
  if (list->session != session) {
    list->events.clear();
    list->session = session;
    const std::lock_guard numbered(all.mutex);
    list->number = all.threads++;
    list->name = name_of_thread(list->number);
  }
  list->events.push_back(event);
  if (list->events.size() < kBatch) return;
  // What that takes is nobody else's time.
  Event handing{Kind::file, "profile"};
  handing.begin = now();
  hand_on(*list);
  handing.end = now();
  list->events.push_back(handing);
  if (at != nullptr) at->event_.inner += handing.end - handing.begin;
}

void note_inside(const Event &event) {
  if (at != nullptr) at->event_.inner += event.end - event.begin;
  note(event);
}

void note_memory(bool always) {
  Shared &all = shared();
  const std::int64_t time = now();
  std::int64_t last = all.memory_noted.load(std::memory_order_relaxed);
  if (!always && time - last < kMemoryPause) return;
  if (!all.memory_noted.compare_exchange_strong(last, time) && !always) return;
  Event event;
  event.kind = Kind::memory;
  event.name = "tensors";
  event.begin = event.end = time;
  event.value = static_cast<std::int64_t>(memory_stats().current);
  note(event);
}

void Scope::begin(Kind kind, const char *name) {
  const std::source_location &where = CallSite::current();
  Label label{name};
  if (is_users(where)) label = {name, where.file_name(), where.line()};
  begin(kind, label);
}

void Scope::begin(Kind kind, const Label &label) {
  open_ = true;
  event_.kind = kind;
  event_.name = label.name;
  event_.file = label.file;
  event_.line = label.line;
  session_ = shared().session;
  outer_ = at;
  at = this;
  event_.begin = now();
}

void Scope::end() noexcept {
  event_.end = now();
  at = outer_;
  if (shared().session != session_) return;
  if (outer_ != nullptr) outer_->event_.inner += event_.end - event_.begin;
  note(event_);
  if (event_.kind == Kind::op || event_.kind == Kind::function) note_memory(false);
}

} // namespace weft::profile
