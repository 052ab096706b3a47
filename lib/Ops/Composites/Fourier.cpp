// Functions of Fourier transforms: frequencies, and spectra with the middle elsewhere.
#include "Ops/Composites/Parts.h"

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "Ops/Eager.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"

namespace weft {

/// Throws ValueError if n is below 1: the text has {} in its place. The program checks one that a
/// trace computes.
static void check_length(const Size &n, std::string text) {
  if (!n.is_number())
    detail::check_sizes(n.tensor() >= 1, text, std::array{n.tensor()}, ErrorKind::value);
  else if (n.number() < 1)
    raise(ErrorKind::value, text.replace(text.find("{}"), 2, std::to_string(n.number())));
}

} // namespace weft

namespace weft::composites {

namespace {

/// Of the length that is asked for.
void check_length(const char *function, const Size &n) {
  weft::check_length(n, "fft." + std::string(function) +
                            ": the length {} of a transform is asked for: it must be 1 or more");
}

/// The slices from position n / 2 or, of an odd number, from the one behind it on in front of the
/// others.
Tensor halves_exchanged(const Tensor &x, const Axes &axes, bool behind) {
  Tensor y = x;
  for (const std::int64_t axis : axes ? *axes : axes_of(x)) {
    const Size size = size_along(y, axis);
    const Size cut = (behind ? size + 1 : size) / 2;
    y = concatenate({between(y, axis, cut, size), between(y, axis, 0, cut)}, {.axis = axis});
  }
  return y;
}

} // namespace

// NOLINTBEGIN(performance-unnecessary-value-param): as all such attributes are handed over
Tensor fourier_fftshift(const Tensor &x, Axes axes) {
  return halves_exchanged(x, call::checked_axes("fft.fftshift", "axes", axes, x.rank()),
                          /*behind=*/true);
}

Tensor fourier_ifftshift(const Tensor &x, Axes axes) {
  return halves_exchanged(x, call::checked_axes("fft.ifftshift", "axes", axes, x.rank()),
                          /*behind=*/false);
}
// NOLINTEND(performance-unnecessary-value-param)

namespace {

using fft::Norm;

/// Which direction of a transform has the factor, as the ops number it.
std::int64_t factor_of(Norm norm, bool inverse) {
  if (norm == Norm::ortho) return 2;
  return (norm == Norm::forward) == !inverse ? 1 : 0;
}

/// Of `hfft`, which goes forward by the other direction's sums, and of `ihfft`.
Norm exchanged(Norm norm) {
  return norm == Norm::backward ? Norm::forward : norm == Norm::forward ? Norm::backward : norm;
}

/// Throws ShapeError if the size of an axis, which is the length, is too small; the program checks
/// it where a trace does not know it.
void check_size(const char *function, const Tensor &x, std::int64_t axis, std::int64_t least) {
  const Size size = size_along(x, axis);
  if (size.is_number() && size.number() >= least) return;
  std::vector<Tensor> open;
  const std::string text = "fft." + std::string(function) + ": " +
                           words::nothing_to_transform("x", written(x, open), axis) +
                           "; n says how many it is to have";
  if (size.is_number()) refuse_shape(text);
  detail::check_sizes(size.tensor() >= least, text, open);
}

/// x with n elements along the axis, the first ones or zeros behind; x itself for none.
Tensor fitted(const char *function, const Tensor &x, std::int64_t axis,
              const std::optional<Size> &n) {
  if (!n) {
    check_size(function, x, axis, 1);
    return x;
  }
  check_length(function, *n);
  const Size size = size_along(x, axis), kept = min(size, *n);
  const auto rank = static_cast<std::size_t>(x.rank());
  Tensor y = x;
  const bool known = size.is_number() && n->is_number();
  if (!(known && size.number() <= n->number())) y = between(x, axis, 0, kept);
  if (known && size.number() >= n->number()) return y;
  Sizes behind(Ints(rank, 0));
  behind.set(static_cast<std::size_t>(axis), *n - kept);
  return weft::pad(y, tensor(0).astype(x.dtype()), Ints(rank, 0), behind, Ints(rank, 0));
}

/// Both parts of numbers, zeros where they are real.
std::array<Tensor, 2> parts_of(const Tensor &x) {
  if (is_complex(x.dtype())) return {real_part(x), imaginary_part(x)};
  return {x, weft::broadcast(tensor(0).astype(x.dtype()), detail::sizes_of(x))};
}

/// One part of the pairs of a new tensor.
Tensor part_in(const Tensor &pairs, std::int64_t number) {
  const detail::TensorImpl *impl = pairs.impl();
  Ints strides;
  for (std::size_t i = 0; i < impl->rank; ++i) strides.push_back(2 * impl->strides()[i]);
  return detail::new_view_as(pairs, component_of(pairs.dtype()), impl->sizes(), strides, number);
}

/// A transform whose results are parts of complex numbers. Those of an eager call that nobody
/// records are written as they lie in pairs.
Tensor transformed(OpCode op, std::span<const Tensor> operands, const Attrs &attrs) {
  if (runs_here(operands)) {
    std::vector<TensorType> types;
    for (const Tensor &operand : operands) types.push_back(detail::type_of(operand));
    TensorType more[1];
    if (const Result<TensorType> type = infer({op, types, attrs, more})) {
      const Tensor result = detail::new_tensor(complex_of(type->dtype), type->shape);
      Tensor parts[] = {part_in(result, 0), part_in(result, 1)};
      eager::run_routine(op_info(op), operands, attrs, parts);
      return result;
    }
  }
  const std::vector<Tensor> parts = dispatch_all(op, operands, attrs);
  return weft::complex(parts[0], parts[1]);
}

Tensor along_axis(const Tensor &x, std::int64_t axis, Norm norm, bool inverse) {
  return transformed(OpCode::fft, parts_of(x), Attrs{axis, factor_of(norm, inverse), inverse});
}
Tensor of_real(const Tensor &x, std::int64_t axis, std::int64_t factor) {
  return transformed(OpCode::rfft, std::array{x}, Attrs{axis, factor});
}
/// To n real numbers, or 2 m - 2 of m.
Tensor to_real(const char *function, const Tensor &x, std::int64_t axis,
               const std::optional<Size> &n, std::int64_t factor) {
  if (n) check_length(function, *n);
  else check_size(function, x, axis, 2);
  const std::array<Tensor, 2> half = parts_of(n ? fitted(function, x, axis, *n / 2 + 1) : x);
  const auto real = [&](bool odd) {
    return dispatch(OpCode::irfft, half, Attrs{axis, factor, odd});
  };
  if (!n) return real(false);
  if (n->is_number()) return real(n->number() % 2 != 0);
  // Which of two ops it is the call knows.
  return branched((*n % 2).tensor() != 0, [&](bool odd) { return std::vector{real(odd)}; })[0];
}

Tensor transform(const char *function, const Tensor &x, const std::optional<Size> &n,
                 std::int64_t axis, Norm norm, bool inverse) {
  return along_axis(fitted(function, x, axis, n), axis, norm, inverse);
}

/// The axes of a transform along several and the lengths asked for, by axis.
struct Several {
  Ints axes;
  std::vector<std::optional<std::int64_t>> lengths;

