// Reads and writes .npy files.
#include <weft/io.h>

#include <cstring>

#include "IO/InputFile.h"
#include "IO/Naming.h"
#include "IO/NpyBytes.h"
#include "IO/NpyHeader.h"
#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include "Support/Files.h"

namespace weft {

namespace {

/// NumPy's own limit is 10,000 characters, for anything longer is not an array but an attack.
constexpr std::size_t kMaxHeader = std::size_t{1} << 16;

/// A file that is read from its start on.
class Input {
public:
  explicit Input(const std::string &path) : file_(path) {}

  [[noreturn]] void fail(const std::string &what) const { file_.fail(what); }

  void read(void *bytes, std::size_t size, const char *what) {
    file_.read_at(at_, bytes, size, what);
    at_ += size;
  }
  std::size_t read_integer(std::size_t size) {
    unsigned char bytes[4];
    read(bytes, size, "header");
    std::size_t value = 0;
    for (std::size_t i = size; i-- > 0;) value = value << 8 | bytes[i];
    return value;
  }
  /// Refuses sizes that do not agree before memory is taken for them.
  void expect_left(std::size_t bytes) const {
    if (file_.size() - at_ == bytes) return;
    fail("its header asks for " + std::to_string(bytes) + " bytes of elements, but " +
         std::to_string(file_.size() - at_) + " follow");
  }

private:
  const InputFile file_;
  std::uint64_t at_ = 0;
};

/// The elements of a boolean file must be 0 or 1: any other bool is undefined behaviour.
void check_booleans(const Input &file, const Tensor &tensor) {
  if (tensor.dtype() != DType::boolean) return;
  const auto *bytes = reinterpret_cast<const unsigned char *>(tensor.impl()->data);
  for (std::int64_t i = 0; i < tensor.size(); ++i)
    if (bytes[i] > 1)
      file.fail("element " + std::to_string(i) + " of dtype bool is " + std::to_string(bytes[i]));
}

/// The tensor's elements as a file has them. Throws StateError, in the name of `call`.
Tensor stored_elements(const std::string &call, const Tensor &tensor) {
  if (!tensor.defined()) throw StateError(call + " is undefined");
  if (tensor.traced()) throw StateError(call + " stands for a value of a traced function");
  return make_contiguous(tensor);
}

std::string_view bytes_of(const Tensor &contiguous) {
  return {reinterpret_cast<const char *>(contiguous.impl()->data),
          static_cast<std::size_t>(contiguous.size()) * item_size(contiguous.dtype())};
}

Tensor read_npy(const std::string &path) {
  Input file(path);
  char magic[6];
  file.read(magic, sizeof magic, "header");
  if (std::memcmp(magic, "\x93NUMPY", sizeof magic) != 0)
    file.fail("is not a .npy file: it does not start with \\x93NUMPY");
  const std::size_t major = file.read_integer(1), minor = file.read_integer(1);
  if (major < 1 || major > 3)
    file.fail("has version " + std::to_string(major) + "." + std::to_string(minor) +
              " of the .npy format; 1.0 to 3.0 are known");
  const std::size_t length = file.read_integer(major == 1 ? 2 : 4);
  if (length > kMaxHeader)
    file.fail("has a header of " + std::to_string(length) + " bytes, more than " +
              std::to_string(kMaxHeader));
  std::string text(length, '\0');
  file.read(text.data(), length, "header");
  const Result<NpyHeader> header = parse_npy_header(text);
  if (!header) file.fail(header.fault().message);

  const Shape &shape = header->type.shape;
  // Fortran order is the transposed of an array in C order with the sizes turned round.
  Shape stored = shape;
  if (header->fortran_order)
    for (std::size_t i = 0; i < shape.size(); ++i) stored[i] = shape[shape.size() - 1 - i];
  const std::size_t bytes = detail::checked_tensor_bytes(header->type.dtype, stored);
  file.expect_left(bytes);
  Tensor result = detail::new_tensor(header->type.dtype, stored);
  file.read(result.impl()->data, bytes, "elements");
  check_booleans(file, result);
  if (!header->fortran_order || shape.size() < 2) return result;
  Ints strides;
  for (std::size_t i = 0; i < shape.size(); ++i)
    strides.push_back(result.impl()->strides()[shape.size() - 1 - i]);
  return make_contiguous(detail::new_view(result, shape, strides, 0));
}

} // namespace

Tensor load_npy(const std::string &path, std::source_location where) {
  const CallSite site(where);
  check_path("load_npy", path);
  return naming(path, [&] { return read_npy(path); });
}

void save_npy(const std::string &path, const Tensor &tensor, std::source_location where) {
  const CallSite site(where);
  check_path("save_npy", path);
  const Tensor source = stored_elements("save_npy: the tensor for " + path, tensor);
  AtomicFile file(path);
  const std::string header = make_npy_header(source.type());
  file.write(header.data(), header.size());
  file.write(bytes_of(source).data(), bytes_of(source).size());
  file.commit();
}

Tensor decode_npy(std::string_view bytes, std::source_location where) {
  const CallSite site(where);
  return read_npy_bytes(bytes, "decode_npy: the array");
}

std::string encode_npy(const Tensor &tensor, std::source_location where) {
  const CallSite site(where);
  const Tensor source = stored_elements("encode_npy: the tensor", tensor);
  std::string bytes = make_npy_header(source.type());
  bytes += bytes_of(source);
  return bytes;
}

} // namespace weft
