// How layers draw the first values of their variables.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <weft/tensor.h>
#include <weft/variable.h>

/// Functions that make a VariableInitializer. Fans are those of the last two axes of a shape,
/// inputs and outputs, each times the sizes of the axes before them (the window of a convolution);
/// of a vector both are its size. All throw ValueError for a negative or infinite parameter.
namespace weft::nn::initializers {

/// What these functions make: one that knows which function that was, and its arguments.
struct Named {
  const char *name;
  std::vector<double> numbers;
  VariableInitializer draw;

  Tensor operator()(const Shape &shape, DType dtype,
                    const std::optional<std::uint64_t> &seed) const {
    return draw(shape, dtype, seed);
  }
};

/// Uniform within sqrt(6 / (inputs + outputs)) (Glorot & Bengio 2010).
VariableInitializer glorot_uniform();
/// Normal of variance 2 / (inputs + outputs), truncated at two deviations, whose deviation is
/// corrected for that.
VariableInitializer glorot_normal();
/// Uniform within sqrt(6 / inputs) (He et al. 2015).
VariableInitializer he_uniform();
/// Truncated normal of variance 2 / inputs.
VariableInitializer he_normal();
/// Uniform within sqrt(3 / inputs) (LeCun et al. 1998).
VariableInitializer lecun_uniform();
/// Truncated normal of variance 1 / inputs.
VariableInitializer lecun_normal();
/// A matrix with orthonormal rows or columns, whichever are fewer, times `gain`, of all axes but
/// the last by the last (Saxe et al. 2014). Drawing one throws ShapeError for a scalar or a vector.
VariableInitializer orthogonal(double gain = 1);
VariableInitializer uniform(double low = -0.05, double high = 0.05);
VariableInitializer normal(double stddev = 0.05, double mean = 0);
/// Within two deviations of the mean.
VariableInitializer truncated_normal(double stddev = 0.05, double mean = 0);
VariableInitializer constant(double value);
VariableInitializer zeros();
VariableInitializer ones();

} // namespace weft::nn::initializers
