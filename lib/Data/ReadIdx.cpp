// read_idx: the elements of an IDX file as a tensor.
#include <weft/data/files.h>

#include "Data/Idx.h"
#include "IO/InputFile.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Files.h"

#include <cstring>

namespace weft::data {
namespace {

// The file's elements of type From, each as a To that holds every From.
template <class From, class To>
Tensor widened(const IdxArray &array) {
  Tensor result = weft::detail::new_tensor(dtype_of<To>, Shape(array.header.dims));
  To *const values = weft::detail::elements<To>(result);
  for (std::size_t i = 0; i < array.bytes.size() / sizeof(From); ++i) {
    From value;
    std::memcpy(&value, array.bytes.data() + i * sizeof(From), sizeof(From));
    values[i] = static_cast<To>(value);
  }
  return result;
}

Tensor as_tensor(const IdxArray &array) {
  switch (array.header.type) {
  case IdxType::u8: return widened<std::uint8_t, std::int32_t>(array);
  case IdxType::i8: return widened<std::int8_t, std::int32_t>(array);
  case IdxType::i16: return widened<std::int16_t, std::int32_t>(array);
  case IdxType::i32: return widened<std::int32_t, std::int32_t>(array);
  case IdxType::f32: return widened<float, float>(array);
  case IdxType::f64: return widened<double, double>(array);
  }
  raise(ErrorKind::internal, "read_idx: a header was accepted whose type has no case");
}

} // namespace

Tensor read_idx(const std::string &path, IdxOptions options, std::source_location where) {
  const CompositeCall site("read_idx", where);
  check_path("read_idx", path);
  return naming(path, [&] {
    const Tensor read = as_tensor(read_idx_file(path));
    return options.dtype ? read.astype(*options.dtype) : read;
  });
}

} // namespace weft::data
