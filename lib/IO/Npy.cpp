// Reads and writes .npy: headers, arrays in memory, files.
#include "IO/Npy.h"

#include <charconv>
#include <cstring>

#include "IO/InputFile.h"
#include "OpDefs/ShapeFunctions.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Messages.h"
#include <weft/io.h>

namespace weft {

namespace {

/// Reads the literal from left to right; the first fault stays.
class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  Result<NpyHeader> parse() {
    bool has_descr = false, has_order = false, has_shape = false;
    expect('{');
    while (!fault_ && !accept('}')) {
      const std::string key = quoted();
      expect(':');
      if (fault_) break;
      bool *seen = key == "descr"           ? &has_descr
                   : key == "fortran_order" ? &has_order
                   : key == "shape"         ? &has_shape
                                            : nullptr;
      if (seen == nullptr) fail("it has the unknown key '" + shown(key) + "'");
      else if (*seen) fail("it has the key '" + key + "' twice");
      else if (seen == &has_descr) descriptor();
      else if (seen == &has_order) order();
      else shape();
      if (seen != nullptr) *seen = true;
      if (fault_) break;
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    space();
    if (!fault_ && at_ != text_.size()) fail("something follows its dictionary");
    if (!fault_ && !(has_descr && has_order && has_shape))
      fail(std::string("it lacks the key '") +
           (!has_descr   ? "descr"
            : !has_order ? "fortran_order"
                         : "shape") +
           "'");
    if (fault_) return *fault_;
    return header_;
  }

private:
  void fail(std::string what) {
    if (!fault_) fault_ = Fault{ErrorKind::io, "its header is malformed: " + std::move(what)};
  }
  void space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t'))
      ++at_;
  }
  bool accept(char c) {
    space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool accept(std::string_view word) {
    space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  void expect(char c) {
    if (!fault_ && !accept(c))
      fail(std::string("'") + c + "' is missing at character " + std::to_string(at_));
  }
  std::string quoted() {
    space();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end =
        quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      fail("a quoted word is missing at character " + std::to_string(at_));
      return {};
    }
    const std::string word(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return word;
  }

  void descriptor() {
    space();
    if (at_ < text_.size() && text_[at_] == '[') return fail("structured dtypes are not supported");
    const std::string descr = quoted();
    if (fault_) return;
    std::string supported;
    for (int i = 0; i < kNumDTypes; ++i) {
      const DTypeInfo &info = dtype_info(static_cast<DType>(i));
      const std::string_view known = info.npy;
      supported.append(i == 0 ? "" : ", ").append(known);
      // One byte has no order, so NumPy's '<b1' and '=b1' mean '|b1' too. Of bfloat16 ml_dtypes
      // writes what two bytes of anything are, and reads its name.
      if (descr == known || descr == info.numpy ||
          (known[0] == '|' && !descr.empty() && descr.substr(1) == known.substr(1)))
        return void(header_.type.dtype = static_cast<DType>(i));
    }
    fault_ = Fault{ErrorKind::io, "its dtype '" + shown(descr) + "' is not supported (there are " +
                                      supported + ")"};
  }
  void order() {
    if (accept("True")) header_.fortran_order = true;
    else if (!accept("False")) fail("'fortran_order' is neither True nor False");
  }
  void shape() {
    expect('(');
    while (!fault_ && !accept(')')) {
      space();
      std::int64_t size = 0;
      const char *begin = text_.data() + at_, *end = text_.data() + text_.size();
      const auto [next, error] = std::from_chars(begin, end, size);
      if (error != std::errc() || size < 0) return fail("'shape' is not a tuple of sizes");
      at_ += static_cast<std::size_t>(next - begin);
      accept('L'); // files of Python 2
      if (header_.type.shape.rank() == max_rank)
        return fail("'shape' has more than " + std::to_string(max_rank) + " sizes");
      header_.type.shape.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  NpyHeader header_;
  Check fault_;
};

} // namespace

Result<NpyHeader> parse_npy_header(std::string_view text) {
  Result<NpyHeader> header = Parser(text).parse();
  if (!header) return header;
  const Result<std::int64_t> count =
      element_count(header->type.shape, item_size(header->type.dtype));
  if (!count) return Fault{ErrorKind::io, count.fault().message};
  return header;
}

std::string make_npy_header(const TensorType &type) {
  std::string text = "{'descr': '" + std::string(dtype_info(type.dtype).npy) +
                     "', 'fortran_order': False, 'shape': " + to_string(type.shape) + ", }";
  constexpr std::size_t before = 10; // magic, version, length
  const std::size_t total = (before + text.size() + 1 + 63) / 64 * 64;
  text.append(total - before - text.size() - 1, ' ') += '\n';
  std::string header = "\x93NUMPY";
  header += '\1';
  header += '\0';
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

namespace {

[[noreturn]] void fail(const std::string &name, const std::string &what) {
  raise(ErrorKind::io, name + ": " + what);
}

/// The header's text, which `bytes` is left behind.
std::string_view take_header(std::string_view &bytes, const std::string &name) {
  constexpr std::string_view magic = "\x93NUMPY";
  if (!bytes.starts_with(magic))
    fail(name, "is not a .npy array: it does not start with \\x93NUMPY");
  const std::size_t start = magic.size() + 2;
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  const std::size_t major = bytes.size() > magic.size() ? byte(magic.size()) : 0;
  const std::size_t digits = major == 1 ? 2 : 4;
  if (major < 1 || major > 3)
    fail(name, "has version " + std::to_string(major) + " of the .npy format; 1 to 3 are known");
  if (bytes.size() < start + digits) fail(name, "is truncated within its header");
  std::size_t length = 0;
  for (std::size_t i = digits; i-- > 0;) length = length << 8 | byte(start + i);
  bytes.remove_prefix(start + digits);
  if (length > bytes.size()) fail(name, "is truncated within its header");
  const std::string_view header = bytes.substr(0, length);
  bytes.remove_prefix(length);
  return header;
}

} // namespace

Tensor read_npy_bytes(std::string_view bytes, const std::string &name) {
  const std::string_view text = take_header(bytes, name);
  const Result<NpyHeader> header = parse_npy_header(text);
  if (!header) fail(name, header.fault().message);
  const Shape &shape = header->type.shape;
  // Fortran order is the transposed of an array in C order with the sizes turned round.
  Shape stored = shape;
  if (header->fortran_order)
    for (std::size_t i = 0; i < shape.size(); ++i) stored[i] = shape[shape.size() - 1 - i];
  const std::size_t size = detail::checked_tensor_bytes(header->type.dtype, stored);
  if (size != bytes.size())
    fail(name, "its header asks for " + std::to_string(size) + " bytes of elements, but " +
                   std::to_string(bytes.size()) + " follow");
  if (header->type.dtype == DType::boolean)
    for (const char byte : bytes)
      if (static_cast<unsigned char>(byte) > 1)
        fail(name, "an element of dtype bool is not 0 or 1");
  Tensor result = detail::new_tensor(header->type.dtype, stored);
  std::memcpy(result.impl()->data, bytes.data(), size);
  if (!header->fortran_order || shape.size() < 2) return result;
  Ints strides;
  for (std::size_t i = 0; i < shape.size(); ++i)
    strides.push_back(result.impl()->strides()[shape.size() - 1 - i]);
  return make_contiguous(detail::new_view(result, shape, strides, 0));
}

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
  return make_contiguous(detail::on_host(tensor));
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
