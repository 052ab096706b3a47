// Visits of objects of Python by the names of their attributes.
#include "Parts.h"
#include "Define.h"
#include "EmptyVisitor.h"
#include "Kinds.h"
#include "Text.h"

#include <string>
#include <unordered_set>

#include <weft/optimizers.h>
#include <weft/random.h>

namespace weft::python {

namespace {

/// Lets go of an object on any thread, as long as Python lives.
void release(PyObject *object) {
  if (Py_IsInitialized() == 0) return;
  const Locked locked;
  Py_DECREF(object);
}

bool is_module(PyObject *object) {
  return module_type != nullptr && PyType_IsSubtype(Py_TYPE(object), module_type) != 0;
}

bool is_users_optimizer(PyObject *object) {
  return user_optimizer_type != nullptr &&
         PyType_IsSubtype(Py_TYPE(object), user_optimizer_type) != 0;
}

/// A method by which a Module says what its parts are called, for those that have no names.
PyObject *own_parts_name() {
  static PyObject *const name = PyUnicode_InternFromString("_weft_parts");
  return name;
}

using Fields = std::vector<std::pair<nb::object, nb::object>>;

void add_pairs(const nb::object &pairs, Fields &fields) {
  for (const nb::handle pair : pairs) fields.emplace_back(pair[0], pair[1]);
}

void add_attributes(PyObject *object, Fields &fields) {
  const nb::object dict = nb::steal(PyObject_GenericGetDict(object, nullptr));
  if (!dict.is_valid()) {
    PyErr_Clear();
    return;
  }
  for (auto &item : items_of(dict.ptr())) fields.push_back(std::move(item));
}

/// Attributes that a class of the user's keeps in slots.
void add_slots(PyObject *object, Fields &fields) {
  static PyObject *const name = PyUnicode_InternFromString("__slots__");
  const nb::object bases = nb::borrow(Py_TYPE(object)->tp_mro);
  for (Py_ssize_t i = 0; bases.is_valid() && i < PyTuple_GET_SIZE(bases.ptr()); ++i) {
    auto *base = reinterpret_cast<PyTypeObject *>(PyTuple_GET_ITEM(bases.ptr(), i));
    const nb::object slots =
        nb::borrow(base->tp_dict == nullptr ? nullptr : PyDict_GetItem(base->tp_dict, name));
    if (!slots.is_valid() || PyUnicode_Check(slots.ptr()) != 0) continue;
    for (const nb::handle slot : slots) {
      if (PyUnicode_CompareWithASCIIString(slot.ptr(), "__dict__") == 0) continue;
      const nb::object value = nb::steal(PyObject_GetAttr(object, slot.ptr()));
      if (value.is_valid()) fields.emplace_back(nb::borrow(slot), value);
      else PyErr_Clear();
    }
  }
}

/// "0" for 0: what a key is called in paths; empty for one that is no name.
std::string name_of_key(PyObject *key) {
  if (PyUnicode_Check(key) != 0) {
    const char *text = PyUnicode_AsUTF8(key);
    if (text == nullptr) throw nb::python_error();
    return text;
  }
  if (PyLong_Check(key) != 0) return text_of(nb::handle(key));
  return {};
}

} // namespace

void refuse_half_made(PyObject *object) {
  const std::string type = Py_TYPE(object)->tp_name;
  raise_type_error("this " + type.substr(type.rfind('.') + 1) + " was never initialized: " +
                   (nb::inst_python_derived(object)
                        ? "call super().__init__(...) first in the __init__ of its class"
                        : "make one by a call of its class"));
}

Visitable &visitable_in(PyObject *object) {
  if (!nb::inst_ready(object)) [[unlikely]]
    refuse_half_made(object);
  return *nb::inst_ptr<Visitable>(object);
}

std::vector<std::pair<nb::object, nb::object>> fields_of(PyObject *object) {
  Fields fields;
  if (is_module(object)) {
    if (const nb::object parts = nb::steal(PyObject_GetAttr(object, own_parts_name()));
        parts.is_valid() && !parts.is_none()) {
      add_pairs(checked(PyObject_CallNoArgs(parts.ptr())), fields);
      return fields;
    }
    PyErr_Clear();
    add_slots(object, fields);
    add_attributes(object, fields);
  } else if (is_visitable(object)) {
    // What a subclass of Python adds.
    add_attributes(object, fields);
  } else if (kind_of(object) == Kind::record) {
    for (const nb::handle name : field_names(object))
      if (const nb::object value = nb::steal(PyObject_GetAttr(object, name.ptr()));
          value.is_valid())
        fields.emplace_back(nb::borrow(name), value);
      else PyErr_Clear();
  }
  return fields;
}

bool is_model(PyObject *object) { return is_module(object) || is_visitable(object); }

//===----------------------------------------------------------------------===//
// The walk
//===----------------------------------------------------------------------===//

/// One visit.
class PartWalker {
public:
  using Place = PythonParts::Place;

