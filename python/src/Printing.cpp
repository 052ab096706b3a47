// Tensors as text, to the letter as NumPy lays out arrays, and as small tables for notebooks.
#include "Define.h"
#include "Tensors.h"
#include "Text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "Buffers.h"
#include "Style.h"

#include <weft/detail/fewest_digits.h>

namespace weft::python {

namespace {

/// As numpy.set_printoptions has them.
struct Options {
  std::int64_t precision = 8, threshold = 1000, edgeitems = 3, linewidth = 75;
  bool suppress = false;
  std::string nanstr = "nan", infstr = "inf";
};
Options &options() {
  static Options &options = *new Options;
  return options;
}

/// The number in places before and behind the point, of which there are as many as tell it apart,
/// at most `precision`; a point at least.
template <class T>
std::string positional(T value, int precision) {
  char text[512];
  const auto number = detail::with_fewest_digits(value);
  auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed).ptr;
  const char *point = std::find(text, end, '.');
  if (end - point - 1 > precision)
    end = std::to_chars(text, text + sizeof text, number, std::chars_format::fixed, precision).ptr;
  std::string result(text, end);
  if (result.find('.') == std::string::npos) return result + '.';
  result.resize(result.find_last_not_of('0') + 1);
  return result;
}

/// The same with an exponent: "1.5e+10".
template <class T>
std::string scientific(T value, int precision) {
  char text[64];
  const auto number = detail::with_fewest_digits(value);
  auto end = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific).ptr;
  const char *e = std::find(text, end, 'e'), *point = std::find(text, end, '.');
  if (e - point - 1 > precision)
    end = std::to_chars(text, text + sizeof text, number, std::chars_format::scientific, precision)
              .ptr;
  std::string result(text, end);
  const std::size_t at = result.find('e');
  std::string mantissa = result.substr(0, at);
  if (mantissa.find('.') == std::string::npos) mantissa += '.';
  mantissa.resize(mantissa.find_last_not_of('0') + 1);
  return mantissa + result.substr(at);
}

/// Writes elements in one width, chosen for those that are shown.
class Format {
public:
  template <class T>
  void choose(const std::vector<T> &shown) {
    if constexpr (is_floating_type<T>) choose_floating(shown);
    else if constexpr (is_complex_number<T>) choose_complex(shown);
    else if constexpr (!std::is_same_v<T, bool>)
      for (const T value : shown) width_ = std::max(width_, std::to_string(value).size());
  }

  template <class T>
  std::string operator()(T value) const {
    if constexpr (std::is_same_v<T, bool>) return value ? " True" : "False";
    else if constexpr (is_floating_type<T>) return floating(value);
    else if constexpr (is_complex_number<T>) return complex(value);
    else return padded(std::to_string(value), width_);
  }

private:
  static std::string padded(const std::string &text, std::size_t width) {
    return text.size() >= width ? text : std::string(width - text.size(), ' ') + text;
  }

  /// Both parts have a width of their own, and the imaginary one always a sign.
  template <class T>
  void choose_complex(const std::vector<T> &shown) {
    parts_.resize(2);
    std::vector<typename T::value_type> real, imaginary;
    for (const T &value : shown) {
      real.push_back(value.real());
      imaginary.push_back(-std::fabs(value.imag()));
    }
    parts_[0].choose(real);
    parts_[1].has_sign_ = true;
    parts_[1].choose(imaginary);
  }

  template <class T>
  std::string complex(const T &value) const {
    std::string text = parts_[1](-std::fabs(value.imag()));
    const std::size_t first = text.find_first_not_of(' ');
    const bool negative = std::signbit(value.imag()) && !std::isnan(value.imag());
    if (text[first] == '-') text[first] = negative ? '-' : '+';
    else if (first == 0) text.insert(0, 1, '+'); // of NaN
    else text[first - 1] = '+';
    text.insert(text.find_last_not_of(' ') + 1, 1, 'j');
    return parts_[0](value.real()) + text;
  }

