// Tensors as text, laid out as NumPy lays out arrays.
#include "Runtime/Printing.h"
#include "Runtime/OnDevice.h"

#include "Runtime/Elements.h"
#include "Support/CallSite.h"
#include "Support/Fork.h"

#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <ostream>
#include <system_error>
#include <utility>

#include <weft/detail/fewest_digits.h>
#include <weft/print.h>

namespace weft {

namespace {

constexpr std::int64_t kSummarizeAbove = 1000;
constexpr std::int64_t kEdge = 3; ///< entries shown at each end of a summarised axis
constexpr std::size_t kWidth = 80;
constexpr int kDigits = 8;
constexpr std::size_t kIndent = 7; ///< of what follows "tensor("

/// The digits and the decimal exponent of a finite positive number, rounded to kDigits digits.
struct Decimal {
  std::string digits;
  int exponent;
};

template <class T>
Decimal shortest(T value) {
  char text[64];
  auto end = std::to_chars(text, text + sizeof text, detail::with_fewest_digits(value),
                           std::chars_format::scientific);
  const auto significant = [&] {
    int count = 0;
    for (const char *c = text; c != end.ptr && *c != 'e'; ++c) count += *c != '.';
    return count;
  };
  if (significant() > kDigits)
    end = std::to_chars(text, text + sizeof text, static_cast<double>(value),
                        std::chars_format::scientific, kDigits - 1);
  Decimal result{{}, 0};
  const char *c = text;
  for (; *c != 'e'; ++c)
    if (*c != '.') result.digits += *c;
  const char *exponent = c + 1 + (c[1] == '+');
  std::from_chars(exponent, end.ptr, result.exponent);
  while (result.digits.size() > 1 && result.digits.back() == '0') result.digits.pop_back();
  return result;
}

template <class T>
void append_floating(std::string &text, T value) {
  const auto number = static_cast<double>(value);
  if (std::isnan(number)) {
    text += "nan";
    return;
  }
  if (std::signbit(number)) text += '-';
  if (std::isinf(number)) {
    text += "inf";
    return;
  }
  if (value == 0) {
    text += '0';
    return;
  }
  const auto [digits, exponent] = shortest(static_cast<T>(std::fabs(number)));
  const auto count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= kDigits) {
    text += digits[0];
    if (count > 1) (text += '.').append(digits, 1);
    char tail[16];
    std::snprintf(tail, sizeof tail, "e%+03d", exponent);
    text += tail;
  } else if (exponent < 0) {
    text += "0.";
    text.append(static_cast<std::size_t>(-exponent - 1), '0') += digits;
  } else if (count <= exponent + 1) {
    text += digits;
    text.append(static_cast<std::size_t>(exponent + 1 - count), '0');
  } else {
    text.append(digits, 0, static_cast<std::size_t>(exponent) + 1) += '.';
    text.append(digits, static_cast<std::size_t>(exponent) + 1);
  }
}

/// "1-2.5j", as NumPy writes them.
template <class T>
void append_complex(std::string &text, const std::complex<T> &value) {
  append_floating(text, value.real());
  if (!std::signbit(value.imag()) || std::isnan(value.imag())) text += '+';
  append_floating(text, value.imag());
  text += 'j';
}

/// Prints the nested lists of one array.
class Writer {
public:
  Writer(std::string &text, const PrintedArray &array)
      : text_(text), array_(array), item_(static_cast<std::int64_t>(item_size(array.dtype))),
        line_start_(text.size() - kIndent) {
    std::int64_t size = 1;
    for (const std::int64_t dim : array.dims)
      if (__builtin_mul_overflow(size, dim, &size)) size = kSummarizeAbove + 1;
    summarize_ = size > kSummarizeAbove;
  }