  /// `places` keep tensors that may be changed; null if none may.
  PartWalker(StructureVisitor &visitor, Optimizers optimizers, std::deque<Place> *places)
      : visitor_(visitor), optimizers_(optimizers), places_(places) {}

  void walk(PyObject *object, PyObject *owner = nullptr, PyObject *key = nullptr) {
    if (is_tensor(object)) return tensor(object, owner, key);
    if (is_variable(object)) return visitor_.variable(const_cast<Variable &>(variable_in(object)));
    if (is_visitable(object)) return bound(object);
    if (is_module(object)) {
      if (optimizers_ == Optimizers::left && is_users_optimizer(object)) return;
      return record(object);
    }
    if (PyList_Check(object) != 0 || PyTuple_Check(object) != 0) return sequence(object);
    if (PyDict_Check(object) != 0) return dict(object);
    if (is_plain(object)) return;
    if (nb::isinstance<random::Generator>(object)) return generator(object);
    if (nb::isinstance<optimizers::LossScale>(object))
      return visit_structure(nb::cast<optimizers::LossScale &>(nb::handle(object)), visitor_);
    if (kind_of(object) == Kind::record) record(object);
  }

private:
  /// Numbers, texts and functions, which most attributes are.
  static bool is_plain(PyObject *object) {
    return object == Py_None || PyLong_Check(object) != 0 || PyFloat_Check(object) != 0 ||
           PyUnicode_Check(object) != 0 || PyFunction_Check(object) != 0 ||
           PyType_Check(object) != 0;
  }

  bool first_visit(PyObject *object) {
    constexpr std::size_t kDeepest = 500;
    if (depth_ > kDeepest)
      throw ValueError("a model is nested too deep: more than 500 Modules and containers are in "
                       "each other");
    if (!seen_.insert(object).second) return false;
    held_.push_back(nb::borrow(object)); // another at its address would count as seen
    return true;
  }

  void tensor(PyObject *object, PyObject *owner, PyObject *key) {
    const Tensor &value = tensor_in(object);
    if (places_ == nullptr || owner == nullptr) return visitor_.tensor(const_cast<Tensor &>(value));
    Place &place = places_->emplace_back(Place{nb::borrow(owner), nb::borrow(key), value, value});
    visitor_.tensor(place.value);
  }

  void generator(PyObject *object) {
    const auto &of = nb::cast<const random::Generator &>(nb::handle(object));
    visitor_.variable(const_cast<Variable &>(of.state()));
  }

  void bound(PyObject *object) {
    Visitable &part = visitable_in(object);
    if (part.is_optimizer() && optimizers_ == Optimizers::left) return;
    mark_attached(part);
    part.visit(visitor_);
    // A subclass of Python may have more.
    if (first_visit(object)) fields(object, fields_of(object));
  }

  void record(PyObject *object) {
    if (!first_visit(object)) return;
    const Fields all = fields_of(object);
    visitor_.enter(Node::record, all.size());
    fields(object, all);
  }

  void fields(PyObject *object, const Fields &all) {
    for (const auto &[name, value] : all) part(name_of_key(name.ptr()), value.ptr(), object, name);
  }

  void sequence(PyObject *object) {
    if (!first_visit(object)) return;
    static PyObject *const names = PyUnicode_InternFromString("_fields");
    const nb::object items = checked(PySequence_Tuple(object));
    const Py_ssize_t count = PyTuple_GET_SIZE(items.ptr());
    const nb::object fields =
        PyTuple_Check(object) != 0 ? nb::steal(PyObject_GetAttr(object, names)) : nb::object();
    PyErr_Clear();
    visitor_.enter(fields.is_valid() ? Node::record : Node::sequence,
                   static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i)
      part(fields.is_valid() ? name_of_key(nb::object(fields[i]).ptr()) : std::to_string(i),
           PyTuple_GET_ITEM(items.ptr(), i), object, nb::int_(i));
  }

  void dict(PyObject *object) {
    if (!first_visit(object)) return;
    const auto items = items_of(object);
    visitor_.enter(Node::map, items.size());
    for (const auto &[key, value] : items) {
      if (is_plain(value.ptr())) continue;
      const std::string name = name_of_key(key.ptr());
      if ((name.empty() || name.find('.') != std::string::npos) && holds_parts(value.ptr()))
        throw ValueError(std::string("the key ") + repr_of(key) +
                         " of a dict that holds variables must be a text that is not empty and "
                         "has no dot, or an integer, for it is part of a path");
      part(name, value.ptr(), object, key);
    }
  }

