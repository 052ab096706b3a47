// Parses and makes the headers of .npy files.
#include "IO/NpyHeader.h"

#include <charconv>

#include "OpDefs/ShapeFunctions.h"
#include "Support/Messages.h"

namespace weft {

namespace {

/// The dtypes by their descriptors, as dtypes.def has them.
std::string_view descriptor_of(DType dtype) {
  switch (dtype) {
#define WEFT_DTYPE(enumerator, spelling, cpp, kind, mlir, npy)                                     \
  case DType::enumerator: return npy;
#include <weft/dtypes.def>
  }
  return "";
}

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
      const std::string_view known = descriptor_of(static_cast<DType>(i));
      supported.append(i == 0 ? "" : ", ").append(known);
      // One byte has no order, so NumPy's '<b1' and '=b1' mean '|b1' too.
      if (descr == known ||
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
  std::string text = "{'descr': '" + std::string(descriptor_of(type.dtype)) +
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

} // namespace weft
