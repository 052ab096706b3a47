// DLPack, by which libraries exchange arrays without copies: both ways, versioned and not.
#include "Elements.h"

#include <algorithm>

#include "Buffers.h"
#include "Text.h"

namespace weft::python {

namespace {

// The layout of DLPack 1.1, which is an ABI.
struct DLDevice {
  std::int32_t type, index;
};
struct DLDataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct DLTensor {
  void *data;
  DLDevice device;
  std::int32_t ndim;
  DLDataType dtype;
  std::int64_t *shape;
  std::int64_t *strides; ///< in elements; null: row-major
  std::uint64_t byte_offset;
};
struct DLManaged {
  DLTensor tensor;
  void *context;
  void (*deleter)(DLManaged *self);
};
struct DLManagedVersioned {
  std::uint32_t major, minor;
  void *context;
  void (*deleter)(DLManagedVersioned *self);
  std::uint64_t flags;
  DLTensor tensor;
};
constexpr std::int32_t kCpu = 1, kCudaHost = 3;
constexpr std::uint64_t kReadOnly = 1, kCopied = 2;
constexpr const char *kName = "dltensor", *kVersionedName = "dltensor_versioned",
                     *kUsed = "used_dltensor", *kUsedVersioned = "used_dltensor_versioned";

//===----------------------------------------------------------------------===//
// Out
//===----------------------------------------------------------------------===//

DLTensor described(detail::TensorImpl *impl) {
  const DTypeInfo &info = dtype_info(impl->dtype);
  const DLDataType dtype{
      .code = info.dlpack, .bits = static_cast<std::uint8_t>(info.bits), .lanes = 1};
  return {.data = impl->data,
          .device = {kCpu, 0},
          .ndim = impl->rank,
          .dtype = dtype,
          .shape = impl->dims(),
          .strides = impl->strides(),
          .byte_offset = 0};
}

template <class Managed>
void drop(Managed *managed) {
  detail::release(static_cast<detail::TensorImpl *>(managed->context));
  delete managed;
}

/// Drops what nobody took.
template <class Managed>
void drop_capsule(PyObject *capsule) {
  const char *name = std::is_same_v<Managed, DLManaged> ? kName : kVersionedName;
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

PyObject *to_dlpack(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return guarded([&]() -> PyObject * {
    Values bound(dlpack_signature.names.size());
    PyObject **values = bound.data();
    dlpack_signature.bind_or_refuse(args, static_cast<std::size_t>(count), keywords, values);
    const auto refuse = [](const char *why) {
      PyErr_SetString(PyExc_BufferError, why);
      return nullptr;
    };
    const auto is_given = [](PyObject *value) { return value != nullptr && value != Py_None; };
    Tensor tensor = tensor_in(self);
    if (tensor.traced()) return refuse((valueless(tensor).what + " has no elements").c_str());
    refuse_followed(tensor, "__dlpack__");
    if (is_given(values[0]))
      return refuse("a stream was given, and the elements are in the CPU's memory");
    if (is_given(values[2])) {
      const Ints device = to_integers(values[2], {"Tensor.__dlpack__", "dl_device"});
      if (device.size() != 2 || device[0] != kCpu || device[1] != 0)
        return refuse(
            "the elements are in the CPU's memory, and are not moved to another device by DLPack");
    }
    const bool copy = is_given(values[3]) && to<bool>(values[3], {"Tensor.__dlpack__", "copy"});
    if (copy) {
      const detail::TensorImpl *impl = tensor.impl();
      Elements elements{{}, impl->data, {}, {}};
      elements.element = {kind_of(impl->dtype), item_size(impl->dtype)};
      for (int i = 0; i < impl->rank; ++i) {
        elements.dims.push_back(impl->dims()[i]);
        elements.strides.push_back(impl->strides()[i] *
                                   static_cast<std::int64_t>(item_size(impl->dtype)));
      }
      tensor = tensor_of_elements(elements, {nullptr, nullptr}, Sharing::copy,
                                  {"Tensor.__dlpack__", "self"});
    }
    std::int64_t version = 0;
    if (is_given(values[1])) {
      const Ints wanted = to_integers(values[1], {"Tensor.__dlpack__", "max_version"});
      if (!wanted.empty()) version = wanted[0];
    }
    detail::TensorImpl *impl = std::move(tensor).detach();
    if (version >= 1)
      return export_as(new DLManagedVersioned{1, 1, impl, drop<DLManagedVersioned>,
                                              copy ? kCopied : kReadOnly, described(impl)},
                       kVersionedName);
    return export_as(new DLManaged{described(impl), impl, drop<DLManaged>}, kName);
  });
}

PyObject *dlpack_device(PyObject *, PyObject *) { return Py_BuildValue("(ii)", kCpu, 0); }

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

Element element_of(const DLDataType &dtype, const Place &place) {
  Element element;
  element.size = dtype.bits / 8;
  static constexpr std::array kinds = {DTypeKind::integer, DTypeKind::unsigned_integer,
                                       DTypeKind::floating};
  if (dtype.code < kinds.size()) element.kind = kinds[dtype.code];
  if (dtype.code == dtype_info(DType::boolean).dlpack && dtype.bits == 8)
    element.kind = DTypeKind::boolean;
  if (!element.kind || dtype.lanes != 1 || dtype.bits % 8 != 0)
    throw DTypeError(place.text() + " has elements of DLPack's type " + std::to_string(dtype.code) +
                     " with " + std::to_string(dtype.bits) + " bits" +
                     (dtype.code == 4 ? " (bfloat16)" : "") + ", which no dtype holds: they are " +
                     dtypes_in_words());
  return element;
}

Elements elements_of(const DLTensor &tensor, const Place &place) {
  if (tensor.device.type != kCpu && tensor.device.type != kCudaHost)
    throw ValueError(place.text() + " is on a device of DLPack's kind " +
                     std::to_string(tensor.device.type) + ": move it to the CPU first");
  Elements elements{element_of(tensor.dtype, place), nullptr, {}, {}};
  auto stride = static_cast<std::int64_t>(elements.element.size);
  if (tensor.ndim < 0 || tensor.ndim > max_rank)
    throw ShapeError(place.text() + " has " + std::to_string(tensor.ndim) +
                     " axes: a tensor has at most " + std::to_string(max_rank));
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  if (rank != 0 && tensor.shape == nullptr)
    throw ValueError(place.text() + " has " + std::to_string(rank) +
                     " axes, but no sizes: its pointer to them is null");
  for (std::size_t i = 0; i < rank; ++i) {
    elements.dims.push_back(tensor.shape[i]);
    elements.strides.push_back(tensor.strides != nullptr ? tensor.strides[i] * stride : 0);
  }
  if (tensor.strides == nullptr)
    for (std::size_t i = rank; i-- > 0; stride *= tensor.shape[i]) elements.strides[i] = stride;
  if (tensor.data != nullptr)
    elements.data = static_cast<std::byte *>(tensor.data) + tensor.byte_offset;
  else if (std::ranges::find(elements.dims, 0) == elements.dims.end())
    throw ValueError(place.text() + " is of shape " + weft::to_string(Shape(elements.dims)) +
                     ", but has no elements: its pointer to them is null");
  return elements;
}

template <class Managed>
Tensor take(PyObject *capsule, const char *name, const char *used, const Place &place,
            Sharing sharing) {
  auto *managed = static_cast<Managed *>(PyCapsule_GetPointer(capsule, name));
  if constexpr (std::is_same_v<Managed, DLManagedVersioned>)
    if (managed->major != 1)
      throw ValueError(place.text() + " speaks version " + std::to_string(managed->major) +
                       " of DLPack, and Weft version 1");
  const Elements elements = elements_of(managed->tensor, place);
  // From here on the array is ours.
  if (PyCapsule_SetName(capsule, used) != 0) throw nb::python_error();
  return tensor_of_elements(elements, {release_managed<Managed>, managed}, sharing, place);
}

Tensor take_capsule(PyObject *capsule, const Place &place, Sharing sharing) {
  if (PyCapsule_IsValid(capsule, kVersionedName) != 0)
    return take<DLManagedVersioned>(capsule, kVersionedName, kUsedVersioned, place, sharing);
  if (PyCapsule_IsValid(capsule, kName) != 0)
    return take<DLManaged>(capsule, kName, kUsed, place, sharing);
  throw ValueError(place.text() +
                   " is a capsule without an array of DLPack, or one that was taken already");
}

/// Interned names, made once.
struct Words {
  PyObject *dlpack = PyUnicode_InternFromString("__dlpack__");
  PyObject *names = Py_BuildValue("(s)", "max_version");
  PyObject *version = Py_BuildValue("(ii)", 1, 1);
};
const Words &words() {
  static const Words *const words = new Words;
  return *words;
}

/// The capsule of an object that has `__dlpack__`; a null object, without an error set, for one
/// that has not. It is called unasked, as asking first takes a tenth of the whole import.
nb::object capsule_of(PyObject *object) {
  PyObject *const arguments[] = {object, words().version};
  PyObject *capsule = PyObject_VectorcallMethod(words().dlpack, arguments, 1, words().names);
  if (capsule == nullptr && PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
    PyErr_Clear(); // one from before version 1, which takes no max_version
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
  if (values[2] != nullptr && values[2] != Py_None)
    sharing = to<bool>(values[2], {"from_dlpack", "copy"}) ? Sharing::copy : Sharing::only;
  if (values[1] != nullptr && values[1] != Py_None) {
    const std::string text = text_of(nb::handle(values[1]));
    if (parse_device(text) != Device())
      throw ValueError("from_dlpack: device is " + text + ", and elements in memory are on cpu:0");
  }
  if (PyCapsule_CheckExact(values[0])) return take_capsule(values[0], place, sharing);
  if (is_tensor(values[0]) && sharing != Sharing::copy) return tensor_in(values[0]);
  const nb::object capsule = capsule_of(values[0]);
  if (!capsule.is_valid())
    throw DTypeError(
        place.text() + " is of type " + Py_TYPE(values[0])->tp_name +
        ", which has no __dlpack__: an array of another library is wanted, or a capsule");
  return take_capsule(capsule.ptr(), place, sharing);
}

PyMethodDef functions[] = {
    method<from_dlpack_signature, from_dlpack>(

        "The tensor of an array of another library, on the same memory where that can be: the "
        "array must not "
        "change as long as the tensor lives.\n\n"
        "Elements that are not aligned, and dtypes that Weft lacks but can widen, are "
        "copied.\n\nArgs:\n"
        "    x: what has `__dlpack__`: arrays of NumPy, PyTorch, JAX; or a capsule\n"
        "    copy: True: always copy; False: a ValueError where a copy is needed\n"
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
  const nb::object capsule = capsule_of(object);
  return capsule.is_valid() ? take_capsule(capsule.ptr(), place, sharing) : Tensor();
}

void define_dlpack(nb::module_ &module) {
  add_functions(module, functions);
  for (PyMethodDef &row : dlpack_methods)
    nb::setattr(nb::handle(reinterpret_cast<PyObject *>(tensor_type)), row.ml_name,
                checked(PyDescr_NewMethod(tensor_type, &row)));
}

} // namespace weft::python