  template <class T>
  void choose_floating(const std::vector<T> &shown) {
    const Options &o = options();
    using Number = std::conditional_t<std::is_floating_point_v<T>, T, float>;
    Number most = 0, least = 0;
    bool any = false, negative_infinity = false, all_finite = true;
    for (const Number value : shown) {
      if (!std::isfinite(value)) {
        all_finite = false;
        negative_infinity |= has_sign_ || (std::isinf(value) && value < 0);
        continue;
      }
      const Number size = std::fabs(value);
      if (size == 0) continue;
      most = any ? std::max(most, size) : size;
      least = any ? std::min(least, size) : size;
      any = true;
    }
    exponents_ = any && (most >= static_cast<Number>(1e8) ||
                         (!o.suppress && (least < static_cast<Number>(0.0001) ||
                                          most / least > static_cast<Number>(1000))));
    const auto precision = static_cast<int>(o.precision);
    std::size_t exponent = 0;
    bool finite = false;
    for (const T value : shown) {
      if (!std::isfinite(static_cast<Number>(value))) continue;
      finite = true;
      const std::string text =
          exponents_ ? scientific(value, precision) : positional(value, precision);
      const std::size_t point = text.find('.'), e = std::min(text.find('e'), text.size());
      left_ = std::max(left_, point);
      right_ = std::max(right_, e - point - 1);
      if (exponents_) exponent = std::max(exponent, text.size() - e);
    }
    fraction_ = right_;
    if (exponents_) right_ += exponent; // 'e', the sign and the digits
    if (all_finite) return;
    const auto missing = [&](std::size_t length) {
      return length > right_ + 1 ? length - right_ - 1 : 0;
    };
    static_cast<void>(finite);
    left_ = std::max(
        {left_, missing(o.nanstr.size()), missing(o.infstr.size() + (negative_infinity ? 1 : 0))});
  }

  template <class T>
  std::string floating(T value) const {
    const Options &o = options();
    if (const auto number = static_cast<double>(value); !std::isfinite(number)) {
      const std::string text = std::isnan(number) ? o.nanstr
                               : number < 0       ? "-" + o.infstr
                                                  : o.infstr;
      return padded(text, left_ + right_ + 1);
    }
    std::string text = exponents_ ? scientific(value, static_cast<int>(o.precision))
                                  : positional(value, static_cast<int>(o.precision));
    const std::size_t point = text.find('.');
    if (exponents_) {
      const std::size_t e = text.find('e');
      text.insert(e, fraction_ - (e - point - 1), '0');
    } else {
      text.append(right_ - (text.size() - point - 1), ' ');
    }
    return std::string(left_ - point, ' ') + text;
  }

  std::size_t width_ = 0, left_ = 0, right_ = 0, fraction_ = 0;
  bool exponents_ = false;
  bool has_sign_ = false;     ///< all numbers are written with their sign
  std::vector<Format> parts_; ///< of complex numbers
};

/// The nested lists of one tensor.
template <class T>
class Layout {
public:
  Layout(const Tensor &tensor, std::string separator)
      : impl_(*tensor.impl()), separator_(std::move(separator)),
        summarize_(impl_.size > options().threshold) {}

  std::string write(std::size_t prefix, std::size_t suffix) {
    std::vector<T> shown;
    visit_shown(0, impl_.data, shown);
    format_.choose(shown);
    const auto width = static_cast<std::size_t>(std::max<std::int64_t>(options().linewidth, 1));
    return nested(0, impl_.data, prefix + 1, width > suffix ? width - suffix : 0);
  }

private:
  std::int64_t size(std::size_t axis) const { return impl_.dims()[axis]; }
  std::int64_t step(std::size_t axis) const {
    return impl_.strides()[axis] * static_cast<std::int64_t>(sizeof(T));
  }
  bool skips(std::size_t axis) const { return summarize_ && size(axis) > 2 * options().edgeitems; }

  /// Calls `visit` with the elements of an axis that are shown, and with -1 for those that are not.
  template <class Visit>
  void each(std::size_t axis, const Visit &visit) const {
    const std::int64_t edge = options().edgeitems;
    for (std::int64_t i = 0; i < size(axis); ++i) {
      if (skips(axis) && i == edge) {
        visit(-1);
        i = size(axis) - edge;
        if (edge == 0) break;
      }
      visit(i);
    }
  }

  void visit_shown(std::size_t axis, const std::byte *data, std::vector<T> &shown) const {
    if (axis == impl_.rank) {
      shown.push_back(*reinterpret_cast<const T *>(data));
      return;
    }
    each(axis, [&](std::int64_t i) {
      if (i >= 0) visit_shown(axis + 1, data + i * step(axis), shown);
    });
  }

