// DLPack, by which libraries exchange arrays without copies: both ways, versioned and not.
#include "Elements.h"

#include "Buffers.h"
#include "PythonParameters.h"

#include <weft/detail/dlpack.h>

namespace weft::python {

namespace {

using namespace weft::detail::dlpack;

constexpr const char *kName = "dltensor", *kVersionedName = "dltensor_versioned",
                     *kUsed = "used_dltensor", *kUsedVersioned = "used_dltensor_versioned";

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

/// Drops what nobody took.
template <class Managed>
void drop_capsule(PyObject *capsule) {
  const char *name = std::is_same_v<Managed, ManagedVersioned> ? kVersionedName : kName;
  if (PyCapsule_IsValid(capsule, name) == 0) return;
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
  if (managed->deleter != nullptr) managed->deleter(managed);
}

template <class Managed>
PyObject *export_as(Managed *managed, const char *name) {
  PyObject *capsule = PyCapsule_New(managed, name, drop_capsule<Managed>);
  if (capsule == nullptr) managed->deleter(managed);
  return capsule;
}

const Signature dlpack_signature{"Tensor.__dlpack__",
                                 {"*",
                                  {"stream", "Any", "None"},
                                  {"max_version", "tuple[int, int] | None", "None"},
                                  {"dl_device", "tuple[int, int] | None", "None"},
                                  {"copy", "builtins.bool | None", "None"}},
                                 "Any"};

/// Its kind and number as DLPack has them.
std::pair<int, int> device_of(const Tensor &tensor) {
  const Device device = tensor.device();
  return {device.kind == DeviceKind::cpu ? kCpu : kCuda, device.index};
}

PyObject *to_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    Values bound(dlpack_signature.names.size());
    PyObject **values = bound.data();
    dlpack_signature.bind_or_refuse(args, static_cast<std::size_t>(count), keywords, values);
    const auto refuse = [](const char *why) {
      PyErr_SetString(PyExc_BufferError, why);
      return nullptr;
    };
    Tensor tensor = tensor_in(self);
    if (tensor.traced()) return refuse((valueless(tensor).what + " has no elements").c_str());
    refuse_followed(tensor, "__dlpack__");
    // Work on the elements is done before another library gets them, so any stream will do.
    if (is_given(values[0]) && tensor.device() == Device())
      return refuse("a stream was given, and the elements are in the CPU's memory");
    if (is_given(values[2])) {
      const Ints device = to_integers(values[2], {"Tensor.__dlpack__", "dl_device"});
      const auto [kind, number] = device_of(tensor);
      if (device.size() == 2 && device[0] == kCpu && device[1] == 0) tensor = on_host(tensor);
      else if (device.size() != 2 || device[0] != kind || device[1] != number)
        return refuse(("the elements are on " + to_string(tensor.device()) +
                       ", and are not moved to another device than the CPU by DLPack")
                          .c_str());
    }
    const bool copy = is_given(values[3]) && to<bool>(values[3], {"Tensor.__dlpack__", "copy"});
    std::int64_t version = 0;
    if (is_given(values[1])) {
      const Ints wanted = to_integers(values[1], {"Tensor.__dlpack__", "max_version"});
      if (!wanted.empty()) version = wanted[0];
    }
    if (version >= kMajor)
      return export_as(
          managed(unlocked(tensor.size(), [&] { return weft::to_dlpack(tensor, copy); })),
          kVersionedName);
    return export_as(
        managed(unlocked(tensor.size(), [&] { return weft::to_dlpack_unversioned(tensor, copy); })),
        kName);
  });
}

PyObject *dlpack_device(PyObject *self, PyObject *) {
  return guarded([&] {
    const auto [kind, number] = device_of(tensor_in(self));
    return Py_BuildValue("(ii)", kind, number);
  });
}

//===----------------------------------------------------------------------===//
// In
//===----------------------------------------------------------------------===//

template <class Managed>
void release_managed(void *context) {
  // A deleter may drop objects of Python.
  with_python([&] {
    auto *managed = static_cast<Managed *>(context);
    if (managed->deleter != nullptr) managed->deleter(managed);
  });
}

