// Data sets of Python: stages with callables of Python, and passes over them.
#pragma once

#include "Items.h"
#include "Parts.h"

namespace weft::python {

/// The class weft.data.Dataset.
struct BoundDataset final : Visitable {
  explicit BoundDataset(data::detail::Pipeline stages, bool tensors_alone = false,
                        std::vector<nb::object> objects = {})
      : pipeline(std::move(stages)), bare(tensors_alone), held(std::move(objects)) {}
  void visit(StructureVisitor &visitor) override { visitor.stateful(pipeline.state()); }

  data::detail::Pipeline pipeline;
  bool bare;                    ///< whether every element is surely a tensor alone
  std::vector<nb::object> held; ///< whose functions the stages call, in sight of the collector
  std::optional<data::detail::ElementTypes> types = std::nullopt; ///< once they were asked for

  /// Without the lock of Python meanwhile.
  const data::detail::ElementTypes &types_of_elements();
};

/// What is bound in a data set of Python. Throws StateError for one that was never initialized.
BoundDataset &dataset_in(nb::handle object);
/// A data set of that class; by default weft.data.Dataset.
nb::object dataset_of(BoundDataset dataset, nb::handle type = {});
/// The rows of a structure of tensors.
nb::object rows_of_tensors(nb::handle structure);
/// A data set as it is, and one of what else is iterable. Throws TypeError, which calls it by this
/// name, for what is not.
nb::object as_dataset(nb::handle data, const Place &place);

/// Reads what a stage's function gives, with the lock of Python; errors of Python leave `body` as
/// KeptError. A StopIteration out of a user's function is a RuntimeError, as it is in a generator
/// (PEP 479), for a loop would take it for the end of the data.
template <class Body>
auto in_function(const char *stage, const CallablePointer &slot, const Body &body) {
  const Entered entered;
  try {
    try {
      return body();
    } catch (nb::python_error &error) {
      if (!error.matches(PyExc_StopIteration)) throw;
      nb::raise_from(error, PyExc_RuntimeError, "%s: the function raised StopIteration", stage);
    }
  } catch (const nb::python_error &error) {
    throw KeptError(slot, error);
  }
}

/// A pass over several data sets side by side, as long as all have elements.
std::shared_ptr<data::detail::Pass> start_all(std::span<const data::detail::Pipeline> pipelines);

void define_data(nb::module_ &module);
void define_data_files();
void define_data_loops(nb::module_ &module);

} // namespace weft::python
