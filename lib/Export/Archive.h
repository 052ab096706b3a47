// Archives of programs: what one says of itself, its manifest, as values and as JSON; reading one,
// mapped and checked; and writing one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "IO/InputFile.h"
#include "IO/Safetensors.h"
#include "Program/CompilerBackend.h"
#include "Support/Fault.h"
#include <weft/shape.h>
#include <weft/tensor.h>

namespace weft::archive {

/// Bytes of the file, and the SHA-256 digest of what they must be, in hexadecimal digits.
struct Region {
  std::uint64_t offset = 0, size = 0;
  std::string digest;
  bool operator==(const Region &) const = default;
};

/// Object code of an entry for one kind of processor, and of its kernels for one of GPUs.
struct Object {
  std::string processor; ///< "x86-64-v3", or LLVM's name of the one that exported it
  std::string features;  ///< the instruction sets that it needs, comma-separated
  std::string symbol;    ///< of the entry
  std::uint64_t arena_bytes = 0;
  std::vector<std::size_t> variables; ///< CompiledCode::variables
  Region code;
  std::string chip; ///< of a GPU, "sm_90a"; empty for code of the processor alone
  Region ptx;
  bool operator==(const Object &) const = default;
};

/// Where in the user's source an op call stands, by its number. Line 0 if that is not known.
struct Line {
  std::uint32_t file = 0, line = 0, column = 0;
  std::uint32_t function = 0; ///< number of the function called there, counted from 1; 0 if none
  bool operator==(const Line &) const = default;
};

/// What can be called: a program for some types of its arguments.
struct Entry {
  std::vector<TensorType> inputs, outputs;
  std::vector<std::size_t> captures;  ///< numbers in Manifest::captures
  std::vector<std::size_t> variables; ///< numbers in Manifest::variables
  std::vector<bool> written;          ///< of the variables, in this entry
  SavedProgram program;               ///< without the bytecode
  Region bytecode;
  std::vector<Object> objects;
  std::vector<std::string> files, functions;
  std::vector<Line> lines; ///< by the number of the op call, see Program/Sites.h
  bool operator==(const Entry &) const = default;
};

struct StoredVariable {
  std::string name; ///< unlike all others; also that of its tensor among the weights
  TensorType type;
  bool operator==(const StoredVariable &) const = default;
};

struct Manifest {
  std::string weft; ///< the version that wrote it
  int runtime_abi = 0;
  std::string name;
  std::vector<StoredVariable> variables;
  std::vector<std::string> captures; ///< names of tensors among the weights
  /// A safetensors file, aligned to kWeightsAlignment. Its digest is that of the file's header,
  /// which has those of the tensors.
  Region weights;
  std::vector<Entry> entries;
  bool operator==(const Manifest &) const = default;
};

/// The first bytes of an archive.
inline constexpr std::string_view kMagic = "WEFTPROG";
inline constexpr std::uint32_t kMajor = 3, kMinor = 0;
/// That of archives without code for GPUs, and the oldest that is read.
inline constexpr std::uint32_t kLeastMajor = 2;
/// Magic, major and minor version, the bytes of the file, offset and size of the manifest, and the
/// digest of all that and the manifest.
inline constexpr std::uint64_t kHeaderBytes = 8 + 4 + 4 + 8 + 8 + 8 + 32;
inline constexpr std::uint64_t kWeightsAlignment = 4096;
/// Of object code and bytecode.
inline constexpr std::uint64_t kRegionAlignment = 64;
/// The longest manifest that is read.
inline constexpr std::uint64_t kMaxManifest = 256 << 20;

std::string to_json(const Manifest &manifest);
/// Reads what `to_json` wrote. Every number that counts something of the manifest is checked; where
/// regions lie is for the reader of the file. The fault is of kind io and continues "FILE: ".
Result<Manifest> parse_manifest(std::string_view text);

/// "f32(?, 784), i64(?,)".
std::string list_of(const std::vector<TensorType> &types);

/// All members may be called from any thread. Always held by a shared_ptr: tensors keep it.
class Archive : public std::enable_shared_from_this<Archive> {
public:
  /// Throws IOError, naming the file, for one that is no archive, of a newer major version,
  /// truncated or damaged. With `verify_weights` the elements are read now.
  static std::shared_ptr<const Archive> open(const std::string &path, bool verify_weights);

  const std::string &path() const { return file_.path(); }
  const Manifest &manifest() const { return manifest_; }
  std::string_view bytes(const Region &region) const {
    return file_.bytes().substr(region.offset, region.size);
  }
  /// A tensor on the mapped memory.
  Tensor weight(const std::string &name) const;
  [[noreturn]] void fail(const std::string &what) const { file_.fail(what); }

private:
  explicit Archive(const std::string &path) : file_(path) {}
  void read_manifest();
  void check_regions() const;
  void check_digest(const Region &region, std::string_view bytes, const std::string &what) const;
  void read_weights();
  void check_weights() const;
  void check_names() const;
  std::size_t find(const std::string &name) const;

  const MappedFile file_;
  Manifest manifest_;
  SafetensorsHeader weights_;
  std::uint64_t elements_ = 0; ///< where those of the weights start
};

/// What goes into an archive. Of the manifest all but the regions is set.
struct Contents {
  Manifest manifest;
  /// Contiguous, with names that are unlike.
  std::vector<SafetensorsItem> weights;
  std::vector<std::string> bytecode;             ///< of the entries
  std::vector<std::vector<std::string>> objects; ///< of the entries
  std::vector<std::vector<std::string>> ptx;     ///< of these, empty for processors alone
};

/// Writes it as a whole or not at all. Throws IOError, and ValueError for names that are not UTF-8.
void write_archive(const std::string &path, Contents contents);

} // namespace weft::archive