Element element_of(const DataType &dtype, const Place &place) {
  Element element;
  element.size = dtype.bits / 8;
  static constexpr std::array kinds = {DTypeKind::integer, DTypeKind::unsigned_integer,
                                       DTypeKind::floating};
  const std::optional<DType> own = detail::dlpack::dtype_of(dtype);
  if (own) element.kind = kind_of(*own);
  if (own && numpy_lacks(*own)) element.format = own;
  if (!own && dtype.code < kinds.size()) element.kind = kinds[dtype.code];
  if (!element.kind || dtype.lanes != 1 || dtype.bits % 8 != 0)
    throw DTypeError(place.text() + " has elements of DLPack's type " + std::to_string(dtype.code) +
                     " with " + std::to_string(dtype.bits) +
                     " bits, which no dtype holds: they are " + dtypes_in_words());
  return element;
}

Elements elements_of(const Array &array, const Place &place) {
  Elements elements{element_of(array.dtype, place), nullptr, {}, {}};
  const Layout layout = layout_of(array, place.text());
  elements.data = layout.data;
  elements.dims = layout.shape;
  for (const std::int64_t stride : layout.strides)
    elements.strides.push_back(stride * static_cast<std::int64_t>(elements.element.size));
  return elements;
}

template <class Managed>
Tensor take(PyObject *capsule, const char *name, const char *used, const Place &place,
            Sharing sharing) {
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
  if constexpr (requires { managed->flags; }) {
    check_version(*managed, place.text());
    // One that was copied for us needs no other copy.
    if ((managed->flags & kCopied) != 0 && sharing == Sharing::copy) sharing = Sharing::if_possible;
  }
  if (detail::dlpack::is_cuda(managed->array)) {
    if (PyCapsule_SetName(capsule, used) != 0) throw nb::python_error();
    return detail::dlpack::cuda_tensor(managed->array, place.text(),
                                       {release_managed<Managed>, managed},
                                       sharing == Sharing::copy);
  }
  const Elements elements = elements_of(managed->array, place);
  // From here on the array is ours.
  if (PyCapsule_SetName(capsule, used) != 0) throw nb::python_error();
  return tensor_of_elements(elements, {release_managed<Managed>, managed}, sharing, place);
}

Tensor take_capsule(PyObject *capsule, const Place &place, Sharing sharing) {
  if (PyCapsule_IsValid(capsule, kVersionedName) != 0)
    return take<ManagedVersioned>(capsule, kVersionedName, kUsedVersioned, place, sharing);
  if (PyCapsule_IsValid(capsule, kName) != 0)
    return take<Managed>(capsule, kName, kUsed, place, sharing);
  throw ValueError(place.text() +
                   " is a capsule without an array of DLPack, or one that was taken already");
}

/// What the array of another library is asked for, besides the version.
struct Wanted {
  Sharing sharing = Sharing::if_possible;
  bool device = false; ///< whether it must be on the CPU
};

/// Interned names and values, created once.
struct Words {
  PyObject *dlpack = PyUnicode_InternFromString("__dlpack__");
  PyObject *version = Py_BuildValue("(ii)", 1, 1), *cpu = Py_BuildValue("(ii)", kCpu, 0);
  /// Of the version alone, with the device, with `copy`, and with both.
  std::array<PyObject *, 4> names = {Py_BuildValue("(s)", "max_version"),
                                     Py_BuildValue("(ss)", "max_version", "dl_device"),
                                     Py_BuildValue("(ss)", "max_version", "copy"),
                                     Py_BuildValue("(sss)", "max_version", "dl_device", "copy")};
};
const Words &words() {
  static const Words *const words = new Words;
  return *words;
}

/// Calls `__dlpack__` of an object with what is wanted; null with the error set.
PyObject *call_dlpack(PyObject *object, const Wanted &wanted) {
  std::array<PyObject *, 4> arguments = {object, words().version};
  std::size_t next = 2, form = 0;
  if (wanted.device) arguments[next++] = words().cpu, form |= 1;
  if (wanted.sharing != Sharing::if_possible)
    arguments[next++] = wanted.sharing == Sharing::copy ? Py_True : Py_False, form |= 2;
  return PyObject_VectorcallMethod(words().dlpack, arguments.data(), 1, words().names[form]);
}

