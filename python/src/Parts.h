// Objects of Python as structures of C++: what optimizers, checkpoints, summaries and seeds of the
// library see of a model that is written in Python.
#pragma once

#include "Binding.h"

#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include <weft/structure.h>

namespace weft::python {

/// What bound classes that hold variables or state derive from first: layers, optimizers, metrics,
/// data sets. Bind them as `ClassOf<Mine, Visitable>`.
struct Visitable {
  using Initialized = void; // see Initialized.h
  virtual ~Visitable() = default;
  /// Shows its parts, as `weft_visit` of what it holds does.
  virtual void visit(StructureVisitor &visitor) = 0;
  /// Whether it keeps state for variables that are another's: it is no part of a model then.
  virtual bool is_optimizer() const { return false; }

  std::uint32_t restore_seen = 0, restore_looks = 0; ///< see Restores.h
};

/// The class of `Visitable` in Python; its heirs are those of bound classes.
inline PyTypeObject *visitable_type = nullptr;
/// The classes weft.Module and weft.optimizers.Optimizer, which the package keeps.
inline PyTypeObject *module_type = nullptr;
inline PyTypeObject *user_optimizer_type = nullptr;

/// Notes that a part was found while restores that wait look for it.
void mark_attached(Visitable &part);

inline bool is_visitable(PyObject *object) {
  return PyType_IsSubtype(Py_TYPE(object), visitable_type) != 0;
}
/// What is bound in such an object. Throws TypeError for one that was never initialized: a subclass
/// that does not call super().__init__.
Visitable &visitable_in(PyObject *object);

/// The names and values of a Module's attributes, an object's own, in the order in which they were
/// first assigned; of a dataclass its fields. Those of other objects are none.
std::vector<std::pair<nb::object, nb::object>> fields_of(PyObject *object);

/// Whether it is a Module or a bound object, and no container.
bool is_model(PyObject *object);

/// Whether a model has something to train, be it without a value yet.
bool may_train(nb::handle model);
/// The trainable variables of a model that have values.
nb::list trainable_variables(nb::handle model);

/// Whether optimizers in a structure are visited.
enum class Optimizers : std::uint8_t {
  visited, ///< they are: what a checkpoint saves
  left,    ///< they are not: the variables of a model
};

/// Any object of Python as a structure: tensors and variables, bound objects (`Visitable`), Modules
/// by their attributes, and lists, tuples, dicts and dataclasses of these. Names are parts of paths
/// ("blocks.1.attention.query.kernel"). Anything else is no part: numbers, texts, functions. Each
/// Module and container is visited at its first place, so that they may know each other.
///
/// It holds the object; copies are the same structure. For `nn::clone` it is a reference: copies of
/// models are made by copy.deepcopy.
class PythonParts {
public:
  explicit PythonParts(nb::handle object, Optimizers optimizers = Optimizers::visited);

  void weft_visit(StructureVisitor &visitor);
  void weft_visit(StructureVisitor &visitor) const;

  /// Puts tensors that a visitor has changed, during a visit of what is not const or behind it,
  /// into the attributes and items that they are. Throws TypeError for one in a tuple.
  void write_back();

  nb::handle object() const { return object_.get(); }

  /// The references that this has, and no copy of it, as `tp_traverse` visits them.
  int traverse(visitproc visit, void *arg) const;

private:
  friend class PartWalker;
  /// A tensor, and what it is an attribute or an item of.
  struct Place {
    nb::object owner, key;
    Tensor value, before;
  };

  std::shared_ptr<PyObject> object_;
  Optimizers optimizers_;
  std::shared_ptr<std::deque<Place>> places_;
};

/// A Python object that C++ reaches and its owner, an object of Python with `tp_traverse` and
/// `tp_clear`, keeps: C++ holds the link, which is empty once all owners are gone. Copies of an
/// owner are owners as well.
struct Link {
  PyObject *object = nullptr; ///< a reference of each owner
  std::size_t owners = 0;

  void own() {
    Py_INCREF(object);
    ++owners;
  }
  /// Once for each `own`. An object that goes may come back to the owner, which must not have the
  /// link any more.
  void disown() {
    PyObject *before = --owners == 0 ? std::exchange(object, nullptr) : object;
    Py_DECREF(before);
  }
};

/// The model behind a link as a structure, without its optimizers; nothing once that is empty.
class LinkedModel {
public:
  explicit LinkedModel(std::shared_ptr<Link> link) : link_(std::move(link)) {}
  void weft_visit(StructureVisitor &visitor) const;
  void weft_visit(StructureVisitor &visitor) { std::as_const(*this).weft_visit(visitor); }

private:
  std::shared_ptr<Link> link_;
};

void define_parts(nb::module_ &module);
void define_models(nb::module_ &module);

} // namespace weft::python
