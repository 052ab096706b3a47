// Regular files that are read: at any offset, as mapped memory, or whole; and errors that name
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "Support/CallSite.h"
#include "Support/Fault.h"

namespace weft {

/// Every fault is an IOError that starts with the file's name. Reads may come from any thread.
class InputFile {
public:
  /// Opens it. Refuses folders, pipes and devices.
  explicit InputFile(std::string path);
  ~InputFile();
  InputFile(const InputFile &) = delete;
  InputFile &operator=(const InputFile &) = delete;

  const std::string &path() const { return path_; }
  /// In bytes, when it was opened.
  std::uint64_t size() const { return size_; }
  /// Reads exactly these bytes; `what` names the part of the file that they are.
  void read_at(std::uint64_t offset, void *bytes, std::size_t size, const char *what) const;
  [[noreturn]] void fail(const std::string &what) const;
  /// Of the open file; for as long as this lives.
  int descriptor() const { return descriptor_; }

private:
  const std::string path_;
  int descriptor_ = -1;
  std::uint64_t size_ = 0;
};

/// The bytes of a regular file, for reading. Who makes the file shorter while this lives ends the
/// process; one that replaces it does no harm.
class MappedFile {
public:
  /// Throws IOError as InputFile does, and if there is no memory.
  explicit MappedFile(const std::string &path);
  ~MappedFile();
  MappedFile(const MappedFile &) = delete;
  MappedFile &operator=(const MappedFile &) = delete;

  const std::string &path() const { return file_.path(); }
  std::string_view bytes() const { return {memory_, static_cast<std::size_t>(file_.size())}; }
  [[noreturn]] void fail(const std::string &what) const { file_.fail(what); }

private:
  const InputFile file_;
  const char *memory_ = nullptr;
};

/// All bytes of a file. Throws IOError if there are more than `limit`, OutOfMemory if there is no
/// room for them.
std::string read_file(const std::string &path, std::uint64_t limit = ~std::uint64_t{0});

/// A string of so many bytes; throws OutOfMemory, naming the file, if they cannot be had.
std::string bytes_for(const std::string &path, std::uint64_t size);

/// Gives what `read()` gives. An error that does not name the file gets its name in front, and
/// memory that cannot be had, of a container too, is OutOfMemory.
template <class Read>
auto naming(const std::string &path, const Read &read) {
  try {
    return read();
  } catch (const Error &error) {
    std::string words(error.message());
    if (words.find(path) != std::string::npos) throw;
    if (const char *const function = CallSite::function();
        function != nullptr && words.starts_with(std::string(function) + ": "))
      words.erase(0, std::string(function).size() + 2);
    raise(error.kind(), path + ": " + words);
  } catch (const std::bad_alloc &) {
    raise(ErrorKind::out_of_memory, path + ": what it holds takes more memory than can be had");
  }
}

} // namespace weft
