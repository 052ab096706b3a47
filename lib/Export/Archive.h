// An archive that is open: mapped, every offset in it checked, and its parts compared with their
// digests.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "Export/Manifest.h"
#include "IO/InputFile.h"
#include "IO/Safetensors.h"
#include <weft/tensor.h>

namespace weft::archive {

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

} // namespace weft::archive
