// Gradients by a model: one for each of its trainable variables, with their paths.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include <weft/indexed_slices.h>
#include <weft/nn/model.h>

namespace weft {

/// What `tape.gradient(loss, model)` gives: for each trainable variable of the model, in the order
/// of `nn::trainable_variables`, its gradient: a tensor, slices where the variable was only
/// gathered from (an embedding), or an undefined tensor where the loss does not depend on it.
/// Optimizers take it whole. Copies share the tensors.
class Gradients {
public:
  /// For the library and for who computes gradients otherwise. Throws ValueError if the counts
  /// differ.
  Gradients(std::vector<nn::NamedVariable> variables, std::vector<SlicedGradient> gradients,
            std::source_location where = WEFT_HERE);

  std::size_t size() const { return variables_.size(); }
  const std::vector<nn::NamedVariable> &variables() const { return variables_; }
  const std::vector<SlicedGradient> &sliced() const { return gradients_; }
  /// The gradient of that variable, as a tensor; undefined if there is none. Throws IndexError for
  /// a number that is too large, ValueError for a path that no trainable variable has.
  Tensor operator[](std::size_t number) const;
  Tensor operator[](std::string_view path) const;
  /// All of them as tensors.
  std::vector<Tensor> tensors() const;

  void weft_visit(StructureVisitor &visitor);
  void weft_visit(StructureVisitor &visitor) const;

private:
  std::vector<nn::NamedVariable> variables_;
  std::vector<SlicedGradient> gradients_;
};

} // namespace weft
