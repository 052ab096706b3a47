// The format safetensors: headers, read with limits, open files, of which many tensors are read at
// once, and files with digests, written in one pass over the tensors.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "IO/InputFile.h"
#include "Support/Fault.h"
#include "Support/Files.h"
#include <weft/safetensors.h>

namespace weft {

/// The longest header that a file may have, in bytes, and the most tensors.
constexpr std::uint64_t kMaxSafetensorsHeader = 100'000'000;
constexpr std::size_t kMaxSafetensors = 1'000'000;

/// Begins the names of metadata that Weft checks its own files by.
constexpr std::string_view kDigestPrefix = "weft.digest.";
constexpr std::string_view kHeaderDigest = "weft.header";
/// Begins those that say of a tensor of F64 that it is of complex numbers.
constexpr std::string_view kPairsPrefix = "weft.pairs.";
/// Begins those that say what a tensor is a piece of: see PieceOfTensor.
constexpr std::string_view kPiecePrefix = "weft.piece.";

struct SafetensorsHeader {
  std::vector<SafetensorsEntry> entries;    ///< by name
  std::vector<std::uint64_t> offsets;       ///< of the entries' elements, behind the header
  std::map<std::string, std::string> texts; ///< all of the metadata
};

/// Reads a header that `data_bytes` of elements follow. Faults are of kind io and say what is
/// wrong, without the file's name.
Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, std::uint64_t data_bytes);

/// The bits of an element of that dtype of the format; nothing if it is not known.
std::optional<unsigned> safetensors_bits(std::string_view dtype);
/// The name of the dtype in the format.
std::string_view safetensors_dtype(DType dtype);
/// Reads the name of a dtype that Weft has.
std::optional<DType> parse_safetensors_dtype(std::string_view name);

/// A tensor that is to be written: contiguous, with elements.
struct SafetensorsItem {
  std::string name;
  Tensor tensor;
};

/// Brings them into the order of the format: wide dtypes first, so that all elements are aligned.
void sort_for_safetensors(std::vector<SafetensorsItem> &items);
/// The header of items in that order, filled up with spaces so that 8 bytes and it are a multiple
/// of `alignment`, itself one of 8. Throws ValueError for texts that are not UTF-8 and for more
/// than the format allows.
std::string make_safetensors_header(const std::vector<SafetensorsItem> &items,
                                    const std::map<std::string, std::string> &texts,
                                    std::size_t alignment = 8);

/// One file of an open one, which has several where an index names them.
struct SafetensorsShard {
  InputFile file;
  SafetensorsHeader header;
  std::uint64_t data = 0; ///< where the elements start

  /// Opens and checks it.
  explicit SafetensorsShard(const std::string &path);
};

/// A run of a tensor's elements, in row-major order, which is a tensor of one dimension in a file;
/// the others are in other files, and an index has them together.
struct PieceOfTensor {
  std::string of; ///< the name of the whole
  Shape whole;
  std::int64_t begin = 0; ///< the number of the first element

  std::string text() const;
  static std::optional<PieceOfTensor> parse(std::string_view text);
};

struct SafetensorsFile::State {
  /// Where a run of a tensor's elements is.
  struct Run {
    const SafetensorsShard *shard;
    std::uint64_t offset; ///< in the file
    std::string digest;   ///< empty if there is none
    std::string name;     ///< of the tensor in the file
    std::uint64_t bytes;
  };
  /// Those of a tensor, in order: one, or those of its pieces.
  using Elements = std::vector<Run>;
  std::string path;
  std::vector<std::unique_ptr<SafetensorsShard>> shards;
  std::vector<SafetensorsEntry> entries; ///< by name
  std::vector<Elements> elements;        ///< of the entries
  std::map<std::string, std::string> texts;
};

/// What is read of a file: a tensor, or a run of its elements, as a tensor of one dimension.
struct WantedTensor {
  WantedTensor(std::string name) : name(std::move(name)) {}
  WantedTensor(std::string name, std::pair<std::int64_t, std::int64_t> run)
      : name(std::move(name)), run(run) {}

  std::string name;
  std::optional<std::pair<std::int64_t, std::int64_t>> run = std::nullopt;
};

/// These, in their order, read on all threads. Throws what SafetensorsFile::load does.
std::vector<Tensor> load_tensors(const SafetensorsFile &file,
                                 const std::vector<WantedTensor> &wanted,
                                 const SafetensorsOptions &options);

struct SafetensorsIndex {
  std::map<std::string, std::string> files;   ///< which has a tensor, by its name
  std::map<std::string, std::string> digests; ///< of headers, by files, where it says them
};
/// What an index says. Throws IOError.
SafetensorsIndex read_safetensors_index(const InputFile &file);
/// The text of an index of files that Weft has written, as the format has it, and besides what
/// pieces there are of which tensors, and the digests of the headers.
std::string
make_safetensors_index(const std::vector<std::pair<std::string, const SafetensorsShard *>> &files);

/// The dtype that a tensor of the file has in memory, if there is one.
std::optional<DType> loaded_dtype(std::string_view dtype, const SafetensorsOptions &options);

/// Writes all of a file but its name: what is left is to commit it. Adds the digests to the texts.
/// With `beside_others`, who want the processors meanwhile, a large file takes less of their time,
/// and on a disk with a fast cache more of its own. Throws IOError and ValueError.
/// Gives the digest of the header.
std::string write_safetensors(AtomicFile &file, std::vector<SafetensorsItem> items,
                              std::map<std::string, std::string> texts, bool beside_others = false);

/// How a file of items begins that have this order: the length of the header and the header, with
/// its own digest added to the texts. They fill a multiple of `alignment` bytes.
std::string safetensors_beginning(const std::vector<SafetensorsItem> &items,
                                  std::map<std::string, std::string> &texts,
                                  std::size_t alignment = 8);

/// The tensor, contiguous, as it can be written. Throws StateError, naming `function` and it, if it
/// has no elements to write.
SafetensorsItem writable_item(const std::string &function, const std::string &name,
                              const Tensor &tensor);

} // namespace weft
