// Reads .npz files: ZIP archives of .npy arrays, by their central directory.
#include <weft/data/files.h>

#include <zlib.h>

#include "IO/InputFile.h"
#include "IO/Npy.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Messages.h"

namespace weft::data {

namespace {

// All numbers of ZIP are little-endian (PKWARE's APPNOTE.TXT).
std::uint32_t number_at(std::string_view bytes, std::size_t at, std::size_t size) {
  std::uint32_t value = 0;
  for (std::size_t i = size; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

constexpr std::size_t kEndBytes = 22, kEntryBytes = 46, kLocalBytes = 30;
/// Sizes of 2^32 - 1 stand in a record of ZIP64.
constexpr std::uint32_t kElsewhere = 0xffffffff;
/// What DEFLATE can make of a byte, at most: 258 bytes of 2 bits.
constexpr std::uint64_t kMostPerByte = 1032;

struct Member {
  std::string name;
  std::uint32_t method = 0, flags = 0, crc = 0;
  std::uint64_t packed = 0, size = 0, local = 0;
};

class Archive {
public:
  explicit Archive(const std::string &path) : file_(path) { read_directory(); }
  const std::vector<Member> &members() const { return members_; }
  const InputFile &file() const { return file_; }

  /// The bytes of a member, checked.
  std::string read(const Member &member) const {
    const std::string name = "member '" + shown(member.name) + "'";
    if (member.flags & 1) file_.fail(name + " is encrypted");
    if (member.method != 0 && member.method != 8)
      file_.fail(name + " is compressed by method " + std::to_string(member.method) +
                 "; 0 (stored) and 8 (deflated) are known");
    const std::uint64_t most = member.method == 0 ? member.packed : member.packed * kMostPerByte;
    if (member.size > most || (member.method == 0 && member.size != member.packed))
      file_.fail(name + " is said to hold " + std::to_string(member.size) + " bytes in " +
                 std::to_string(member.packed) + ", which cannot be");
    const std::string packed = packed_bytes(member, name);
    std::string bytes = member.method == 0 ? packed : inflated(packed, member, name);
    if (crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()) != member.crc)
      file_.fail(name + " is damaged: its checksum is another");
    return bytes;
  }

private:
  std::string read_part(std::uint64_t at, std::uint64_t size, const char *what) const {
    if (at > file_.size() || size > file_.size() - at)
      file_.fail(std::string("is damaged: its ") + what + " lies behind the end");
    std::string bytes = bytes_for(file_.path(), size);
    file_.read_at(at, bytes.data(), bytes.size(), what);
    return bytes;
  }

  void read_directory() {
    // The last record has a comment of up to 64 KiB behind it.
    const std::uint64_t tail = std::min<std::uint64_t>(file_.size(), kEndBytes + 0xffff);
    const std::string end = read_part(file_.size() - tail, tail, "end");
    const std::size_t at = end.rfind("PK\5\6");
    if (at == std::string::npos || end.size() - at < kEndBytes)
      file_.fail("is not a .npz file, or truncated: it has no directory of ZIP at its end");
    const std::uint32_t count = number_at(end, at + 10, 2), size = number_at(end, at + 12, 4),
                        start = number_at(end, at + 16, 4);
    if (number_at(end, at + 4, 2) != 0 || number_at(end, at + 8, 2) != count)
      file_.fail("is one of several parts of an archive");
    if (count == 0xffff || start == kElsewhere)
      file_.fail("is an archive of more than 4 GiB or 65,534 members, which is not supported");
    const std::string directory = read_part(start, size, "directory");
    for (std::size_t entry = 0; members_.size() < count;) entry = read_entry(directory, entry);
    // Members that share their bytes make a small file as large as one pleases.
    std::uint64_t packed = 0;
    for (const Member &member : members_) packed += member.packed + kLocalBytes;
    if (packed > file_.size())
      file_.fail("is damaged: its members are said to take " + std::to_string(packed) +
                 " bytes, and it has " + std::to_string(file_.size()));
  }

  std::size_t read_entry(std::string_view directory, std::size_t at) {
    if (directory.size() < at + kEntryBytes || directory.substr(at, 4) != "PK\1\2")
      file_.fail("is damaged: entry " + std::to_string(members_.size()) +
                 " of its directory is none");
    const std::size_t name = number_at(directory, at + 28, 2);
    const std::size_t next = at + kEntryBytes + name + number_at(directory, at + 30, 2) +
                             number_at(directory, at + 32, 2);
    if (next > directory.size())
      file_.fail("is damaged: entry " + std::to_string(members_.size()) +
                 " of its directory is cut off");
    Member member;
    member.name = directory.substr(at + kEntryBytes, name);
    member.flags = number_at(directory, at + 8, 2);
    member.method = number_at(directory, at + 10, 2);
    member.crc = number_at(directory, at + 16, 4);
    member.packed = number_at(directory, at + 20, 4);
    member.size = number_at(directory, at + 24, 4);
    member.local = number_at(directory, at + 42, 4);
    if (member.packed == kElsewhere || member.size == kElsewhere || member.local == kElsewhere)
      file_.fail("member '" + shown(member.name) +
                 "' is larger than 4 GiB, which is not supported");
    members_.push_back(std::move(member));
    return next;
  }

  std::string packed_bytes(const Member &member, const std::string &name) const {
    const std::string local = read_part(member.local, kLocalBytes, "member");
    if (!local.starts_with("PK\3\4")) file_.fail(name + " is not where the directory says");
    const std::uint64_t start =
        member.local + kLocalBytes + number_at(local, 26, 2) + number_at(local, 28, 2);
    return read_part(start, member.packed, "member");
  }

  std::string inflated(const std::string &packed, const Member &member,
                       const std::string &name) const {
    std::string bytes = bytes_for(file_.path(), member.size);
    z_stream stream{};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) file_.fail(name + " cannot be decompressed");
    // Both sizes are below 4 GiB.
    stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(packed.data()));
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef *>(bytes.data());
    stream.avail_out = static_cast<uInt>(bytes.size());
    const int status = inflate(&stream, Z_FINISH);
    const bool whole = status == Z_STREAM_END && stream.avail_out == 0 && stream.avail_in == 0;
    inflateEnd(&stream);
    if (!whole) file_.fail(name + " is damaged: it cannot be decompressed to its size");
    return bytes;
  }

  InputFile file_;
  std::vector<Member> members_;
};

} // namespace

namespace {

std::map<std::string, Tensor> read_arrays(const std::string &path) {
  const Archive archive(path);
  std::map<std::string, Tensor> arrays;
  for (const Member &member : archive.members()) {
    std::string name = member.name;
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    Tensor array =
        read_npy_bytes(archive.read(member), path + ": member '" + shown(member.name) + "'");
    if (!arrays.emplace(name, std::move(array)).second)
      archive.file().fail("has two members '" + shown(name) + "'");
  }
  return arrays;
}

} // namespace

std::map<std::string, Tensor> read_npz(const std::string &path, std::source_location where) {
  const CompositeCall site("read_npz", where);
  check_path("read_npz", path);
  return naming(path, [&] { return read_arrays(path); });
}

} // namespace weft::data
