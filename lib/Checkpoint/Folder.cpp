// Lists, writes and removes numbered checkpoints.
#include "Checkpoint/Checkpoint.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <limits>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "Support/Files.h"
#include "Support/Fork.h"
#include "Support/Messages.h"

namespace weft {

namespace {

/// What the clock of the system can count in both directions: some 285 years around 1970.
constexpr double kMostSeconds = 9e9;

constexpr std::string_view kStart = "ckpt-", kEnd = ".safetensors", kTemporary = ".tmp-";

/// A checkpoint without the ending of a file: a folder of parts.
std::string folder_path_of(const std::string &folder, std::int64_t number) {
  return folder + (folder.ends_with('/') ? "" : "/") + std::string(kStart) + std::to_string(number);
}
std::string path_of(const std::string &folder, std::int64_t number) {
  return folder_path_of(folder, number) + std::string(kEnd);
}

/// The number in a name of a file or a folder, written as this library writes it; 0 if there is
/// none.
std::int64_t number_of(std::string_view name) {
  if (!name.starts_with(kStart)) return 0;
  std::string_view digits = name.substr(kStart.size());
  if (digits.ends_with(kEnd)) digits.remove_suffix(kEnd.size());
  std::int64_t number = 0;
  if (digits.starts_with('0') || !detail::read_number(digits, number)) return 0;
  return std::max<std::int64_t>(number, 0);
}

std::int64_t next_number(const NumberedFile &last) {
  if (last.number == std::numeric_limits<std::int64_t>::max())
    throw IOError(last.path + ": has the largest number there is, and no checkpoint can come "
                              "behind it: rename it");
  return last.number + 1;
}

std::string index_in(const std::string &folder) { return folder + "/model.safetensors.index.json"; }
bool is_index(const std::string &path) { return path.ends_with(".json"); }

/// The names of all that a folder has.
std::vector<std::string> names_in(const std::string &folder) {
  std::error_code error;
  std::vector<std::string> names;
  std::filesystem::directory_iterator entries(folder, error);
  for (; !error && entries != std::filesystem::directory_iterator(); entries.increment(error))
    names.push_back(entries->path().filename().string());
  if (error && error != std::errc::no_such_file_or_directory)
    throw IOError(folder + ": cannot be read: " + error.message());
  return names;
}

/// Whether somebody has a file open to write it, as AtomicFile has; none where that is not known.
enum class Lock : std::uint8_t { free, held, none };
Lock lock_of(const std::string &path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0) return Lock::none;
  const bool locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const Lock lock = locked ? Lock::free : errno == EWOULDBLOCK ? Lock::held : Lock::none;
  close(descriptor);
  return lock;
}

/// Makes the folder and those around it, each durable in the one around.
void make_folder(const std::string &folder) {
  if (std::error_code none; std::filesystem::is_directory(folder, none)) return;
  std::string path = folder;
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  const std::string around = folder_of(path);
  if (around != path) make_folder(around);
  if (file_calls().mkdir(path.c_str(), 0777) != 0 && errno != EEXIST)
    throw IOError(folder + ": cannot be created: " + std::strerror(errno));
  sync_folder(around, folder);
}

} // namespace

std::vector<NumberedFile> numbered_files(const std::string &folder) {
  std::vector<NumberedFile> files;
  for (const std::string &name : names_in(folder))
    if (const std::int64_t number = number_of(name); number != 0)
      files.push_back({number, name.ends_with(kEnd) ? path_of(folder, number)
                                                    : index_in(folder_path_of(folder, number))});
  std::sort(files.begin(), files.end(),
            [](const NumberedFile &a, const NumberedFile &b) { return a.number < b.number; });
  return files;
}

NumberedFile write_numbered(const std::string &folder, Snapshot snapshot, bool beside_others) {
  make_folder(folder);
  remove_leftovers(folder);
  const std::vector<NumberedFile> before = numbered_files(folder);
  std::int64_t number = before.empty() ? 1 : next_number(before.back());
  AtomicFile file(path_of(folder, number));
  write_safetensors(file, std::move(snapshot.items), std::move(snapshot.texts), beside_others);
  // Other writers may have taken numbers meanwhile.
  while (!file.commit_as(path_of(folder, number)))
    number = next_number({number, path_of(folder, number)});
  return {number, path_of(folder, number)};
}

namespace {

/// A name beside `path` that no other thread or process takes.
std::string temporary_of(const std::string &path) {
  static std::atomic<unsigned> count{0};
  return path + std::string(kTemporary) + std::to_string(getpid()) + "-" + std::to_string(count++);
}

/// Removes a file, or a folder with all that it has; whether it is gone, or else errno says why.
bool remove_whole(const std::string &path) {
  std::error_code error;
  if (!std::filesystem::is_directory(std::filesystem::symlink_status(path, error)))
    return file_calls().unlink(path.c_str()) == 0;
  std::filesystem::remove_all(path, error);
  errno = error.value();
  return !error;
}

} // namespace

void remove_numbered(const std::string &given) {
  const std::string path = is_index(given) ? folder_of(given) : given;
  const std::string temporary = temporary_of(path) + "-removed";
  if ((file_calls().rename(path.c_str(), temporary.c_str()) == 0 && remove_whole(temporary)) ||
      errno == ENOENT)
    return;
  throw IOError(path + ": cannot be removed: " + std::strerror(errno));
}

namespace {

std::string part_in(const std::string &folder, const PartOf &of) {
  return folder + "/" + std::to_string(of.number) + "-of-" + std::to_string(of.parts) +
         std::string(kEnd);
}

} // namespace

