// Functions of Fourier transforms: frequencies, and spectra with the middle elsewhere.
#include "Ops/Composites/Parts.h"

#include <string>

#include "Support/CallSite.h"

namespace weft::composites {

namespace {

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

Tensor fourier_fftshift(const Tensor &x, Axes axes) {
  return halves_exchanged(x, call::checked_axes("fft.fftshift", "axes", axes, x.rank()),
                          /*behind=*/true);
}

Tensor fourier_ifftshift(const Tensor &x, Axes axes) {
  return halves_exchanged(x, call::checked_axes("fft.ifftshift", "axes", axes, x.rank()),
                          /*behind=*/false);
}

} // namespace weft::composites

namespace weft::fft {

namespace {

/// 0, 1, .. by n d, where those from `positive` on are negative.
Tensor frequencies(const char *function, std::int64_t n, std::int64_t count, std::int64_t positive,
                   const FrequencyOptions &options, std::source_location where) {
  const CompositeCall site(function, where);
  if (n < 1)
    raise(ErrorKind::value,
          std::string(function) + ": n is " + std::to_string(n) + ": it must be 1 or more");
  if (!is_floating(options.dtype))
    raise(ErrorKind::dtype, std::string(function) + ": the dtype is " +
                                std::string(name_of(options.dtype)) + ": a floating one is wanted");
  std::vector<double> values(static_cast<std::size_t>(count));
  const double step = 1 / (static_cast<double>(n) * options.d);
  for (std::int64_t k = 0; k < count; ++k)
    values[static_cast<std::size_t>(k)] = static_cast<double>(k < positive ? k : k - n) * step;
  return cast(tensor(values), options.dtype);
}

} // namespace

Tensor fftfreq(std::int64_t n, const FrequencyOptions &options, std::source_location where) {
  return frequencies("fft.fftfreq", n, n, (n + 1) / 2, options, where);
}

Tensor rfftfreq(std::int64_t n, const FrequencyOptions &options, std::source_location where) {
  return frequencies("fft.rfftfreq", n, n / 2 + 1, n / 2 + 1, options, where);
}

} // namespace weft::fft