  std::string nested(std::size_t axis, const std::byte *data, std::size_t indent,
                     std::size_t width) const {
    if (axis == impl_.rank) return format_(*reinterpret_cast<const T *>(data));
    const std::string bare = separator_.substr(0, separator_.find_last_not_of(' ') + 1),
                      margin(indent, ' ');
    std::string text, line = margin;
    const bool last = axis + 1 == impl_.rank;
    const std::string breaks = bare + std::string(impl_.rank - 1 - axis, '\n');
    const std::size_t room = width - std::min(width, std::max<std::size_t>(bare.size(), 1));
    bool first = true;
    each(axis, [&](std::int64_t i) {
      const std::string word = i < 0 ? "..."
                                     : nested(axis + 1, data + i * step(axis), indent + 1,
                                              width - std::min<std::size_t>(width, 1));
      if (!last) {
        text += (first ? "" : breaks) + margin + word;
      } else {
        if (!first) line += separator_;
        if (line.size() + word.size() > room && line.size() > indent) {
          line.resize(line.find_last_not_of(' ') + 1);
          text += line + "\n";
          line = margin;
        }
        line += word;
      }
      first = false;
    });
    if (last) text += line;
    return "[" + text.substr(std::min(indent, text.size())) + "]";
  }

  const detail::TensorImpl &impl_;
  std::string separator_;
  bool summarize_;
  Format format_;
};

/// One number, as NumPy's scalars are printed.
template <class T>
std::string scalar(T value) {
  if constexpr (std::is_same_v<T, bool>) return value ? "True" : "False";
  else if constexpr (std::is_integral_v<T>) return std::to_string(value);
  else if constexpr (is_complex_number<T>) {
    const auto part = [](auto number) {
      std::string text = scalar(number);
      return text.ends_with(".0") ? text.substr(0, text.size() - 2) : text;
    };
    const bool alone = value.real() == 0 && !std::signbit(value.real());
    const bool signs = std::signbit(value.imag()) && !std::isnan(value.imag());
    const std::string imaginary = part(value.imag()) + 'j';
    return alone ? imaginary : '(' + part(value.real()) + (signs ? "" : "+") + imaginary + ')';
  } else {
    const auto number = static_cast<double>(value);
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
    const double size = std::fabs(number);
    if (size != 0 && (size >= 1e16 || size < 1e-4)) {
      std::string text = scientific(value, 30);
      if (const std::size_t point = text.find(".e"); point != std::string::npos)
        text.erase(point, 1);
      return text;
    }
    std::string text = positional(value, 30);
    return text.back() == '.' ? text + '0' : text;
  }
}

std::string elements_text(const Tensor &tensor, const char *separator, std::size_t prefix,
                          std::size_t suffix) {
  if (tensor.device() != Device()) return elements_text(on_host(tensor), separator, prefix, suffix);
  const detail::TensorImpl &impl = *tensor.impl();
  return visit_dtype(impl.dtype, [&]<class T>() -> std::string {
    if (impl.rank == 0) return scalar(*reinterpret_cast<const T *>(impl.data));
    if (impl.size == 0) return "[]";
    return Layout<T>(tensor, separator).write(prefix, suffix);
  });
}

std::string type_text(const Tensor &tensor) {
  std::string shape = weft::to_string(detail::type_of(tensor).shape);
  for (std::size_t at = 0; (at = shape.find('?', at)) != std::string::npos;)
    shape.replace(at, 1, "None");
  return "shape=" + shape + ", dtype=" + python_name(detail::type_of(tensor).dtype);
}

void set_options(nb::object precision, nb::object threshold, nb::object edgeitems,
                 nb::object linewidth, nb::object suppress, nb::object nanstr, nb::object infstr,
                 nb::object style) {
  Options changed = options();
  const auto number = [](const nb::object &from, const char *name, std::int64_t &to,
                         std::int64_t most) {
    if (from.is_none()) return;
    const std::int64_t value = to_integer(from.ptr(), {"set_printoptions", name});
    if (value < 0 || value > most)
      throw ValueError(std::string("set_printoptions: ") + name + " is " + std::to_string(value) +
                       ": from 0 to " + std::to_string(most) + " is possible");
    to = value;
  };
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 4;
  number(precision, "precision", changed.precision, 100);
  number(threshold, "threshold", changed.threshold, most);
  number(edgeitems, "edgeitems", changed.edgeitems, most);
  number(linewidth, "linewidth", changed.linewidth, most);
  if (!suppress.is_none())
    changed.suppress = to<bool>(suppress.ptr(), {"set_printoptions", "suppress"});
  if (!nanstr.is_none()) changed.nanstr = text_of(nanstr);
  if (!infstr.is_none()) changed.infstr = text_of(infstr);
  if (!style.is_none()) set_style(text_of(style));
  options() = changed;
}

