// Complex matrices as real ones, made of ops.
#include "Ops/Composites/ComplexMatrices.h"

#include "Ops/Composites/Parts.h"

namespace weft::composites {

Tensor as_real(const Tensor &x) {
  const Tensor re = real(x), im = imag(x);
  const std::int64_t rows = x.rank() - 2, columns = x.rank() - 1;
  return weft::concatenate({weft::concatenate({re, -im}, {.axis = columns}),
                            weft::concatenate({im, re}, {.axis = columns})},
                           {.axis = rows});
}

Tensor stacked(const Tensor &x) {
  return weft::concatenate({real(x), imag(x)}, {.axis = x.rank() - 2});
}

Tensor unstacked(const Tensor &x) {
  const std::int64_t axis = x.rank() - 2;
  const Size rows = size_along(x, axis);
  return complex(between(x, axis, 0, rows / 2), between(x, axis, rows / 2, rows));
}

Tensor interleaved(const Tensor &x) {
  const Tensor re = real(x), im = imag(x);
  const std::int64_t rank = x.rank();
  const auto pairs = [](const Tensor &first, const Tensor &second, std::int64_t axis) {
    return weft::concatenate({with_axis(first, axis), with_axis(second, axis)}, {.axis = axis});
  };
  const Tensor all = pairs(pairs(re, -im, rank), pairs(im, re, rank), rank - 1);
  Sizes sizes;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    sizes.push_back(axis < rank - 2 ? size_along(x, axis) : 2 * size_along(x, axis));
  return reshape(all, sizes);
}

Tensor lower_of_interleaved(const Tensor &x) {
  const std::int64_t rows = x.rank() - 2, columns = x.rank() - 1;
  const Tensor real_columns = along(x, columns, Slice{{}, {}, 2});
  return complex(along(real_columns, rows, Slice{0, {}, 2}),
                 weft::tril(along(real_columns, rows, Slice{1, {}, 2}), -1));
}

} // namespace weft::composites
