// Functions of rows by their kernels.
#include "NN/FusedCall.h"
#include "NN/Rows.h"

#include <numeric>

#include "Runtime/Elements.h"
#include "Runtime/NewTensor.h"
#include <weft/ops.h>

namespace weft::nn {

namespace {

Tensor new_like(const Tensor &x) { return detail::new_tensor(x.dtype(), x.impl()->sizes()); }
Tensor new_column(const Tensor &x) {
  return detail::new_tensor(x.dtype(), x.impl()->sizes().first(x.impl()->rank - 1));
}

/// Whether x has rows of a dtype that kernels take, and the others are a row of it each.
bool are_rows(const Tensor &x, std::span<const Tensor> others = {}) {
  if (x.rank() == 0 || !is_floating(x.dtype()) || x.traced()) return false;
  for (const Tensor &other : others)
    if (other.traced() || other.dtype() != x.dtype() || other.rank() != 1 ||
        other.size(0) != x.size(-1))
      return false;
  return true;
}

bool run(FusedRows function, std::span<const Tensor> operands, std::span<const Tensor> results) {
  const std::int64_t size = operands[0].size(-1);
  return size != 0 &&
         call::fused_rows(function, operands, results, operands[0].size() / size, size);
}

/// By a kernel that gives a matrix, and so many columns.
template <FusedRows function, int columns>
FusedResult matrix_by(std::span<const Tensor> x) {
  if (!are_rows(x[0])) return {};
  std::vector<Tensor> results{new_like(x[0])};
  for (int i = 0; i < columns; ++i) results.push_back(new_column(x[0]));
  if (!run(function, x, results)) return {};
  FusedResult result{std::move(results[0])};
  results.erase(results.begin());
  result.kept = std::move(results);
  return result;
}

template <FusedRows function>
std::vector<Tensor> pulled_by(std::span<const Tensor> x) {
  Tensor gradient = matrix_by<function, 0>(x).value;
  return gradient.defined() ? std::vector{std::move(gradient)} : std::vector<Tensor>();
}

/// The sum over all rows.
Tensor sum_of_rows(const Tensor &x) {
  Ints axes(static_cast<std::size_t>(x.rank() - 1), 0);
  std::iota(axes.begin(), axes.end(), 0);
  return axes.empty() ? x : sum(x, {.axes = axes});
}

Tensor number(double value, DType dtype) { return full({}, value, dtype); }

/// The cotangents of x, of its scale and, if wanted, of what was added: by a kernel that gives the
/// first, and what the second is summed of. The last operand is the result's cotangent.
std::vector<Tensor> pulled_with_scale(FusedRows function, std::span<const Tensor> x, bool added) {
  const std::int64_t size = x[0].size(-1);
  const Tensor result = new_like(x[0]), of_scale = detail::new_tensor(x[0].dtype(), Shape{size}),
               of_added = added ? detail::new_tensor(x[0].dtype(), Shape{size}) : Tensor();
  if (size != 0 &&
      call::fused_pullback(function, x, result, of_scale, of_added, x[0].size() / size, size))
    return added ? std::vector{result, of_scale, of_added} : std::vector{result, of_scale};
  const Tensor results[] = {result, new_like(x[0])};
  if (!run(function, x, results)) return {};
  std::vector<Tensor> gradients{result, sum_of_rows(results[1])};
  if (added) gradients.push_back(sum_of_rows(x.back()));
  return gradients;
}

constexpr FusedFunction kSoftmax{
    .name = "softmax",
    .active = 1,
    .forward = matrix_by<FusedRows::softmax, 2>,
    .backward = pulled_by<FusedRows::softmax_pullback>,
    .ops = [](std::span<const Tensor> x) { return rows::softmax(x)[0]; }};

constexpr FusedFunction kLogSoftmax{
    .name = "log_softmax",
    .active = 1,
    .forward = matrix_by<FusedRows::log_softmax, 2>,
    .backward = pulled_by<FusedRows::log_softmax_pullback>,
    .ops = [](std::span<const Tensor> x) { return rows::log_softmax(x)[0]; }};

/// Of x, gamma, beta and epsilon.
constexpr FusedFunction kLayerNorm{
    .name = "layer_norm",
    .active = 3,
    .forward =
        [](std::span<const Tensor> x) {
          return are_rows(x[0], x.subspan(1, 2)) ? matrix_by<FusedRows::layer_norm, 2>(x)
                                                 : FusedResult();
        },
    .backward =
        [](std::span<const Tensor> x) {
          const Tensor operands[] = {x[0], x[1], x[3], x[4], x[5], x[6]};
          return pulled_with_scale(FusedRows::layer_norm_pullback, operands, /*added=*/true);
        },
    .ops = [](std::span<const Tensor> x) { return rows::layer_norm(x)[0]; }};

/// Of x, scale and epsilon.
constexpr FusedFunction kRmsNorm{
    .name = "rms_norm",
    .active = 2,
    .forward =
        [](std::span<const Tensor> x) {
          return are_rows(x[0], x.subspan(1, 1)) ? matrix_by<FusedRows::rms_norm, 1>(x)
                                                 : FusedResult();
        },
    .backward =
        [](std::span<const Tensor> x) {
          return pulled_with_scale(FusedRows::rms_norm_pullback, x, /*added=*/false);
        },
    .ops = [](std::span<const Tensor> x) { return rows::rms_norm(x)[0]; }};

bool is_last(const Tensor &x, std::int64_t axis) { return axis == -1 || axis == x.rank() - 1; }

/// Calls `body` with the number of each row and of the element that its label says; false, where it
/// may have been called, if one is no such number.
template <class Body>
bool for_each_label(const Tensor &labels, std::int64_t classes, const Body &body) {
  const DType wide = dtype_info(labels.dtype()).compute;
  const Tensor dense = (wide == labels.dtype() ? labels : cast(labels, wide)).contiguous();
  bool valid = true;
  const auto run = [&]<class T>(const T *label) {
    for (std::int64_t i = 0; i < dense.size() && valid; ++i) {
      valid = label[i] >= 0 && label[i] < classes;
      if (valid) body(i, i * classes + label[i]);
    }
  };
  const void *data = dense.impl()->data;
  if (dense.dtype() == DType::i32) run(static_cast<const std::int32_t *>(data));
  else if (dense.dtype() == DType::i64) run(static_cast<const std::int64_t *>(data));
  else valid = false;
  return valid;
}

template <class T>
T *elements(const Tensor &x) {
  return reinterpret_cast<T *>(x.impl()->data);
}

/// Of scores and labels.
FusedResult cross_entropy_forward(std::span<const Tensor> x) {
  const Tensor &labels = x[1];
  if (!are_rows(x[0]) || labels.rank() + 1 != x[0].rank() || labels.traced()) return {};
  for (std::int64_t i = 0; i < labels.rank(); ++i)
    if (labels.size(i) != x[0].size(i)) return {};
  const Tensor scores = x[0].contiguous();
  const Tensor results[] = {new_column(scores), new_column(scores), new_column(scores)};
  if (!run(FusedRows::cross_entropy, {&scores, 1}, results)) return {};
  bool valid = false;
  visit_real(scores.dtype(), [&]<class T>() {
    T *const values = elements<T>(results[0]);
    const T *const most = elements<T>(results[1]), *const score = elements<T>(scores);
    valid = for_each_label(labels, scores.size(-1), [&](std::int64_t row, std::int64_t at) {
      values[row] = static_cast<T>(values[row] - (score[at] - most[row]));
    });
  });
  return valid ? FusedResult{results[0], {results[1], results[2]}} : FusedResult();
}

/// Of scores, labels, the largest score of each row, the sum of what is left of their exponentials,
/// and the cotangent of the values.
std::vector<Tensor> cross_entropy_backward(std::span<const Tensor> x) {
  const Tensor cotangent = x[4].contiguous();
  const Tensor operands[] = {x[0], x[2], x[3], cotangent};
  const Tensor gradient = new_like(x[0]);
  if (!run(FusedRows::cross_entropy_pullback, operands, {&gradient, 1})) return {};
  visit_real(gradient.dtype(), [&]<class T>() {
    T *const of_score = elements<T>(gradient);
    const T *const of_value = elements<T>(cotangent);
    for_each_label(x[1], x[0].size(-1), [&](std::int64_t row, std::int64_t at) {
      of_score[at] = static_cast<T>(of_score[at] - of_value[row]);
    });
  });
  return {gradient};
}

} // namespace

Tensor softmax_along(const Tensor &x, std::int64_t axis) {
  if (is_last(x, axis)) return fused_call(kSoftmax, {&x, 1});
  return in_wide(
      {&x, 1}, [&](std::span<const Tensor> wide) { return rows::softmax_along(wide[0], axis)[0]; });
}

Tensor log_softmax_along(const Tensor &x, std::int64_t axis) {
  if (is_last(x, axis)) return fused_call(kLogSoftmax, {&x, 1});
  return in_wide({&x, 1}, [&](std::span<const Tensor> wide) {
    return rows::log_softmax_along(wide[0], axis)[0];
  });
}

Tensor rms_norm_of_rows(const Tensor &x, const Tensor &scale, double epsilon) {
  const Tensor given[] = {x, scale};
  return in_wide(given, [&](std::span<const Tensor> of) {
    const Tensor operands[] = {of[0], of[1], number(epsilon, of[0].dtype())};
    return fused_call(kRmsNorm, operands);
  });
}

Tensor normalized_rows(const Tensor &x, double epsilon, const Tensor &gamma, const Tensor &beta) {
  const Tensor given[] = {x, gamma, beta};
  return in_wide(given, [&](std::span<const Tensor> of) {
    if (!of[1].defined() || !of[2].defined())
      return rows::layer_norm_of(of[0], epsilon, of[1], of[2])[0];
    const Tensor operands[] = {of[0], of[1], of[2], number(epsilon, of[0].dtype())};
    return fused_call(kLayerNorm, operands);
  });
}

Moments moments_of_channels(const Tensor &x) {
  Ints axes(static_cast<std::size_t>(x.rank() - 1), 0);
  std::iota(axes.begin(), axes.end(), 0);
  if (!call::fuses({&x, 1}) || !are_rows(x) || x.size() == 0) return rows::moments_ops(x, axes);
  const Tensor mean = weft::mean(x, {.axes = axes, .keepdims = true});
  const Tensor operands[] = {x, mean}, squares = new_like(mean);
  if (!call::fused_columns(FusedRows::batch_squares, operands, squares))
    return rows::moments_ops(x, axes);
  return {mean, squares / static_cast<double>(x.size() / x.size(-1))};
}

Tensor normalized(const Tensor &x, const Moments &moments, double epsilon, const Tensor &gamma,
                  const Tensor &beta) {
  const Tensor operands[] = {x,     moments.mean, moments.variance,
                             gamma, beta,         number(epsilon, x.dtype())};
  const auto is_row = [&](const Tensor &of) {
    return of.dtype() == x.dtype() && of.size() == x.size(-1) &&
           (of.rank() == 0 ? Size(1) : of.size(-1)) == x.size(-1) && of.rank() <= x.rank();
  };
  if (call::fuses(operands) && are_rows(x) && std::all_of(operands + 1, operands + 5, is_row)) {
    const Tensor y = new_like(x);
    const std::int64_t size = x.size(-1);
    if (size != 0 &&
        call::fused_rows(FusedRows::batch_norm, operands, {&y, 1}, x.size() / size, size))
      return y;
  }
  const Tensor parts[] = {x, moments.mean, moments.variance, gamma, beta};
  return in_wide(parts, [&](std::span<const Tensor> of) {
    return rows::normalized_ops(of[0], {of[1], of[2]}, epsilon, of[3], of[4]);
  });
}

Tensor cross_entropy_of_rows(const Tensor &scores, const Tensor &labels,
                             Tensor (*ops)(std::span<const Tensor> x)) {
  const FusedFunction function{.name = "cross_entropy",
                               .active = 1,
                               .forward = cross_entropy_forward,
                               .backward = cross_entropy_backward,
                               .ops = ops};
  const Tensor operands[] = {scores, labels};
  return fused_call(function, operands);
}

} // namespace weft::nn
