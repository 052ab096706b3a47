// Data sets of Python: stages with callables of Python, and passes over them.
#pragma once

#include "Items.h"
#include "Parts.h"

namespace weft::python {

/// What the class Dataset of Python is a coat of.
struct BoundPipeline final : Visitable {
  BoundPipeline(data::detail::Pipeline stages, bool tensors_alone = false)
      : pipeline(std::move(stages)), bare(tensors_alone) {}
  void visit(StructureVisitor &visitor) override { visitor.stateful(pipeline.state()); }

  data::detail::Pipeline pipeline;
  bool bare; ///< whether every element is surely a tensor alone
  std::optional<data::detail::ElementTypes> types = std::nullopt; ///< once they were asked for

  /// Without the lock of Python meanwhile.
  const data::detail::ElementTypes &types_of_elements();
};

/// A pass over several data sets side by side, as long as all have elements.
std::shared_ptr<data::detail::Pass> start_all(std::span<const data::detail::Pipeline> pipelines);

void define_data(nb::module_ &module);
void define_data_files(nb::module_ &module);
void define_data_loops(nb::module_ &module);

} // namespace weft::python