nb::dict get_options() {
  const Options &o = options();
  nb::dict dict;
  dict["precision"] = o.precision;
  dict["threshold"] = o.threshold;
  dict["edgeitems"] = o.edgeitems;
  dict["linewidth"] = o.linewidth;
  dict["suppress"] = o.suppress;
  dict["nanstr"] = o.nanstr.c_str();
  dict["infstr"] = o.infstr.c_str();
  dict["style"] = prints_as_tensorflow() ? "tf" : "numpy";
  return dict;
}

} // namespace

std::string text_of(const Tensor &tensor) {
  if (tensor.traced()) return repr_of(tensor);
  return elements_text(tensor, " ", 0, 0);
}

std::string repr_of(const Tensor &tensor) {
  constexpr std::string_view open = "tensor(";
  if (tensor.traced()) {
    const bool left = valueless(tensor).why == Valueless::Why::left;
    return (left ? "tensor(its trace has ended, " : "tensor(traced, ") + type_text(tensor) + ")";
  }
  const std::string text = elements_text(tensor, ", ", open.size(), 1),
                    type = type_text(tensor) + ")";
  const std::size_t last = text.rfind('\n');
  const std::size_t used =
      last == std::string::npos ? text.size() + open.size() : text.size() - last - 1;
  const bool wraps = static_cast<std::int64_t>(used + type.size() + 2) > options().linewidth;
  return std::string(open) + text + (wraps ? ",\n" + std::string(open.size(), ' ') : ", ") + type;
}

std::string html_of(const Tensor &tensor) {
  const auto escaped = [](const std::string &text) {
    std::string result;
    for (const char c : text) {
      if (c == '<') result += "&lt;";
      else if (c == '&') result += "&amp;";
      else result += c;
    }
    return result;
  };
  const detail::TensorImpl &impl = *tensor.impl();
  if (tensor.traced() || impl.rank == 0 || impl.rank > 2 || impl.size == 0 || impl.size > 1000)
    return "<pre>" + escaped(repr_of(tensor)) + "</pre>";
  const Tensor host = on_host(tensor);
  const std::byte *const data = host.impl()->data;
  const std::int64_t rows = impl.rank == 2 ? impl.dims()[0] : 1,
                     columns = impl.dims()[impl.rank - 1];
  std::string html = "<table>";
  visit_dtype(impl.dtype, [&]<class T>() {
    for (std::int64_t i = 0; i < rows; ++i) {
      html += "<tr>";
      for (std::int64_t j = 0; j < columns; ++j) {
        const std::int64_t at = (impl.rank == 2 ? i * host.impl()->strides()[0] : 0) +
                                j * host.impl()->strides()[impl.rank - 1];
        html += "<td style=\"text-align:right\">" +
                escaped(scalar(reinterpret_cast<const T *>(data)[at])) + "</td>";
      }
      html += "</tr>";
    }
  });
  return html + "</table><small>" + escaped(type_text(tensor)) + "</small>";
}

void define_printing(nb::module_ &module) {
  define<set_options>(
      module, "set_printoptions", keyword_only, Arg("precision").as("int | None") = nb::none(),
      Arg("threshold").as("int | None") = nb::none(),
      Arg("edgeitems").as("int | None") = nb::none(),
      Arg("linewidth").as("int | None") = nb::none(),
      Arg("suppress").as("builtins.bool | None") = nb::none(),
      Arg("nanstr").as("str | None") = nb::none(), Arg("infstr").as("str | None") = nb::none(),
      Arg("style").as("Literal['numpy', 'tf'] | None") = nb::none(),
      "How tensors are printed, in numpy.set_printoptions' words; what is not given stays. The "
      "style is 'numpy', or 'tf' for TensorFlow's forms of all objects, with NumPy's own options."
      "\n\nExample:\n"
      "    >>> wf.set_printoptions(precision=3)\n"
      "    >>> wf.tensor([1 / 3])\n"
      "    tensor([0.333], shape=(1,), dtype=float32)\n"
      "    >>> wf.set_printoptions(precision=8)\n");
  define<get_options>(module, "get_printoptions", Returns{"dict[str, Any]"},
                      "What set_printoptions has set."
                      "\n\nExample:\n"
                      "    >>> wf.get_printoptions()['precision']\n"
                      "    8\n");
}

} // namespace weft::python
