// Reads and frames records of the TFRecord format.
#include "IO/Records.h"

#include <cstring>

#include "Support/Digest.h"

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

std::optional<std::string> RecordReader::next() {
  const auto damaged = [&](const char *what) {
    file_.fail("record " + std::to_string(record_) + " is damaged: the checksum of its " + what +
               " is wrong");
  };
  const std::uint64_t left = file_.size() - at_;
  if (left < kHeader + kFooter) return std::nullopt;
  char header[kHeader];
  file_.read_at(at_, header, kHeader, "record");
  if (masked_crc32c({header, 8}) != number_at<std::uint32_t>(header + 8)) damaged("length");
  const auto length = number_at<std::uint64_t>(header);
  if (length > left - kHeader - kFooter) return std::nullopt;
  std::string bytes(length + kFooter, '\0');
  file_.read_at(at_ + kHeader, bytes.data(), bytes.size(), "record");
  const auto crc = number_at<std::uint32_t>(bytes.data() + length);
  bytes.resize(length);
  if (masked_crc32c(bytes) != crc) damaged("bytes");
  at_ += kHeader + length + kFooter;
  ++record_;
  return bytes;
}

} // namespace weft
