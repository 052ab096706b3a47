// Fourier transforms of one line whose elements are adjacent, and of lines side by side in lanes.
#pragma once

#include "Kernels/FftKernels.h"
#include "Kernels/FftPlan.h"

namespace weft::kernels {

/// The direction and scale of a transform, as the kernels apply them.
template <class T>
struct FftFactors {
  T sign, re, im;

  static FftFactors of(bool inverse, double scale) {
    const T factor = static_cast<T>(scale);
    return {T(inverse ? -1 : 1), factor, inverse ? -factor : factor};
  }
};

/// Transforms lines by one plan, on one CPU level's kernels.
template <class T>
class FftLine {
public:
  FftLine(const FftPlan<T> &plan, const FftKernels<T> &kernels) : plan_(plan), kernels_(kernels) {}

  /// How many elements of T `transform` works in.
  std::int64_t room() const;
  /// x to y, both pairs that are adjacent, each `plan.size`. They do not overlap. On several
  /// threads if the line is long.
  void transform(const T *x, T *y, const FftFactors<T> &factors, T *room) const;

  /// True if a line alone fills vectors.
  bool fills_vectors() const;
  /// True if a line alone has passes that write elements one by one.
  bool scatters() const;
  /// How many elements of T `transform_lanes` works in.
  std::int64_t lanes_room() const;
  /// Transforms at most `kernels.lanes` lines at once, by a plan of `passes`.
  void transform_lanes(const FftLines<const T> &x, const FftLines<T> &y,
                       const FftFactors<T> &factors, T *room) const;

private:
  /// What the passes read or write: pairs whose rows are so far apart, or parts.
  struct End {
    FftData<T> data;
    std::int64_t row;
    bool pairs;
  };

  FftPass<T> pass_of(std::size_t index, const FftFactors<T> &factors) const;
  FftData<T> run_lanes(const End &from, const End &to, const FftFactors<T> &factors,
                       FftData<T> even, FftData<T> odd) const;
  void run_alone(const T *x, T *y, const FftFactors<T> &factors, T *room) const;
  void run_split(const T *x, T *y, const FftFactors<T> &factors) const;
  void run_chirp(const T *x, T *y, const FftFactors<T> &factors, T *room) const;

  const FftPlan<T> &plan_;
  const FftKernels<T> &kernels_;
};

extern template class FftLine<float>;
extern template class FftLine<double>;

} // namespace weft::kernels
