// A disk that forgets: records what is done to files, and shows what a crash would leave of it.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <fcntl.h>

#include "Support/Files.h"

namespace weft {

/// Does what the system does, and keeps a log of it.
class RecordingCalls final : public FileCalls {
public:
  struct Operation {
    enum class Kind { create, open_folder, write, sync, rename, unlink, mkdir } kind;
    std::string path, to; ///< of a file that is open, the path it was opened by
    int file = 0;         ///< the number of the open
    std::size_t offset = 0;
    std::string bytes;
  };

  RecordingCalls() { use_file_calls(this); }
  ~RecordingCalls() override { use_file_calls(nullptr); }

  int open(const char *path, int flags, mode_t mode) override {
    const int descriptor = FileCalls::open(path, flags, mode);
    if (descriptor < 0) return descriptor;
    files_[descriptor] = {.number = ++opened_, .at = 0};
    log.push_back({.kind = (flags & O_DIRECTORY) != 0 ? Operation::Kind::open_folder
                                                      : Operation::Kind::create,
                   .path = path,
                   .to = {},
                   .file = opened_,
                   .bytes = {}});
    return descriptor;
  }
  ssize_t write(int descriptor, const void *bytes, std::size_t size) override {
    const ssize_t written = FileCalls::write(descriptor, bytes, size);
    if (written > 0) {
      note(descriptor, files_[descriptor].at, bytes, written);
      files_[descriptor].at += static_cast<std::size_t>(written);
    }
    return written;
  }
  ssize_t pwrite(int descriptor, const void *bytes, std::size_t size, off_t offset) override {
    const ssize_t written = FileCalls::pwrite(descriptor, bytes, size, offset);
    if (written > 0) note(descriptor, static_cast<std::size_t>(offset), bytes, written);
    return written;
  }
  int fsync(int descriptor) override {
    const int result = FileCalls::fsync(descriptor);
    if (result == 0)
      log.push_back({.kind = Operation::Kind::sync,
                     .path = {},
                     .to = {},
                     .file = files_[descriptor].number,
                     .bytes = {}});
    return result;
  }
  int rename(const char *from, const char *to) override {
    return noted(FileCalls::rename(from, to), Operation::Kind::rename, from, to);
  }
  int rename_to_free(const char *from, const char *to) override {
    return noted(FileCalls::rename_to_free(from, to), Operation::Kind::rename, from, to);
  }
  int unlink(const char *path) override {
    return noted(FileCalls::unlink(path), Operation::Kind::unlink, path, "");
  }
  int mkdir(const char *path, mode_t mode) override {
    return noted(FileCalls::mkdir(path, mode), Operation::Kind::mkdir, path, "");
  }

  std::vector<Operation> log;

private:
  void note(int descriptor, std::size_t offset, const void *bytes, ssize_t size) {
    log.push_back({.kind = Operation::Kind::write,
                   .path = {},
                   .to = {},
                   .file = files_[descriptor].number,
                   .offset = offset,
                   .bytes = {static_cast<const char *>(bytes), static_cast<std::size_t>(size)}});
  }
  int noted(int result, Operation::Kind kind, const char *path, const char *to) {
    if (result == 0) log.push_back({.kind = kind, .path = path, .to = to, .bytes = {}});
    return result;
  }

  struct Open {
    int number = 0;
    std::size_t at = 0;
  };
  std::map<int, Open> files_;
  int opened_ = 0;
};

/// A disk on which the first operations of a log were done, and nothing behind them.
class ForgetfulDisk {
public:
  /// Which syncs it only claims to have done.
  struct Lies {
    bool of_files = false, of_folders = false;
  };
  explicit ForgetfulDisk(Lies lies) : lies_(lies) {}

  void apply(const RecordingCalls::Operation &operation) {
    using Kind = RecordingCalls::Operation::Kind;
    switch (operation.kind) {
    case Kind::create:
      open_[operation.file] = operation.path;
      names_[operation.path] = operation.file;
      break;
    case Kind::open_folder: folders_[operation.file] = operation.path; break;
    case Kind::write: {
      std::string &content = written_[operation.file];
      content.resize(std::max(content.size(), operation.offset + operation.bytes.size()), '\0');
      content.replace(operation.offset, operation.bytes.size(), operation.bytes);
      break;
    }
    case Kind::sync: sync(operation.file); break;
    case Kind::rename: {
      const int file = names_.at(operation.path);
      names_.erase(operation.path);
      names_[operation.to] = file;
      break;
    }
    case Kind::unlink: names_.erase(operation.path); break;
    case Kind::mkdir: names_[operation.path] = 0; break;
    }
  }

  /// What is there after a crash, by path. Only synced bytes are; of names either the synced ones,
  /// or, as the disk pleases, all. Folders have no content.
  std::map<std::string, std::string> after_crash(bool all_names) const {
    std::map<std::string, std::string> files;
    for (const auto &[path, file] : all_names ? names_ : synced_names_)
      if (file != 0) {
        const auto content = synced_.find(file);
        files[path] = content == synced_.end() ? "" : content->second;
      }
    return files;
  }
  bool has_folder(const std::string &path, bool all_names) const {
    return (all_names ? names_ : synced_names_).contains(path);
  }

private:
  void sync(int file) {
    const auto folder = folders_.find(file);
    if (folder == folders_.end()) {
      if (!lies_.of_files) synced_[file] = written_[file];
      return;
    }
    if (lies_.of_folders) return;
    const auto within = [&](const std::string &path) {
      return path.substr(0, path.rfind('/')) == folder->second;
    };
    std::erase_if(synced_names_, [&](const auto &entry) { return within(entry.first); });
    for (const auto &[path, number] : names_)
      if (within(path)) synced_names_[path] = number;
  }

  const Lies lies_;
  std::map<int, std::string> open_, folders_;
  std::map<std::string, int> names_, synced_names_; ///< files' numbers, 0 for folders
  std::map<int, std::string> written_, synced_;
};

} // namespace weft