/// The capsule of an object that has `__dlpack__`; a null object, without an error set, for one
/// that has not. It is called unasked, as asking first takes a tenth of the whole import.
nb::object capsule_of(PyObject *object, const Wanted &wanted) {
  PyObject *capsule = call_dlpack(object, wanted);
  const bool more = wanted.device || wanted.sharing != Sharing::if_possible;
  if (capsule == nullptr && more && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear(); // one from before these arguments
    capsule = call_dlpack(object, {});
  }
  if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear(); // one from before version 1, which takes no max_version
    PyObject *const arguments[] = {object};
    capsule = PyObject_VectorcallMethod(words().dlpack, arguments, 1, nullptr);
  }
  if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_AttributeError) != 0) {
    nb::python_error error; // which may be one of the method's own
    if (PyObject_HasAttr(object, words().dlpack) == 0) return {};
    throw nb::python_error(std::move(error));
  }
  return checked(capsule);
}

const Signature from_dlpack_signature{"from_dlpack",
                                      {{"x", "Any"},
                                       "*",
                                       {"device", "str | None", "None"},
                                       {"copy", "builtins.bool | None", "None"}}};

Tensor from_dlpack(PyObject *const *values) {
  const Place place{"from_dlpack", "x"};
  Sharing sharing = Sharing::if_possible;
  if (is_given(values[2]))
    sharing = to<bool>(values[2], {"from_dlpack", "copy"}) ? Sharing::copy : Sharing::only;
  const OnDevice wanted(values[1], {"from_dlpack", "device"});
  if (PyCapsule_CheckExact(values[0])) return wanted.moved(take_capsule(values[0], place, sharing));
  if (is_tensor(values[0]) && sharing != Sharing::copy) return wanted.moved(tensor_in(values[0]));
  const bool device = is_given(values[1]);
  const nb::object capsule = capsule_of(values[0], {.sharing = sharing, .device = device});
  if (!capsule.is_valid())
    throw DTypeError(
        place.text() + " is of type " + Py_TYPE(values[0])->tp_name +
        ", which has no __dlpack__: an array of another library is wanted, or a capsule");
  return wanted.moved(take_capsule(capsule.ptr(), place, sharing));
}

PyMethodDef functions[] = {
    method<from_dlpack_signature, from_dlpack>(

        "The tensor of an array of another library, on the same memory where that can be: the "
        "array must not "
        "change as long as the tensor lives.\n\n"
        "Elements that are not aligned, and dtypes that Weft lacks but can widen, are "
        "copied.\n\nArgs:\n"
        "    x: what has `__dlpack__`: arrays of NumPy, PyTorch, JAX; or a capsule\n"
        "    device: 'cpu' asks an array of another device for a copy here; the tensor's device\n"
        "    copy: True: always copy; False: an error where a copy is needed\n"
        "\nExample:\n"
        "    >>> wf.from_dlpack(np.arange(3, dtype=np.float32))\n"
        "    tensor([0., 1., 2.], shape=(3,), dtype=float32)\n"),
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef dlpack_methods[] = {
    {"__dlpack__", reinterpret_cast<PyCFunction>(to_dlpack), METH_FASTCALL | METH_KEYWORDS,
     dlpack_signature.documented(
         "A capsule with the elements, for other libraries to read. Before version 1 DLPack cannot "
         "say that they are to be read only.",
         "$self")},
    {"__dlpack_device__", dlpack_device, METH_NOARGS,
     "__dlpack_device__($self)\n--\n\nDLPack's kind and number of the device."},
};

} // namespace

Tensor tensor_of_dlpack(PyObject *object, const Place &place, Sharing sharing) {
  if (PyType_Check(object)) return {};
  const nb::object capsule = capsule_of(object, {});
  return capsule.is_valid() ? take_capsule(capsule.ptr(), place, sharing) : Tensor();
}

void define_dlpack(nb::module_ &module) {
  add_functions(module, functions);
  for (PyMethodDef &row : dlpack_methods)
    nb::setattr(nb::handle(reinterpret_cast<PyObject *>(tensor_type)), row.ml_name,
                checked(PyDescr_NewMethod(tensor_type, &row)));
}

} // namespace weft::python
