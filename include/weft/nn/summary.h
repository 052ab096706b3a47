// Summaries: the table of a model's layers, their results and how many numbers they hold.
#pragma once

#include <functional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/nn/model.h>

namespace weft {
namespace detail {
std::string summary_of(const std::vector<nn::NamedVariable> &before,
                       const std::function<std::vector<nn::NamedVariable>()> &after,
                       const std::vector<TensorType> &inputs,
                       const std::function<void(const std::vector<Tensor> &)> &call,
                       const std::source_location &where);
} // namespace detail

namespace nn {

/// A table of the layers that a call of the model with an input of this type runs, in their order:
/// path and kind, the shape of the result, the number of parameters; then the sums. The call is
/// traced, not run: it takes no data, and a size may be `unknown`. Variables without shapes get
/// them. Throws what the call throws.
///
///   std::cout << nn::summary(model, {32, 28, 28, 1});
template <class T>
std::string summary(const T &model, const TensorType &input,
                    std::source_location where = WEFT_HERE) {
  static_assert(Model<T>, WEFT_MODEL_WANTED("nn::summary"));
  constexpr bool called = std::is_invocable_v<const T &, const Tensor &>;
  static_assert(!Model<T> || called, "nn::summary(model, input) calls the model with one tensor; "
                                     "one that is called otherwise is summed up with the types of "
                                     "its inputs and a function that calls it");
  if constexpr (Model<T> && called)
    return weft::detail::summary_of(
        named_variables(model), [&] { return named_variables(model); }, {input},
        [&](const std::vector<Tensor> &inputs) { static_cast<void>(model(inputs[0])); }, where);
  else return {};
}
template <class T>
std::string summary(const T &model, const Shape &input, std::source_location where = WEFT_HERE) {
  return summary(model, TensorType{DType::f32, input}, where);
}
/// The same of a model that is called with several tensors.
template <class T>
std::string summary(const T &model, const std::vector<TensorType> &inputs,
                    const std::function<void(const std::vector<Tensor> &)> &call,
                    std::source_location where = WEFT_HERE) {
  static_assert(Model<T>, WEFT_MODEL_WANTED("nn::summary"));
  if constexpr (Model<T>)
    return weft::detail::summary_of(
        named_variables(model), [&] { return named_variables(model); }, inputs, call, where);
  else return {};
}

} // namespace nn
} // namespace weft
