// The buffer protocol: tensors of arrays, and tensors as buffers.
#include "Buffers.h"
#include "Text.h"

#include "Elements.h"

#include <memory>

#include <weft/detail/derivative_mark.h>
#include <weft/detail/staging.h>

namespace weft::python {

namespace {

/// What a format of the module `struct` says of one element.
Element element_of(const Py_buffer &view) {
  std::string_view format = view.format == nullptr ? "B" : view.format;
  Element element;
  element.size = static_cast<std::size_t>(view.itemsize);
  if (!format.empty() && std::string_view("@=<>!").find(format[0]) != std::string_view::npos) {
    element.swapped = (format[0] == '>' || format[0] == '!') && element.size > 1;
    format.remove_prefix(1);
  }
  const bool is_complex = format.size() == 2 && format[0] == 'Z';
  if (is_complex) format.remove_prefix(1);
  if (format.size() != 1) return element;
  const auto is_one_of = [&](std::string_view letters) {
    return letters.find(format[0]) != std::string_view::npos;
  };
  if (is_complex) {
    if (is_one_of("fd")) element.kind = DTypeKind::complex;
  } else if (format[0] == '?') element.kind = DTypeKind::boolean;
  else if (is_one_of("bhilqn")) element.kind = DTypeKind::integer;
  else if (is_one_of("BHILQN")) element.kind = DTypeKind::unsigned_integer;
  else if (is_one_of("efd")) element.kind = DTypeKind::floating;
  return element;
}

/// What `struct` calls an element of the dtype; null for formats that it does not know.
const char *format_of(DType dtype) {
  if (numpy_lacks(dtype)) return nullptr;
  // The letters of 1, 2, 4, 8 and 16 bytes.
  static constexpr std::array<std::array<const char *, 5>, 5> letters = {
      {{"?", "", "", "", ""},
       {"b", "h", "i", "l", ""},
       {"B", "H", "I", "L", ""},
       {"", "e", "f", "d", ""},
       {"", "", "", "Zf", "Zd"}}};
  return letters[static_cast<std::size_t>(kind_of(dtype))]
                [static_cast<std::size_t>(std::countr_zero(item_size(dtype)))];
}

/// What the object calls its dtype, for messages.
std::string dtype_text(PyObject *object, const Py_buffer *view) {
  if (const nb::object dtype = nb::steal(PyObject_GetAttrString(object, "dtype")); dtype.is_valid())
    return text_of(dtype);
  PyErr_Clear();
  return view == nullptr || view->format == nullptr ? "an unknown format" : view->format;
}

/// Whether the buffer has the bytes of an element in the stead of elements: so NumPy gives its
/// dates and times, as `struct` has no letter for them.
bool has_only_bytes(PyObject *object, const Py_buffer &view) {
  if (view.itemsize != 1 || (view.format != nullptr && view.format[0] != 'B')) return false;
  nb::object size = nb::steal(PyObject_GetAttrString(object, "dtype"));
  if (size.is_valid()) size = nb::steal(PyObject_GetAttrString(size.ptr(), "itemsize"));
  const bool known = size.is_valid() && PyLong_Check(size.ptr()) != 0;
  PyErr_Clear();
  return known && PyLong_AsLong(size.ptr()) > 1;
}

/// The dtype of an array or a scalar of ml_dtypes, which has no buffer; nothing of others.
std::optional<DType> format_in(PyObject *object) {
  nb::object name = nb::steal(PyObject_GetAttrString(object, "dtype"));
  if (name.is_valid()) name = nb::steal(PyObject_GetAttrString(name.ptr(), "name"));
  PyErr_Clear();
  if (!name.is_valid() || PyUnicode_Check(name.ptr()) == 0) return std::nullopt;
  const std::string text = text_of(name);
  for (int i = 0; i < kNumDTypes; ++i)
    if (const auto dtype = static_cast<DType>(i); numpy_lacks(dtype) && text == python_name(dtype))
      return dtype;
  return std::nullopt;
}

/// The bits of its elements, as integers.
nb::object bits_of(PyObject *object, DType format) {
  const nb::object array = nb::module_::import_("numpy").attr("asarray")(nb::handle(object));
  return array.attr("view")(item_size(format) == 1 ? "u1" : "u2");
}

[[noreturn]] void refuse_elements(PyObject *object, const Py_buffer *view, const Place &place) {
  throw DTypeError(place.text() + " has elements of " + dtype_text(object, view) +
                   ", which no dtype holds: they are " + dtypes_in_words());
}

void release_buffer(void *context) {
  with_python([&] {
    auto *view = static_cast<Py_buffer *>(context);
    PyBuffer_Release(view);
    delete view;
  });
}

} // namespace

Tensor tensor_of_buffer(PyObject *object, const Place &place, Sharing sharing) {
  if (PyObject_CheckBuffer(object) == 0 || PyBytes_Check(object)) return {};
  auto view = std::make_unique<Py_buffer>();
  std::optional<DType> format;
  if (PyObject_GetBuffer(object, view.get(), PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    format = format_in(object);
    if (!format) refuse_elements(object, nullptr, place);
    const nb::object bits = bits_of(object, *format);
    if (PyObject_GetBuffer(bits.ptr(), view.get(), PyBUF_FULL_RO) != 0) throw nb::python_error();
  }
  Elements elements;
  elements.element = element_of(*view);
  if (format) elements.element.kind = kind_of(*format);
  elements.element.format = format;
  elements.data = static_cast<std::byte *>(view->buf);
  for (int i = 0; i < view->ndim; ++i) {
    elements.dims.push_back(view->shape != nullptr ? view->shape[i] : view->len / view->itemsize);
    elements.strides.push_back(view->strides != nullptr ? view->strides[i] : 0);
  }
  if (view->strides == nullptr) { // those of ctypes: row-major
    std::int64_t stride = view->itemsize;
    for (std::size_t i = elements.dims.size(); i-- > 0; stride *= elements.dims[i])
      elements.strides[i] = stride;
  }
  const bool indirect = view->suboffsets != nullptr;
  Py_buffer *held = view.release();
  const detail::ExternalOwner owner{release_buffer, held};
  if (!elements.element.kind || indirect || (!format && has_only_bytes(object, *held))) {
    const std::string text = dtype_text(object, held);
    release_buffer(held);
    throw DTypeError(place.text() + " has elements of " + text +
                     ", which no dtype holds: they are " + dtypes_in_words());
  }
  return tensor_of_elements(elements, owner, sharing, place);
}

Valueless valueless(const Tensor &tensor) {
  const std::string name = static_cast<detail::TraceRef *>(tensor.impl()->base)->name;
  if (name == "vmap")
    return {Valueless::Why::mapped, "a tensor that stands for many in vmap",
            "write it with ops, which do it for each, weft.select for `if` and weft.while_loop for "
            "`while`, or map weft.function(f), which makes them of these"};
  if (!detail::is_tracing())
    return {Valueless::Why::left, "a tensor that left the trace of '" + name + "'",
            "return it from '" + name + "' instead"};
  return {
      Valueless::Why::running, "a tensor of the traced function '" + name + "'",
      "it has none before the function runs: return it, print it with weft.print, or take it to "
      "weft.py_function"};
}

void check_elements(const Tensor &tensor, const char *what) {
  if (tensor.traced()) {
    const Valueless why = valueless(tensor);
    throw StateError(std::string(what) + " asks for the elements of " + why.what + ": " +
                     why.instead);
  }
}

void refuse_followed(const Tensor &tensor, const char *what) {
  const char *derivative = detail::DerivativeMark::following(tensor);
  if (derivative == nullptr) return;
  throw StateError(std::string(derivative) + ": " + what +
                   " gives a tensor that the derivative is by to another library, whose functions "
                   "the derivative does not see: write the op of weft instead, such as weft.exp(x) "
                   "for np.exp(x), or take weft.stop_gradient(x) for what counts as constant");
}

namespace {

/// What a view holds: the object may take another tensor meanwhile.
struct View {
  Tensor tensor;
  std::array<Py_ssize_t, max_rank> strides;
};

} // namespace

int get_buffer(PyObject *self, Py_buffer *view, int flags) {
  return guarded([&] {
    view->obj = nullptr;
    const Tensor &tensor = tensor_in(self);
    const detail::TensorImpl *impl = tensor.impl();
    const auto refuse = [](const char *why) {
      PyErr_SetString(PyExc_BufferError, why);
      return -1;
    };
    if (tensor.traced()) return refuse((valueless(tensor).what + " has no elements").c_str());
    refuse_followed(tensor, "a buffer");
    if ((flags & PyBUF_WRITABLE) != 0)
      return refuse("tensors do not change: ask for a buffer to read, or copy by numpy()");
    const bool strided = (flags & PyBUF_STRIDES) == PyBUF_STRIDES;
    const bool wants_order = (flags & PyBUF_C_CONTIGUOUS) == PyBUF_C_CONTIGUOUS ||
                             (flags & PyBUF_ANY_CONTIGUOUS) == PyBUF_ANY_CONTIGUOUS || !strided;
    const bool wants_columns = (flags & PyBUF_F_CONTIGUOUS) == PyBUF_F_CONTIGUOUS;
    if (tensor.device() != Device())
      return refuse(
          ("the tensor is on " + to_string(impl->device) +
           ", whose memory the host cannot read: take numpy(), or to_device(\"cpu\") first")
              .c_str());
    if (!impl->plain && wants_order)
      return refuse("the tensor is a view with gaps: copy it by copy() first");
    if (wants_columns && impl->rank > 1) return refuse("tensors are row-major");
    if ((flags & PyBUF_FORMAT) != 0 && format_of(impl->dtype) == nullptr)
      return refuse(("buffers have no format for " + std::string(python_name(impl->dtype)) +
                     ": take astype(weft.float32), which has its numbers, or numpy()")
                        .c_str());
    auto *const held = new View{tensor, {}};
    const auto item = static_cast<Py_ssize_t>(item_size(impl->dtype));
    for (int i = 0; i < impl->rank; ++i)
      held->strides[static_cast<std::size_t>(i)] = impl->strides()[i] * item;
    *view = Py_buffer{
        .buf = impl->data,
        .obj = Py_NewRef(self),
        .len = impl->size * item,
        .itemsize = item,
        .readonly = 1,
        .ndim = impl->rank,
        .format =
            (flags & PyBUF_FORMAT) != 0 ? const_cast<char *>(format_of(impl->dtype)) : nullptr,
        .shape = const_cast<Py_ssize_t *>(reinterpret_cast<const Py_ssize_t *>(impl->dims())),
        .strides = impl->rank == 0 ? nullptr : held->strides.data(),
        .suboffsets = nullptr,
        .internal = held};
    return 0;
  });
}

void release_view(PyObject *, Py_buffer *view) { delete static_cast<View *>(view->internal); }

} // namespace weft::python
