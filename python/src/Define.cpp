// Definitions of functions and classes: their tables, and what wrong calls say.
#include "Define.h"
#include "Composites.h"
#include "Names.h"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <string_view>

namespace weft::python {

namespace {

//===----------------------------------------------------------------------===//
// What is defined, for stubs
//===----------------------------------------------------------------------===//

struct Property {
  std::string name;
  TypeWordsOf type;
  bool is_writable;
  const char *stub; ///< as in Returns
};
struct NotedClass {
  PyTypeObject *type;
  std::vector<Property> properties;
  std::vector<const Definition *> methods;
};

/// In the order of their definitions.
std::vector<NotedClass> &classes() {
  static auto &all = *new std::vector<NotedClass>();
  return all;
}
std::vector<const Definition *> &functions() {
  static auto &all = *new std::vector<const Definition *>();
  return all;
}

NotedClass *noted(PyTypeObject *type) {
  for (NotedClass &one : classes())
    if (one.type == type) return &one;
  return nullptr;
}

/// The type of what is given: lists, where sequences of any kind may be taken.
std::string given_stub(TypeWordsOf type) {
  constexpr std::string_view kTaken = "Sequence[";
  std::string text = type().stub;
  for (std::size_t at = 0; (at = text.find(kTaken, at)) != std::string::npos;)
    text.replace(at, kTaken.size(), "list[");
  return text;
}

/// "(self, x: int, y: float = 0.0) -> Tensor"
std::string stub_of(const Definition &definition) {
  std::vector<std::string> kept;
  const auto text = [&](std::string of) { return kept.emplace_back(std::move(of)).c_str(); };
  kept.reserve(definition.args.size() + 1);
  Signature signature = *definition.signature;
  for (std::size_t i = 0; i < definition.args.size(); ++i) {
    const Arg &arg = definition.args[i];
    std::string type = arg.stub != nullptr ? arg.stub : definition.types[i]().stub;
    if (arg.stub == nullptr && arg.takes_none && type != "Any" &&
        type.find("None") == std::string::npos)
      type += " | None";
    signature.params[i].stub = text(std::move(type));
  }
  signature.result = definition.is_constructor()     ? "None"
                     : definition.returns != nullptr ? definition.returns
                                                     : text(given_stub(definition.result));
  return signature.stub(definition.owner != nullptr ? "self" : nullptr);
}

/// A docstring below a line that ends in a colon.
std::string stub_documentation(std::string_view documentation, const std::string &indent) {
  const std::size_t at = documentation.find("\n--\n\n");
  if (at != std::string_view::npos) documentation.remove_prefix(at + 5);
  while (documentation.ends_with('\n')) documentation.remove_suffix(1);
  if (documentation.empty()) return indent + "...\n";
  std::string text = indent + "\"\"\"";
  for (const char c : documentation) {
    if (c == '\\') text += '\\';
    text += c;
    if (c == '\n') text += indent;
  }
  return text + "\n" + indent + "\"\"\"\n";
}

std::string stub_of(const NotedClass &of) {
  const nb::handle type(reinterpret_cast<PyObject *>(of.type));
  const std::string name = text_of(nb::object(type.attr("__name__")));
  const std::string base = text_of(nb::object(type.attr("__base__").attr("__name__")));
  std::string text = (of.type->tp_flags & Py_TPFLAGS_BASETYPE) == 0 ? "@final\n" : "";
  text += "class " + name + (base == "object" ? "" : "(" + base + ")") + ":\n";
  text += stub_documentation(of.type->tp_doc != nullptr ? of.type->tp_doc : "", "    ");
  for (const Property &one : of.properties) {
    const std::string given = one.stub != nullptr ? one.stub : given_stub(one.type);
    text += one.is_writable ? std::string("    ") + one.name + ": " + given + "\n"
                            : std::string("    @property\n    def ") + one.name + "(self) -> " +
                                  given + ": ...\n";
  }
  static constexpr std::string_view kSpecial[] = {"__init__", "__call__",    "__enter__",
                                                  "__exit__", "__iter__",    "__next__",
                                                  "__len__",  "__getitem__", "__contains__"};
  for (const Definition *method : of.methods)
    if (!method->name.starts_with('_') ||
        std::ranges::find(kSpecial, method->name) != std::end(kSpecial))
      text += "    def " + method->name + stub_of(*method) + ":\n" +
              stub_documentation(method->row.ml_doc, "        ");
  return text;
}

} // namespace

void publish(nb::module_ &family, nb::handle type) {
  std::string module = text_of(family.attr("__name__"));
  type.attr("__module__") = module.erase(5, 1);
  family.attr("__all__").attr("append")(type.attr("__name__"));
}

void note_class(nb::handle type) {
  classes().push_back({reinterpret_cast<PyTypeObject *>(type.ptr()), {}, {}});
}

void note_property(nb::handle type, const char *name, TypeWordsOf of, bool is_writable,
                   const char *stub) {
  noted(reinterpret_cast<PyTypeObject *>(type.ptr()))
      ->properties.push_back({name, of, is_writable, stub});
}

nb::dict stubs() {
  nb::dict all;
  // "linalg.qr" is one of weft._linalg.
  const auto whole = [](std::string_view name) {
    return nb::str(
        (name.find('.') == name.npos ? std::string(name) : "weft." + std::string(name)).c_str());
  };
  const auto last = [](std::string_view name) {
    return std::string(name.substr(name.rfind('.') + 1));
  };
  for (const Signature *one : documented_signatures())
    if (*one->documentation() != 0)
      all[whole(one->name)] = nb::str(("def " + last(one->name) + one->stub() + ":\n" +
                                       stub_documentation(one->documentation(), "    "))
                                          .c_str());
  for (const NamedTuple *one : named_tuples()) all[whole(one->name)] = nb::str(one->stub().c_str());
  // Those of weft._data and so on by their whole names.
  const nb::dict modules = nb::module_::import_("sys").attr("modules");
  const auto key = [&](nb::handle object) {
    const std::string module = text_of(object.attr("__module__"));
    const std::string name = text_of(object.attr("__name__"));
    const bool is_of_family =
        module.starts_with("weft.") && modules.contains(("weft._" + module.substr(5)).c_str());
    return nb::str((is_of_family ? module + "." + name : name).c_str());
  };
  for (const Definition *one : functions())
    all[key(one->object)] = nb::str(
        ("def " + one->name + stub_of(*one) + ":\n" + stub_documentation(one->row.ml_doc, "    "))
            .c_str());
  for (const NotedClass &one : classes())
    all[key(reinterpret_cast<PyObject *>(one.type))] = nb::str(stub_of(one).c_str());
  return all;
}

TypeWords words_of_class(nb::handle type) {
  if (!type.is_valid()) return {"a value of another type", "values", "Any"};
  std::string name = public_name(type);
  // One within by the class of Python that derives from it, as History does.
  for (const nb::handle derived : nb::list(type.attr("__subclasses__")()))
    if (name.empty()) name = public_name(derived);
  const std::string word = name.empty() ? "value of another type" : name;
  return {"a " + word, word + "s", nb::cast<std::string>(nb::object(type.attr("__name__")))};
}

//===----------------------------------------------------------------------===//
// Definitions
//===----------------------------------------------------------------------===//

Definition *keep(Definition definition, Extras extras, PyCFunction call) {
  auto *kept = new Definition(std::move(definition));
  kept->args = std::move(extras.args);
  kept->returns = extras.returns;
  std::vector<Param> params;
  const auto text = kept_words;
  if (const std::size_t open = kept->name.find('('); open != std::string::npos) {
    std::istringstream list(kept->name.substr(open + 1, kept->name.size() - open - 2));
    for (std::string word; std::getline(list >> std::ws, word, ',');)
      kept->args.emplace_back(text(word));
    kept->name.resize(open);
  }
  for (Arg &option : kept->options) {
    const bool said = std::ranges::any_of(
        kept->args, [&](const Arg &arg) { return std::string_view(arg.name) == option.name; });
    if (!said) kept->args.push_back(std::move(option));
  }
  Param others("args");
  if (const auto rest = std::ranges::find_if(kept->args, &Arg::is_rest); rest != kept->args.end()) {
    others = Param(rest->name + 1, rest->stub != nullptr ? rest->stub : "Any");
    if (extras.positional != SIZE_MAX) --extras.positional;
    kept->args.erase(rest);
  }
  if (kept->args.size() != kept->types.size())
    throw std::logic_error(kept->name + ": each parameter has a name");
  for (std::size_t i = 0; i < kept->args.size(); ++i) {
    const Arg &arg = kept->args[i];
    if (i == extras.positional) params.emplace_back("*");
    params.emplace_back(arg.name, "Any",
                        arg.otherwise.is_valid() ? text(repr_of(arg.otherwise)) : arg.shown);
  }
  kept->signature = std::make_unique<Signature>(kept->name.c_str(), std::move(params), "Any");
  kept->signature->others = kept->others;
  kept->signature->rest = others;
  kept->signature->keywords = kept->keywords;
  const char *documentation =
      kept->signature->documented(extras.documentation, kept->owner != nullptr ? "$self" : nullptr);
  kept->row = {kept->name.c_str(), call, METH_FASTCALL | METH_KEYWORDS, documentation};
  return kept;
}

void install(nb::handle owner, Definition &definition) {
  std::string module = definition.owner == nullptr ? text_of(owner.attr("__name__")) : "";
  // The names of weft._data are those of weft.data.
  if (module != "weft._weft" && module.starts_with("weft._")) {
    owner.attr("__all__").attr("append")(definition.name);
    module.erase(5, 1);
  }
  const nb::object object =
      definition.owner != nullptr
          ? checked(PyDescr_NewMethod(definition.owner, &definition.row))
          : checked(PyCFunction_NewEx(&definition.row, nullptr, nb::str(module.c_str()).ptr()));
  nb::setattr(owner, definition.name.c_str(), object);
  definition.object = object.ptr(); // which the module or the class has
  NotedClass *of = definition.owner != nullptr ? noted(definition.owner) : nullptr;
  if (of != nullptr) of->methods.push_back(&definition);
  else if (definition.owner == nullptr) functions().push_back(&definition);
}

std::string Definition::public_name(PyObject *self) const {
  std::string of =
      owner != nullptr ? public_class_name(Py_TYPE(self)) : python::public_name(object);
  if (of.empty()) of = public_caller(); // it is within
  else if (owner != nullptr && !is_constructor()) of += "." + name;
  return of.empty() ? "weft._weft." + name : of;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

void BoundCall::bind() const {
  const Signature &signature = *definition.signature;
  if (!signature.bind(args, given, words, values)) [[unlikely]]
    signature.refuse(definition.public_name(self), args, given, words);
  for (std::size_t i = 0; i < definition.args.size(); ++i)
    if (values[i] == nullptr) values[i] = definition.args[i].otherwise.ptr();
}

std::string BoundCall::word() const {
  if (definition.owner != nullptr || definition.name.starts_with("internal_"))
    return last_word(definition.public_name(self));
  // Functions with options ask at each call, and the search goes through all modules.
  static auto &words = *new std::map<const Definition *, std::string>();
  std::string &word = words[&definition];
  if (word.empty()) word = last_word(definition.public_name(self));
  return word;
}

void BoundCall::refuse(std::size_t parameter) const {
  throw DTypeError(word() + ": " + definition.args[parameter].name + " is " +
                   shown_value(values[parameter]) + ": " + definition.types[parameter]().one +
                   " is wanted");
}

nb::tuple BoundCall::others() const {
  const std::size_t from = definition.signature->positional;
  const std::size_t count = given > from ? given - from : 0;
  nb::object list = checked(PyTuple_New(static_cast<Py_ssize_t>(count)));
  for (std::size_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(list.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(args[from + i]));
  return nb::steal<nb::tuple>(list.release());
}

nb::dict BoundCall::keywords() const {
  nb::dict dict;
  for (Py_ssize_t k = 0; words != nullptr && k < PyTuple_GET_SIZE(words); ++k)
    if (PyObject *word = PyTuple_GET_ITEM(words, k); !definition.signature->find(word))
      dict[nb::handle(word)] = nb::handle(args[given + static_cast<std::size_t>(k)]);
  return dict;
}

//===----------------------------------------------------------------------===//
// Classes
//===----------------------------------------------------------------------===//

namespace {

PyObject *has_no_constructor(PyObject *type, PyObject *const *, std::size_t, PyObject *) {
  return guarded([&]() -> PyObject * {
    const std::string name = public_class_name(reinterpret_cast<PyTypeObject *>(type));
    raise_type_error((name.empty() ? "this class" : name) +
                     " has no constructor: functions and other classes make its objects");
  });
}

} // namespace

void refuse_constructor(nb::handle type) {
  auto *of = reinterpret_cast<PyTypeObject *>(type.ptr());
  if (of->tp_vectorcall != nullptr) of->tp_vectorcall = has_no_constructor;
}

void refuse_property(PyObject *self, const char *name, PyObject *value, TypeWordsOf wanted) {
  throw DTypeError(public_class_name(Py_TYPE(self)) + "." + name + " is " + shown_value(value) +
                   ": " + wanted().one + " is wanted");
}

} // namespace weft::python