FolderOfParts::FolderOfParts(const std::string &folder)
    : folder_(folder), generation_(forks::generation()) {
  make_folder(folder);
  remove_leftovers(folder);
  // The number is that of the next one by now; which one it becomes is known when it is published.
  const std::vector<NumberedFile> before = numbered_files(folder);
  path_ = temporary_of(folder_path_of(folder, before.empty() ? 1 : next_number(before.back())));
  if (file_calls().mkdir(path_.c_str(), 0777) != 0)
    throw IOError(path_ + ": cannot be created: " + std::strerror(errno));
  lock_ = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (lock_ >= 0) flock(lock_, LOCK_EX | LOCK_NB);
}

FolderOfParts::~FolderOfParts() {
  // In a child of a fork it is the parent's, which writes into it.
  if (!path_.empty() && generation_ == forks::generation()) remove_whole(path_);
  if (lock_ >= 0) close(lock_);
}

NumberedFile FolderOfParts::publish(const std::vector<std::string> &digests) {
  std::vector<std::unique_ptr<SafetensorsShard>> shards;
  std::vector<std::pair<std::string, const SafetensorsShard *>> files;
  for (const std::string &digest : digests) {
    const std::string path = part_in(path_, {.number = static_cast<int>(shards.size()),
                                             .parts = static_cast<int>(digests.size())});
    const SafetensorsShard &shard = *shards.emplace_back(std::make_unique<SafetensorsShard>(path));
    if (shard.header.texts.at(std::string(kHeaderDigest)) != digest)
      shard.file.fail("is not what was written: do all ranks write into the same folder?");
    files.emplace_back(path.substr(path_.size() + 1), &shard);
  }
  const std::string text = make_safetensors_index(files);
  AtomicFile index(index_in(path_));
  index.write(text.data(), text.size());
  index.commit();
  const std::vector<NumberedFile> before = numbered_files(folder_);
  for (std::int64_t number = before.empty() ? 1 : next_number(before.back());;
       number = next_number({number, path_of(folder_, number)})) {
    const std::string name = folder_path_of(folder_, number);
    // A file may have taken the number meanwhile.
    if (std::error_code unknown; std::filesystem::exists(path_of(folder_, number), unknown))
      continue;
    if (file_calls().rename_to_free(path_.c_str(), name.c_str()) != 0) {
      if (errno == EEXIST) continue;
      throw IOError(name + ": cannot be given its name: " + std::strerror(errno));
    }
    path_.clear();
    sync_folder(folder_, name);
    return {number, index_in(name)};
  }
}

std::string write_part(const std::string &folder, Snapshot snapshot, const PartOf &of,
                       bool beside_others) {
  AtomicFile file(part_in(folder, of));
  std::string digest =
      write_safetensors(file, std::move(snapshot.items), std::move(snapshot.texts), beside_others);
  file.commit();
  return digest;
}

void remove_leftovers(const std::string &folder) {
  for (const std::string &name : names_in(folder)) {
    const std::size_t at = name.find(kTemporary);
    if (at == std::string::npos || number_of(name.substr(0, at)) == 0) continue;
    std::int64_t writer = 0;
    const std::string_view rest = std::string_view(name).substr(at + kTemporary.size());
    const std::string path = folder + "/" + name;
    struct stat status{};
    if (!detail::read_number(rest.substr(0, rest.find('-')), writer) || writer <= 0 ||
        writer > std::numeric_limits<pid_t>::max() || stat(path.c_str(), &status) != 0)
      continue;
    const auto age =
        std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(status.st_mtime);
    // The number may be that of a process on another machine, which locks what it writes once it
    // has opened it.
    if (age < std::chrono::minutes(1) || kill(static_cast<pid_t>(writer), 0) == 0 || errno != ESRCH)
      continue;
    const Lock lock = lock_of(path);
    // Where there are no locks only what is old is surely left over.
    if (lock == Lock::free || (lock == Lock::none && age >= std::chrono::hours(1)))
      remove_whole(path);
  }
}

CheckpointInfo info_of(const SafetensorsFile &file, std::int64_t number) {
  const std::map<std::string, std::string> &texts = file.metadata();
  const auto text_of = [&](std::string_view name) {
    const auto found = texts.find(std::string(name));
    return found == texts.end() ? nullptr : &found->second;
  };
  const std::string *const format = text_of(saved_names::kFormat);
  if (format == nullptr || *format != kCheckpointFormat)
    throw IOError(file.path() +
                  (format == nullptr
                       ? ": is no checkpoint of Weft's: it has no 'weft.format'"
                       : ": is a checkpoint of version " + shown(*format) + "; only " +
                             std::string(kCheckpointFormat) + " is known"));
  CheckpointInfo info;
  info.path = file.path();
  info.number = number;
  double seconds = 0, metric = 0;
  if (const std::string *text = text_of(saved_names::kTime);
      text != nullptr && detail::read_number(*text, seconds) && std::abs(seconds) < kMostSeconds)
    info.time += std::chrono::duration_cast<std::chrono::system_clock::duration>(
        std::chrono::duration<double>(seconds));
  if (const std::string *text = text_of(saved_names::kMetric);
      text != nullptr && detail::read_number(*text, metric))
    info.metric = metric;
  std::int64_t step = 0;
  if (const std::string *text = text_of(saved_names::kStep);
      text != nullptr && detail::read_number(*text, step))
    info.step = step;
  return info;
}

} // namespace weft