  Several(const char *function, const Tensor &x, const Axes &s, const Axes &given, bool plane) {
    const std::string name = "fft." + std::string(function);
    if (given) {
      // In the order given: the last one is that of real numbers.
      for (const std::int64_t axis : *given)
        axes.push_back(call::checked_axis(name.c_str(), "axes", axis, x.rank()));
      call::checked_axes(name.c_str(), "axes", given, x.rank());
    } else {
      const std::int64_t count = plane ? 2 : s ? static_cast<std::int64_t>(s->size()) : x.rank();
      for (std::int64_t i = 0; i < count; ++i)
        axes.push_back(call::checked_axis(name.c_str(), "axes", i - count, x.rank()));
    }
    if (s && s->size() != axes.size())
      raise(ErrorKind::value, name + ": s has " + std::to_string(s->size()) + " sizes for " +
                                  std::to_string(axes.size()) + " axes");
    for (std::size_t i = 0; i < axes.size(); ++i)
      if (s) lengths.emplace_back((*s)[i]);
      else lengths.emplace_back();
  }
};

/// Along the axes but the last `left`, from the last one on.
Tensor along_axes(const char *function, Tensor x, const Several &several, std::size_t left,
                  Norm norm, bool inverse) {
  for (std::size_t i = several.axes.size() - left; i-- > 0;)
    x = along_axis(fitted(function, x, several.axes[i], several.lengths[i]), several.axes[i], norm,
                   inverse);
  return x;
}

void check_axes_given(const char *function, const Several &several) {
  if (several.axes.empty())
    raise(ErrorKind::value, "fft." + std::string(function) +
                                ": there is no axis: of real numbers one is wanted at least");
}

Tensor complex_transforms(const char *function, const Tensor &x, const Axes &s, const Axes &axes,
                          Norm norm, bool plane, bool inverse) {
  Tensor y = along_axes(function, x, Several(function, x, s, axes, plane), 0, norm, inverse);
  if (is_complex(y.dtype())) return y;
  const auto [re, im] = parts_of(y); // along no axis
  return weft::complex(re, im);
}
Tensor transforms_of_real(const char *function, const Tensor &x, const Axes &s, const Axes &axes,
                          Norm norm, bool plane) {
  const Several several(function, x, s, axes, plane);
  check_axes_given(function, several);
  const Tensor y = of_real(fitted(function, x, several.axes.back(), several.lengths.back()),
                           several.axes.back(), factor_of(norm, false));
  return along_axes(function, y, several, 1, norm, false);
}
Tensor transforms_to_real(const char *function, const Tensor &x, const Axes &s, const Axes &axes,
                          Norm norm, bool plane) {
  const Several several(function, x, s, axes, plane);
  check_axes_given(function, several);
  const Tensor y = along_axes(function, x, several, 1, norm, true);
  return to_real(function, y, several.axes.back(), several.lengths.back(), factor_of(norm, true));
}

} // namespace

// NOLINTBEGIN(performance-unnecessary-value-param): as all such attributes are handed over
Tensor fourier_fft(const Tensor &x, std::optional<Size> n, std::int64_t axis, Norm norm) {
  return transform("fft", x, n, axis, norm, false);
}
Tensor fourier_ifft(const Tensor &x, std::optional<Size> n, std::int64_t axis, Norm norm) {
  return transform("ifft", x, n, axis, norm, true);
}
Tensor fourier_rfft(const Tensor &x, std::optional<Size> n, std::int64_t axis, Norm norm) {
  return of_real(fitted("rfft", x, axis, n), axis, factor_of(norm, false));
}
Tensor fourier_irfft(const Tensor &x, std::optional<Size> n, std::int64_t axis, Norm norm) {
  return to_real("irfft", x, axis, n, factor_of(norm, true));
}
Tensor fourier_hfft(const Tensor &x, std::optional<Size> n, std::int64_t axis, Norm norm) {
  return to_real("hfft", conj(x), axis, n, factor_of(exchanged(norm), true));
}
Tensor fourier_ihfft(const Tensor &x, std::optional<Size> n, std::int64_t axis, Norm norm) {
  return conj(of_real(fitted("ihfft", x, axis, n), axis, factor_of(exchanged(norm), false)));
}

Tensor fourier_fftn(const Tensor &x, Axes s, Axes axes, Norm norm) {
  return complex_transforms("fftn", x, s, axes, norm, false, false);
}
Tensor fourier_ifftn(const Tensor &x, Axes s, Axes axes, Norm norm) {
  return complex_transforms("ifftn", x, s, axes, norm, false, true);
}
Tensor fourier_rfftn(const Tensor &x, Axes s, Axes axes, Norm norm) {
  return transforms_of_real("rfftn", x, s, axes, norm, false);
}
Tensor fourier_irfftn(const Tensor &x, Axes s, Axes axes, Norm norm) {
  return transforms_to_real("irfftn", x, s, axes, norm, false);
}
Tensor fourier_fft2(const Tensor &x, Axes s, Axes axes, Norm norm) {
  return complex_transforms("fft2", x, s, axes, norm, true, false);
}
Tensor fourier_ifft2(const Tensor &x, Axes s, Axes axes, Norm norm) {
  return complex_transforms("ifft2", x, s, axes, norm, true, true);
}
Tensor fourier_rfft2(const Tensor &x, Axes s, Axes axes, Norm norm) {
  return transforms_of_real("rfft2", x, s, axes, norm, true);
}
Tensor fourier_irfft2(const Tensor &x, Axes s, Axes axes, Norm norm) {
  return transforms_to_real("irfft2", x, s, axes, norm, true);
}
// NOLINTEND(performance-unnecessary-value-param)

} // namespace weft::composites

