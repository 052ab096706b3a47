// What objects that are made of arguments have: names, copies, variables in their order.
#include "Define.h"
#include "EmptyVisitor.h"
#include "Layers.h"

#include <limits>

namespace weft::python {

void MadeObject::take(Given &given) {
  activation = std::move(given.activation);
  own(given.links);
}

void MadeObject::copy(const MadeObject &from) {
  activation = from.activation;
  arguments = from.arguments;
  input_shape = from.input_shape;
  own(from.links);
}

void MadeObject::own(const std::vector<std::shared_ptr<Link>> &more) {
  for (const std::shared_ptr<Link> &link : more) {
    link->own();
    links.push_back(link);
  }
}

int MadeObject::traverse(visitproc visit, void *arg) const {
  Py_VISIT(activation.ptr());
  Py_VISIT(arguments.ptr());
  Py_VISIT(input_shape.ptr());
  for (const std::shared_ptr<Link> &link : links) Py_VISIT(link->object);
  return 0;
}

void MadeObject::clear() {
  // An object that goes may come back here.
  const nb::object first = std::move(activation), second = std::move(arguments);
  for (const std::shared_ptr<Link> &link : std::exchange(links, {})) link->disown();
}

namespace {

PyObject *from_config(PyObject *type, PyObject *config) {
  return guarded([&]() -> PyObject * {
    if (PyDict_Check(config) == 0)
      raise_type_error("from_config: config is a " + std::string(Py_TYPE(config)->tp_name) +
                       ": a dict of arguments is wanted, such as get_config() gives");
    return checked(PyObject_Call(type, nb::tuple().ptr(), config)).release().ptr();
  });
}
PyMethodDef config_methods[] = {
    {"from_config", from_config, METH_O | METH_CLASS,
     "from_config(config)\n--\n\nAn object made by these arguments, as `get_config` gives them."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

const PyType_Slot config_slots[] = {{Py_tp_methods, config_methods}, {0, nullptr}};

namespace {

struct NameFinder final : EmptyVisitor {
  void layer(nn::LayerName &name) override {
    if (depth >= nearest) return;
    nearest = depth;
    found = &name;
  }
  void push(std::string_view) override { ++depth; }
  void pop() override { --depth; }

  const nn::LayerName *found = nullptr;
  int depth = 0, nearest = std::numeric_limits<int>::max();
};

struct Exchanger final : EmptyVisitor {
  explicit Exchanger(nb::handle memo)
      : memo(memo), deepcopy(nb::module_::import_("copy").attr("deepcopy")) {}
  void variable(Variable &value) override {
    const nb::object copy = deepcopy(nb::steal(wrap(value)), memo);
    value = variable_in(copy.ptr());
  }
  void layer(nn::LayerName &name) override { name = name.another(); }

  nb::handle memo;
  nb::object deepcopy;
};

} // namespace

const nn::LayerName *name_of(Visitable &part) {
  NameFinder finder;
  part.visit(finder);
  return finder.found;
}

void exchange_variables(Visitable &part, nb::handle memo) {
  Exchanger exchanger(memo);
  part.visit(exchanger);
}

nb::object copy_of_instance(PyObject *self, nb::handle memo,
                            const std::function<void(nb::handle)> &construct) {
  nb::object made = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject *>(Py_TYPE(self))));
  construct(made);
  memo[checked(PyLong_FromVoidPtr(self))] = made;
  const auto fields = fields_of(self);
  const nb::object deepcopy = nb::module_::import_("copy").attr("deepcopy");
  for (const auto &[name, value] : fields)
    if (PyObject_GenericSetAttr(made.ptr(), name.ptr(), deepcopy(value, memo).ptr()) != 0)
      throw nb::python_error();
  return made;
}

nb::dict arguments_named(const MadeObject &self, std::span<const char *const> names) {
  nb::dict chosen;
  for (const char *name : names)
    if (PyObject *value = PyDict_GetItemString(self.arguments.ptr(), name); value != nullptr)
      chosen[name] = nb::handle(value);
  return chosen;
}

namespace {

struct Lister final : EmptyVisitor {
  void variable(Variable &value) override {
    list.append(value.initialized() ? checked(wrap(value)) : nb::none());
  }
  nb::list list;
};

/// All variables of a bound object in their order, None in the place of one without a value.
nb::list part_variables(nb::handle part) {
  Lister lister;
  visitable_in(part.ptr()).visit(lister);
  return lister.list;
}

struct Setter final : EmptyVisitor {
  void variable(Variable &value) override {
    const nb::object next = list[at++];
    if (!next.is_none()) value = variable_in(next.ptr());
  }
  nb::list list;
  std::size_t at = 0;
};

/// Gives a bound object other variables, in their order; None leaves one.
void set_part_variables(nb::handle part, nb::list variables) {
  Visitable &of = visitable_in(part.ptr());
  if (nb::len(part_variables(part)) != nb::len(variables))
    throw ValueError("a layer was pickled with " + std::to_string(nb::len(variables)) +
                     " variables, and has another number of them");
  Setter setter;
  setter.list = std::move(variables);
  of.visit(setter);
}

} // namespace

void define_made(nb::module_ &module) {
  define_parameters(module);
  define<part_variables>(module, "internal_part_variables(part)", Returns{"list[Variable | None]"});
  define<set_part_variables>(module, "internal_set_part_variables(part, variables)");
}

} // namespace weft::python
