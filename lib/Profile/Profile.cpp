// Profiles as users hold them: the events of all threads added up.
#include <weft/profile.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <tuple>

#include <unistd.h>

#include "Profile/TraceFile.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Log.h"
#include <weft/error.h>

namespace weft {

using profile::Event;
using profile::Kind;

namespace {

/// Points of the memory's curve; beyond, every second one goes.
constexpr std::size_t kMostPoints = 4096;

struct Sum {
  std::int64_t count = 0, total = 0, self = 0;
};

using Key = std::tuple<Kind, std::string_view, std::string_view, std::uint32_t>;

Key key_of(const Event &event) {
  return {event.kind, event.name, event.file == nullptr ? "" : event.file, event.line};
}

} // namespace

struct Profile::State final : profile::Sink {
  State(const std::string &path, const ProfileOptions &options) {
    if (options.max_events < 1)
      throw ValueError("Profile: max_events is " + std::to_string(options.max_events) +
                       ", but must be at least 1");
    // The file of a profile that goes on must not be emptied by a second one.
    if (profile::busy()) refuse();
    if (!path.empty()) file = std::make_unique<profile::TraceFile>(path, start, options.max_events);
    if (!profile::start(*this, options.inside_functions)) refuse();
  }
  ~State() override {
    if (std::optional<std::string> wrong = finish()) warn_line("error: " + *wrong);
  }

  [[noreturn]] static void refuse() {
    throw StateError("Profile: another profile goes on: stop it first");
  }

  void take(int thread, std::string_view thread_name, std::span<const Event> events) override {
    if (getpid() != process) return;
    const std::lock_guard lock(mutex);
    if (file) file->add(thread, thread_name, events);
    for (const Event &event : events) {
      ++count;
      if (event.kind == Kind::memory) {
        add_point(event);
        continue;
      }
      Sum &sum = sums[key_of(event)];
      ++sum.count;
      sum.total += event.end - event.begin;
      sum.self += event.end - event.begin - event.inner;
    }
  }

  void add_point(const Event &event) {
    points.emplace_back(static_cast<double>(event.begin - start) * 1e-9,
                        static_cast<double>(event.value));
    if (points.size() < kMostPoints) return;
    // Threads hand their events on one after the other.
    std::sort(points.begin(), points.end());
    for (std::size_t i = 0; i < points.size() / 2; ++i) points[i] = points[2 * i];
    points.resize(points.size() / 2);
  }

  std::optional<std::string> finish() {
    if (getpid() != process || end != 0) return std::nullopt;
    profile::stop(*this);
    const std::lock_guard lock(mutex);
    end = profile::now();
    if (!file) return std::nullopt;
    std::optional<std::string> wrong = file->finish();
    file.reset();
    return wrong;
  }

  const pid_t process = getpid();
  const std::int64_t start = profile::now();
  mutable std::mutex mutex; ///< of all below
  std::int64_t end = 0;
  std::int64_t count = 0;
  std::unique_ptr<profile::TraceFile> file;
  std::map<Key, Sum> sums;
  std::vector<std::pair<double, double>> points;
};

Profile::Profile(const ProfileOptions &options, std::source_location where)
    : Profile({}, options, where) {}

Profile::Profile(const std::string &path, const ProfileOptions &options,
                 std::source_location where) {
  const CallSite site(where);
  state_ = std::make_shared<State>(path, options);
}

Profile::~Profile() = default;
Profile::Profile(Profile &&) noexcept = default;
Profile &Profile::operator=(Profile &&) noexcept = default;

Profile trace_profile(const std::string &path, const ProfileOptions &options,
                      std::source_location where) {
  const CompositeCall site("trace_profile", where);
  check_path("trace_profile", path);
  return {path, options, where};
}

void Profile::stop(std::source_location where) {
  const CallSite site(where);
  if (!state_) return;
  if (std::optional<std::string> wrong = state_->finish()) throw IOError(*wrong);
}

std::vector<ProfileEntry> Profile::entries() const {
  std::vector<ProfileEntry> all;
  if (!state_) return all;
  const std::lock_guard lock(state_->mutex);
  for (const auto &[key, sum] : state_->sums) {
    const auto &[kind, name, file, line] = key;
    ProfileEntry entry;
    entry.kind = profile::name_of(kind);
    entry.name = name;
    entry.location = {std::string(file), line, 0};
    entry.count = sum.count;
    entry.total_ms = static_cast<double>(sum.total) * 1e-6;
    entry.self_ms = static_cast<double>(sum.self) * 1e-6;
    all.push_back(std::move(entry));
  }
  std::sort(all.begin(), all.end(), [](const ProfileEntry &a, const ProfileEntry &b) {
    return std::tie(b.self_ms, a.name, a.location.line) <
           std::tie(a.self_ms, b.name, b.location.line);
  });
  return all;
}

std::vector<std::pair<double, double>> Profile::memory() const {
  if (!state_) return {};
  const std::lock_guard lock(state_->mutex);
  auto points = state_->points;
  std::sort(points.begin(), points.end());
  return points;
}

double Profile::seconds() const {
  if (!state_) return 0;
  const std::lock_guard lock(state_->mutex);
  return static_cast<double>((state_->end != 0 ? state_->end : profile::now()) - state_->start) *
         1e-9;
}

std::int64_t Profile::events() const {
  if (!state_) return 0;
  const std::lock_guard lock(state_->mutex);
  return state_->count;
}

std::string Profile::text(std::int64_t rows) const {
  const std::vector<ProfileEntry> all = entries();
  double total = 0;
  for (const ProfileEntry &entry : all) total += entry.self_ms;
  std::string text;
  char line[160];
  std::snprintf(line, sizeof line, "%9s %6s %9s %9s  %-10s %s\n", "self ms", "share", "total ms",
                "count", "kind", "name");
  text += line;
  for (std::size_t i = 0; i < all.size() && static_cast<std::int64_t>(i) < rows; ++i) {
    const ProfileEntry &entry = all[i];
    std::snprintf(line, sizeof line, "%9.3f %5.1f%% %9.3f %9lld  %-10s ", entry.self_ms,
                  total > 0 ? 100 * entry.self_ms / total : 0, entry.total_ms,
                  static_cast<long long>(entry.count), entry.kind.c_str());
    text += line + entry.name;
    if (entry.location.known()) text += "  " + to_string(entry.location);
    text += '\n';
  }
  if (static_cast<std::int64_t>(all.size()) > rows)
    text += "(" +
            std::to_string(all.size() - static_cast<std::size_t>(std::max<std::int64_t>(rows, 0))) +
            " more)\n";
  return text;
}

} // namespace weft
