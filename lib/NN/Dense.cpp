// Dense layers: their variables and their call.
#include <weft/nn/dense.h>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include <weft/ops.h>

namespace weft::nn {

Dense::Dense(std::int64_t units, const DenseOptions &options, std::source_location where)
    : Dense(VariableMaker("Dense", options.name), std::nullopt, units, options, where) {}

Dense::Dense(std::int64_t inputs, std::int64_t units, const DenseOptions &options,
             std::source_location where)
    : Dense(VariableMaker("Dense", options.name), inputs, units, options, where) {}

Dense::Dense(const VariableMaker &make, std::optional<std::int64_t> inputs, std::int64_t units,
             const DenseOptions &options, const std::source_location &where)
    : kernel(make("kernel", options.dtype, options.kernel_initializer)),
      bias(make.optional(options.use_bias, "bias", options.dtype, options.bias_initializer)),
      activation(options.activation), units_(units), name_("Dense", options.name) {
  const LayerCall site(name_, where);
  check_at_least_one(name_, "unit", units);
  if (options.seed) kernel.seed(*options.seed);
  if (inputs) {
    check_at_least_one(name_, "input", *inputs);
    check_variable(name_, "kernel", {*inputs, units});
  }
  if (bias) bias->initialize({units});
  if (inputs) kernel.initialize({*inputs, units});
}

Tensor Dense::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = site.input(x);
  if (!kernel.initialized()) {
    check_rank(site.prefix(), value, 1);
    kernel.initialize({size_for_building(site.prefix(), value, -1), units_});
  }
  site.check_dtype(value, kernel);
  check_last_axis(site.prefix(), value, 1, kernel.shape()[0]);
  Tensor y = matmul(value, site.weight(kernel));
  if (bias) y = y + site.weight(*bias);
  return site.result(activation(y));
}

std::vector<Variable> Dense::parameters() const {
  std::vector<Variable> all = {kernel};
  if (bias) all.push_back(*bias);
  return all;
}

} // namespace weft::nn
