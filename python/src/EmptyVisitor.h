// A visitor of structures that takes nothing: what others that look at a few kinds of parts begin
// with.
#pragma once

#include <weft/structure.h>

namespace weft::python {

struct EmptyVisitor : StructureVisitor {
  void tensor(Tensor &) override {}
  void variable(Variable &) override {}
  void literal(bool) override {}
  void literal(std::int64_t) override {}
  void literal(std::uint64_t) override {}
  void literal(double) override {}
  void literal(std::string_view) override {}
  void enter(Node, std::size_t) override {}
  void layer(nn::LayerName &) override {}
  void stateful(Stateful &) override {}
  void push(std::string_view) override {}
  void pop() override {}
};

} // namespace weft::python
