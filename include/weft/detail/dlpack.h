// The layout of DLPack 1.1, which is an ABI, for bindings of other languages.
#pragma once

#include <cstdint>
#include <string>

#include <weft/dlpack.h>
#include <weft/dtype.h>
#include <weft/shape.h>
#include <weft/tensor.h>

namespace weft::detail::dlpack {

struct ArrayDevice {
  std::int32_t type, index;
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
/// Its DLTensor.
struct Array {
  void *data;
  ArrayDevice device;
  std::int32_t rank;
  DataType dtype;
  std::int64_t *shape;
  std::int64_t *strides; ///< in elements; null: row-major
  std::uint64_t byte_offset;
};
/// Its DLManagedTensor.
struct Managed {
  Array array;
  void *context;
  void (*deleter)(Managed *self);
};
/// Its DLManagedTensorVersioned.
struct ManagedVersioned {
  std::uint32_t major, minor;
  void *context;
  void (*deleter)(ManagedVersioned *self);
  std::uint64_t flags;
  Array array;
};

inline constexpr std::int32_t kCpu = 1, kCuda = 2, kCudaHost = 3;
inline constexpr std::uint64_t kReadOnly = 1, kCopied = 2; ///< flags
inline constexpr std::uint32_t kMajor = 1, kMinor = 1;

/// The dtype of such elements, if there is one.
std::optional<DType> dtype_of(const DataType &dtype);

/// An array as it lies in memory.
struct Layout {
  std::byte *data = nullptr; ///< the first element
  Shape shape;
  Ints strides; ///< in elements
};
/// Reads it. Errors begin with `what`, what the user calls the array. Throws ValueError for one
/// that the host cannot read.
Layout layout_of(const Array &array, const std::string &what);
/// Whether it is in memory of a GPU that CUDA manages.
inline bool is_cuda(const Array &array) { return array.device.type == kCuda; }
/// A tensor on such memory, or a copy there, behind all work that the device was given.
/// `owner.release` runs as for foreign_tensor. Throws DeviceError where Weft does not use the
/// device.
Tensor cuda_tensor(const Array &array, const std::string &what, ExternalOwner owner, bool copy);
/// Throws ValueError for a version that is not spoken here.
void check_version(const ManagedVersioned &array, const std::string &what);

inline Managed *managed(DLManagedTensor *array) { return reinterpret_cast<Managed *>(array); }
inline ManagedVersioned *managed(DLManagedTensorVersioned *array) {
  return reinterpret_cast<ManagedVersioned *>(array);
}

} // namespace weft::detail::dlpack