namespace weft::fft {

namespace {

/// 0, 1, .. by n d, `count` of them, where those from `positive` on are negative.
Tensor frequencies(const char *function, const Size &n, const Size &count, const Size &positive,
                   const FrequencyOptions &options, std::source_location where) {
  const CompositeCall site(function, where);
  check_length(n, std::string(function) + ": n is {}: it must be 1 or more");
  if (!is_floating(options.dtype))
    raise(ErrorKind::dtype, std::string(function) + ": the dtype is " +
                                std::string(name_of(options.dtype)) + ": a floating one is wanted");
  if (!n.is_number()) {
    const Tensor k = arange(count, DType::i64), length = cast(n.tensor(), DType::i64);
    const Tensor number = select(k < cast(positive.tensor(), DType::i64), k, k - length);
    const Tensor step = tensor(1.0) / (cast(length, DType::f64) * tensor(options.d));
    return cast(cast(number, DType::f64) * step, options.dtype);
  }
  const double step = 1 / (static_cast<double>(n.number()) * options.d);
  const Tensor values = detail::new_tensor(DType::f64, Shape{count.number()});
  for (std::int64_t k = 0; k < count.number(); ++k)
    detail::elements<double>(values)[k] =
        static_cast<double>(k < positive.number() ? k : k - n.number()) * step;
  return cast(detail::placed(values), options.dtype);
}

} // namespace

Tensor fftfreq(const Size &n, const FrequencyOptions &options, std::source_location where) {
  return frequencies("fft.fftfreq", n, n, (n + 1) / 2, options, where);
}

Tensor rfftfreq(const Size &n, const FrequencyOptions &options, std::source_location where) {
  return frequencies("fft.rfftfreq", n, n / 2 + 1, n / 2 + 1, options, where);
}

} // namespace weft::fft