  void write(std::size_t axis, const std::byte *data) {
    if (axis == array_.dims.size()) {
      append_element(text_, array_.dtype, data);
      return;
    }
    const std::int64_t size = array_.dims[axis], stride = array_.strides[axis] * item_;
    const bool skips = summarize_ && size > 2 * kEdge;
    text_ += '[';
    for (std::int64_t i = 0; i < size; ++i) {
      if (skips && i == kEdge) {
        separate(axis, 3);
        text_ += "...";
        i = size - kEdge;
      }
      if (axis + 1 != array_.dims.size()) {
        if (i != 0) separate(axis, 0);
        write(axis + 1, data + i * stride);
        continue;
      }
      element_.clear();
      append_element(element_, array_.dtype, data + i * stride);
      if (i != 0) separate(axis, element_.size());
      text_ += element_;
    }
    text_ += ']';
  }

private:
  /// What stands between two entries of an axis; `width` is that of the next element of a row.
  void separate(std::size_t axis, std::size_t width) {
    const std::size_t deeper = array_.dims.size() - 1 - axis;
    text_ += ',';
    if (deeper == 0 && text_.size() - line_start_ + width + 2 <= kWidth) {
      text_ += ' ';
      return;
    }
    text_.append(deeper == 0 ? 1 : deeper, '\n');
    line_start_ = text_.size();
    text_.append(kIndent + axis + 1, ' ');
  }

  std::string &text_;
  const PrintedArray &array_;
  std::int64_t item_;
  std::size_t line_start_;
  bool summarize_ = false;
  std::string element_;
};

bool empty(const PrintedArray &array) {
  for (const std::int64_t dim : array.dims)
    if (dim == 0) return true;
  return false;
}

} // namespace

void append_element(std::string &text, DType dtype, const std::byte *element) {
  visit_dtype(dtype, [&]<class T>() {
    T value;
    std::memcpy(&value, element, sizeof value);
    if constexpr (std::is_same_v<T, bool>) text += value ? "true" : "false";
    else if constexpr (is_floating_type<T>) append_floating(text, value);
    else if constexpr (is_complex_number<T>) append_complex(text, value);
    else text += std::to_string(value);
  });
}

void append_tensor(std::string &text, const PrintedArray &array) {
  text += "tensor(";
  if (empty(array)) text += "[]";
  else Writer(text, array).write(0, array.data);
  text += ", shape=" + to_string(Shape(array.dims)) + ", dtype=";
  (text += name_of(array.dtype)) += ')';
}

void append_value(std::string &text, const PrintedArray &array) {
  if (array.dims.empty()) append_element(text, array.dtype, array.data);
  else append_tensor(text, array);
}

PrintedArray printed(const Tensor &tensor) {
  Tensor host = detail::on_host(tensor);
  const detail::TensorImpl *impl = host.impl();
  return {impl->dtype, impl->sizes(), {impl->strides(), impl->rank}, impl->data, std::move(host)};
}

std::string format_values(std::string_view format, std::span<const PrintedArray> values,
                          std::string_view leftover) {
  std::string text;
  std::size_t next = 0;
  for (std::size_t at = 0; at < format.size(); ++at) {
    if (format.substr(at, 2) != "{}" || next == values.size()) {
      text += format[at];
      continue;
    }
    append_value(text, values[next++]);
    ++at;
  }
  for (; next < values.size(); ++next) {
    text += leftover;
    append_value(text, values[next]);
  }
  return text;
}

std::string to_string(const Tensor &tensor) {
  if (!tensor.defined()) return "tensor(undefined)";
  std::string text;
  if (tensor.traced())
    return "tensor(traced, shape=" + to_string(tensor.shape()) +
           ", dtype=" + std::string(name_of(tensor.dtype())) + ")";
  append_tensor(text, printed(tensor));
  return text;
}

std::ostream &operator<<(std::ostream &out, const Tensor &tensor) {
  if (!tensor.defined() || tensor.traced()) return out << to_string(tensor);
  std::string text;
  append_value(text, printed(tensor));
  return out << text;
}

namespace {

forks::Mutex<std::mutex> sink_mutex;
PrintSink &sink() {
  static PrintSink &sink = *new PrintSink;
  return sink;
}

} // namespace

PrintSink set_print_sink(PrintSink fresh) {
  const std::lock_guard lock(sink_mutex);
  return std::exchange(sink(), std::move(fresh));
}

void print_line(std::string_view line) {
  PrintSink current;
  {
    const std::lock_guard lock(sink_mutex);
    current = sink();
  }
  if (current) {
    const UserCode user;
    current(line);
    return;
  }
  // One call, so that lines of several threads do not mix.
  std::string text(line);
  if (line.ends_with(continues_line)) text.pop_back();
  else text += '\n';
  errno = 0;
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0)
    return;
  const int reason = errno;
  std::clearerr(stdout);
  throw IOError("print: the line cannot be written to stdout: " +
                std::generic_category().message(reason));
}

} // namespace weft
