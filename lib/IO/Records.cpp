// Reads and frames records of the TFRecord format.
#include "IO/Records.h"

#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>

#include "Support/Crc32c.h"
#include <weft/error.h>

namespace weft {

namespace {

constexpr std::size_t kHeader = 12, kFooter = 4;

template <class T>
void append(std::string &to, T value) {
  to.append(reinterpret_cast<const char *>(&value), sizeof value);
}
template <class T>
T number_at(const char *bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

} // namespace

std::string framed_record(std::string_view bytes) {
  std::string framed;
  framed.reserve(kHeader + bytes.size() + kFooter);
  append(framed, std::uint64_t{bytes.size()});
  append(framed, masked_crc32c(framed));
  framed.append(bytes);
  append(framed, masked_crc32c(bytes));
  return framed;
}

RecordReader::RecordReader(std::string path) : path_(std::move(path)) {
  // A pipe that nobody writes would wait.
  const int descriptor = open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor >= 0) file_.reset(fdopen(descriptor, "rb"));
  struct stat status{};
  if (file_ == nullptr || fstat(descriptor, &status) != 0)
    throw IOError(path_ + ": cannot be opened: " + std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw IOError(path_ + ": is no regular file");
}

void RecordReader::fail(const std::string &what) const {
  throw IOError(path_ + ": record " + std::to_string(record_) + " " + what);
}

void RecordReader::seek(std::uint64_t position, std::uint64_t record) {
  if (fseeko(file_.get(), static_cast<off_t>(position), SEEK_SET) != 0)
    throw IOError(path_ + ": cannot be read: " + std::strerror(errno));
  at_ = position;
  record_ = record;
}

std::optional<std::string> RecordReader::next() { return read(false); }
std::optional<std::string> RecordReader::next_whole() { return read(true); }

std::optional<std::string> RecordReader::read(bool may_be_cut) {
  const auto got = [&](void *bytes, std::size_t size) {
    const std::size_t count = std::fread(bytes, 1, size, file_.get());
    if (count < size && std::ferror(file_.get()) != 0)
      fail(std::string("cannot be read: ") + std::strerror(errno));
    return count;
  };
  const auto cut = [&]() -> std::optional<std::string> {
    if (may_be_cut) {
      seek(at_, record_);
      return std::nullopt;
    }
    fail("is cut off by the end of the file");
  };
  // What a writer adds later is read later.
  std::clearerr(file_.get());
  char header[kHeader];
  const std::size_t count = got(header, sizeof header);
  if (count == 0) return std::nullopt;
  if (count < sizeof header) return cut();
  if (masked_crc32c({header, 8}) != number_at<std::uint32_t>(header + 8))
    fail("is damaged: the checksum of its length is wrong");
  const auto length = number_at<std::uint64_t>(header);
  struct stat status{};
  if (fstat(fileno(file_.get()), &status) != 0)
    fail(std::string("cannot be read: ") + std::strerror(errno));
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size < at_ + kHeader + kFooter || length > size - at_ - kHeader - kFooter) return cut();
  std::string bytes(length, '\0');
  char footer[kFooter];
  if (got(bytes.data(), length) < length || got(footer, sizeof footer) < sizeof footer)
    return cut();
  if (masked_crc32c(bytes) != number_at<std::uint32_t>(footer))
    fail("is damaged: its checksum is wrong");
  at_ += kHeader + length + kFooter;
  ++record_;
  return bytes;
}

} // namespace weft
