// Gradients by a model.
#include <weft/gradients.h>

#include <weft/structure.h>

#include "Support/CallSite.h"

namespace weft {

namespace {

Tensor dense_of(const SlicedGradient &gradient) {
  const auto *slices = std::get_if<IndexedSlices>(&gradient);
  return slices == nullptr ? std::get<Tensor>(gradient) : slices->dense();
}

} // namespace

Gradients::Gradients(std::vector<nn::NamedVariable> variables,
                     std::vector<SlicedGradient> gradients, std::source_location where)
    : variables_(std::move(variables)), gradients_(std::move(gradients)) {
  const CompositeCall site("Gradients", where);
  if (variables_.size() != gradients_.size())
    throw ValueError("Gradients: there are " + std::to_string(gradients_.size()) +
                     " gradients for " + std::to_string(variables_.size()) + " variables");
}

Tensor Gradients::operator[](std::size_t number) const {
  if (number >= size())
    throw IndexError("Gradients: there is no gradient " + std::to_string(number) + " of " +
                     std::to_string(size()));
  return dense_of(gradients_[number]);
}

Tensor Gradients::operator[](std::string_view path) const {
  for (std::size_t i = 0; i < size(); ++i)
    if (variables_[i].path == path) return dense_of(gradients_[i]);
  std::string all;
  for (const nn::NamedVariable &entry : variables_)
    all += (all.empty() ? "'" : ", '") + entry.path + "'";
  throw ValueError("Gradients: there is no trainable variable '" + std::string(path) +
                   "' with a value, but " + (all.empty() ? "none at all" : all));
}

std::vector<Tensor> Gradients::tensors() const {
  std::vector<Tensor> all;
  for (const SlicedGradient &gradient : gradients_) all.push_back(dense_of(gradient));
  return all;
}

void Gradients::weft_visit(StructureVisitor &visitor) {
  visitor.enter(Node::map, size());
  for (std::size_t i = 0; i < size(); ++i) {
    visitor.literal(std::string_view(variables_[i].path));
    visitor.push(variables_[i].path);
    // Whose gradient it is: what a traced function returns names the variables of its call.
    visitor.enter(Node::tuple, 2);
    visitor.variable(variables_[i].variable);
    if (auto *slices = std::get_if<IndexedSlices>(&gradients_[i])) {
      visitor.enter(Node::tuple, 2);
      visitor.tensor(slices->values);
      visitor.tensor(slices->indices);
    } else if (auto &tensor = std::get<Tensor>(gradients_[i]); tensor.defined()) {
      visitor.tensor(tensor);
    } else {
      visitor.enter(Node::empty, 0);
    }
    visitor.pop();
  }
}

void Gradients::weft_visit(StructureVisitor &visitor) const {
  const_cast<Gradients *>(this)->weft_visit(visitor); // a visit of what is const changes nothing
}

} // namespace weft
