// Files of named tensors: the safetensors format, in one file or in several with an index.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <weft/tensor.h>

namespace weft {

/// What a file says of one of its tensors.
struct SafetensorsEntry {
  std::string name;
  std::string dtype; ///< as the format spells it: "F32", "BF16"
  Shape shape;
  std::uint64_t bytes = 0; ///< of its elements in the file
};

struct SafetensorsOptions {
  /// Reads F16 and BF16 as f32, for programs that compute in it.
  bool widen = false;
};

/// An open file in the safetensors format, of which single tensors can be read. Copies are the same
/// file, and may be used from any thread.
class SafetensorsFile {
public:
  /// Opens `path`, or, if that ends in ".json", the files that such an index names
  /// ("model.safetensors.index.json"). Reads and checks what is in it, but no tensor. Throws
  /// IOError, naming the file and what is wrong with it, for one that is missing, truncated, too
  /// long, no regular file, or that breaks a rule of the format: tensors that overlap or leave
  /// holes, names that are there twice, more than a million tensors.
  explicit SafetensorsFile(const std::string &path, std::source_location where = WEFT_HERE);

  const std::string &path() const;
  /// All tensors, by name. (Not of a temporary: a loop over its entries would outlive it.)
  const std::vector<SafetensorsEntry> &entries() const &;
  void entries() const && = delete;
  /// That of this name, or null.
  const SafetensorsEntry *find(std::string_view name) const;
  /// The texts beside the tensors, without those that Weft checks its own files by.
  const std::map<std::string, std::string> &metadata() const &;
  void metadata() const && = delete;

  /// Reads a tensor. Throws IOError if there is none of that name, it cannot be read, or it is not
  /// what its digest says (files that Weft wrote have one for each tensor); DTypeError for a dtype
  /// that Weft lacks; OutOfMemory if it does not fit.
  Tensor load(std::string_view name, const SafetensorsOptions &options = {},
              std::source_location where = WEFT_HERE) const;

  struct State;
  /// For the library itself.
  const State &state() const { return *state_; }

private:
  std::shared_ptr<const State> state_;
};

/// Reads all tensors of a file, or of an index and its files; see SafetensorsFile.
std::map<std::string, Tensor> load_safetensors(const std::string &path,
                                               const SafetensorsOptions &options = {},
                                               std::source_location where = WEFT_HERE);

/// Writes tensors and texts as a safetensors file, with a digest of each tensor in its metadata. It
/// appears as a whole or not at all, as `save_npy` has it. Throws IOError, StateError for a tensor
/// that is undefined or traced, and ValueError for names and texts that are not UTF-8, the name
/// "__metadata__", and metadata whose names begin with "weft.".
void save_safetensors(const std::string &path, const std::map<std::string, Tensor> &tensors,
                      const std::map<std::string, std::string> &metadata = {},
                      std::source_location where = WEFT_HERE);

} // namespace weft