  void part(const std::string &name, PyObject *value, PyObject *owner, const nb::object &key) {
    if (is_plain(value)) return;
    visitor_.push(name);
    ++depth_;
    walk(value, owner, key.ptr());
    --depth_;
    visitor_.pop();
  }

  bool holds_parts(PyObject *object) const;

  StructureVisitor &visitor_;
  Optimizers optimizers_;
  std::deque<Place> *places_;
  std::unordered_set<PyObject *> seen_;
  std::vector<nb::object> held_;
  std::size_t depth_ = 0;
};

namespace {

/// Whether a visit comes to anything that has a path.
struct PartFinder final : EmptyVisitor {
  bool found = false;

  void tensor(Tensor &) override { found = true; }
  void variable(Variable &) override { found = true; }
  void layer(nn::LayerName &) override { found = true; }
  void stateful(Stateful &) override { found = true; }
};

} // namespace

bool PartWalker::holds_parts(PyObject *object) const {
  PartFinder finder;
  PartWalker(finder, optimizers_, nullptr).walk(object);
  return finder.found;
}

//===----------------------------------------------------------------------===//
// Structures
//===----------------------------------------------------------------------===//

PythonParts::PythonParts(nb::handle object, Optimizers optimizers)
    : object_(Py_NewRef(object.ptr()), release), optimizers_(optimizers),
      places_(new std::deque<Place>, [](std::deque<Place> *places) {
        const Locked locked;
        delete places;
      }) {}

void PythonParts::weft_visit(StructureVisitor &visitor) {
  const Locked locked;
  places_->clear();
  PartWalker(visitor, optimizers_, places_.get()).walk(object_.get());
}

void PythonParts::weft_visit(StructureVisitor &visitor) const {
  const Locked locked;
  PartWalker(visitor, optimizers_, nullptr).walk(object_.get());
}

int PythonParts::traverse(visitproc visit, void *arg) const {
  if (object_.use_count() == 1) Py_VISIT(object_.get());
  if (places_.use_count() != 1) return 0;
  for (const Place &place : *places_) {
    Py_VISIT(place.owner.ptr());
    Py_VISIT(place.key.ptr());
  }
  return 0;
}

void PythonParts::write_back() {
  const Locked locked;
  for (Place &place : *places_) {
    if (place.value.impl() == place.before.impl()) continue;
    const nb::object value = checked(wrap(place.value));
    PyObject *owner = place.owner.ptr(), *key = place.key.ptr();
    if (PyTuple_Check(owner) != 0)
      raise_type_error("a tensor in a tuple cannot be restored, for tuples do not change: keep it "
                       "in a list, or in a Variable");
    const bool items = PyList_Check(owner) != 0 || PyDict_Check(owner) != 0;
    const int failed = items ? PyObject_SetItem(owner, key, value.ptr())
                             : PyObject_GenericSetAttr(owner, key, value.ptr());
    if (failed != 0) throw nb::python_error();
    place.before = place.value;
  }
}

void LinkedModel::weft_visit(StructureVisitor &visitor) const {
  const Locked locked;
  if (link_->object == nullptr) return;
  const nb::object alive = nb::borrow(link_->object);
  PartWalker(visitor, Optimizers::left, nullptr).walk(alive.ptr());
}

void define_parts(nb::module_ &module) {
  const auto type =
      ClassOf<Visitable>(module, "_Part", nb::is_weak_referenceable(),
                         "What holds variables or state: layers, optimizers, metrics.");
  visitable_type = reinterpret_cast<PyTypeObject *>(type.ptr());
  module.attr("internal_part") = type;
  define(module, "internal_fields(object)", [](nb::handle object) {
    nb::list pairs;
    for (const auto &[name, value] : fields_of(object.ptr()))
      pairs.append(nb::make_tuple(nb::str(name_of_key(name.ptr()).c_str()), value));
    return pairs;
  });
  // Borrowed: the package keeps the class.
  define(module, "internal_set_module_class(type)",
         [](nb::handle type) { module_type = reinterpret_cast<PyTypeObject *>(type.ptr()); });
  define(module, "internal_set_optimizer_class(type)", [](nb::handle type) {
    user_optimizer_type = reinterpret_cast<PyTypeObject *>(type.ptr());
  });
}

} // namespace weft::python
