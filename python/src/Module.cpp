// The extension module weft._weft: a thin coat over libweft.
#include "Assignment.h"
#include "DTypeInfo.h"
#include "Data.h"
#include "Define.h"
#include "Identities.h"
#include "Interrupts.h"
#include "Layers.h"
#include "Names.h"
#include "Networks.h"
#include "Parts.h"
#include "Pixels.h"
#include "Restores.h"
#include "Runs.h"
#include "Saved.h"
#include "SavedTrees.h"
#include "Sizes.h"
#include "Staging.h"
#include "Style.h"
#include "Text.h"
#include "Tree.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <nanobind/stl/vector.h>

#include <weft/detail/named_call.h>
#include <weft/device.h>
#include <weft/memory.h>
#include <weft/threads.h>

namespace weft::python {

namespace {

/// Whether objects of the module that are there when Python has ended are listed: tests want that.
/// What a program holds to its end, such as what a library of its own keeps, is no fault of it.
bool wants_leak_warnings() {
  const char *word = std::getenv("WEFT_LEAK_WARNINGS");
  return word == nullptr ? WEFT_SANITIZED : std::string_view(word) == "1";
}

/// Where new tensors go between its `__enter__` and `__exit__`.
struct DeviceContext {
  using Initialized = void; // see Initialized.h
  DeviceContext() = default;
  DeviceContext(const DeviceContext &) = delete;
  DeviceContext &operator=(const DeviceContext &) = delete;

  std::string name;
  std::vector<std::unique_ptr<DeviceScope>> scopes;
};

void define_devices(nb::module_ &module) {
  define(
      module, "devices",
      [] {
        nb::list names;
        for (const Device device : devices()) names.append(to_string(device));
        return names;
      },
      Returns{"list[str]"},
      "The devices that can be used: 'cpu:0', then each GPU with a CUDA driver of 12.0 or newer."
      "\n\nExample:\n"
      "    >>> wf.devices()[0]\n"
      "    'cpu:0'\n");
  ClassOf<DeviceContext>(
      module, "device",
      "Within `with`, what this thread creates goes to that device: `wf.zeros`, `wf.tensor`, "
      "`wf.arange`, random numbers, variables of layers. Ops run where their operands are. Throws "
      "DeviceError if the device cannot be used."
      "\n\nExample:\n"
      "    >>> with wf.device('cpu'):\n"
      "    ...     x = wf.zeros(3)\n"
      "    >>> x.device\n"
      "    'cpu:0'\n")
      .def("__init__(name)",
           [](DeviceContext *self, std::string name) {
             (new (self) DeviceContext)->name = std::move(name);
           })
      .def("__enter__",
           [](nb::object self) {
             auto &context = nb::cast<DeviceContext &>(self);
             const detail::NamedCall named("device");
             context.scopes.push_back(std::make_unique<DeviceScope>(parse_device(context.name)));
             return self;
           })
      .def("__exit__", [](DeviceContext &self, const nb::args &) {
        if (!self.scopes.empty()) self.scopes.pop_back();
      });
}

void define_memory(nb::module_ &module) {
  define(
      module, "memory_stats",
      [] {
        const MemoryStats stats = memory_stats();
        nb::dict dict;
        dict["current"] = stats.current;
        dict["peak"] = stats.peak;
        dict["cached"] = stats.cached;
        return dict;
      },
      Returns{"dict[str, int]"},
      "Bytes that tensors hold now, the most since the start or reset_peak(), and those kept for "
      "later. Memory of other "
      "libraries is not counted."
      "\n\nExample:\n"
      "    >>> before = wf.memory_stats()['current']\n"
      "    >>> x = wf.zeros(1024)\n"
      "    >>> wf.memory_stats()['current'] - before >= 4096\n"
      "    True\n");
  define<num_threads>(module, "internal_num_threads");
  define<set_num_threads>(module, "internal_set_num_threads", Arg("count"));
  define<reset_peak>(module, "reset_peak",
                     "Starts measuring the peak of memory_stats() anew."
                     "\n\nExample:\n"
                     "    >>> wf.reset_peak()\n"
                     "    >>> stats = wf.memory_stats()\n"
                     "    >>> stats['peak'] == stats['current']\n"
                     "    True\n");
  define<release_cached_memory>(module, "release_cached_memory",
                                "Gives memory that nobody uses back to the system."
                                "\n\nExample:\n"
                                "    >>> wf.release_cached_memory()\n");
}

/// Classes are weft's, not those of the module inside.
void name_classes(nb::module_ &module) {
  for (const char *name : {"Tensor", "Variable", "DType", "GradientTape", "TensorArray"})
    module.attr(name).attr("__module__") = "weft";
  module.attr("Generator").attr("__module__") = "weft.random";
}

/// Whether it is a class that a module of the package has: weft.nn.Dense.
bool is_of_part(nb::handle object) {
  if (PyType_Check(object.ptr()) == 0) return false;
  const std::string module = text_of(nb::object(object.attr("__module__")));
  return module.starts_with("weft.") && module != "weft._weft";
}

/// Throws the TypeError of a function in Python for keywords of which it lacks one.
void refuse_words(nb::handle function, const std::vector<std::string> &names,
                  const nb::list &words) {
  std::vector<const char *> list;
  for (const std::string &name : names) list.push_back(name.c_str());
  std::vector<PyObject *> given;
  for (const nb::handle word : words) given.push_back(word.ptr());
  refuse_call(public_function_name(function), {list, list.size(), 0}, 0, given);
}

/// What `from weft._weft import *` takes: all but what is the package's own.
void list_names(nb::module_ &module) {
  nb::list names;
  for (const nb::handle name : nb::object(module.attr("__dict__").attr("keys")())) {
    const std::string text = text_of(name);
    if (is_of_part(module.attr(name))) continue;
    static constexpr std::array kPrefixes = {"_", "random_", "internal_"};
    const bool inside = std::ranges::any_of(
        kPrefixes, [&](std::string_view prefix) { return text.starts_with(prefix); });
    if (!inside && text != "custom_gradient_call" && text != "recompute_call" &&
        text != "set_seed" && text != "Generator")
      names.append(name);
  }
  names.append("_rebuild"); // which pickled tensors name
  module.attr("__all__") = names;
}

} // namespace

} // namespace weft::python

NB_MODULE(_weft, module) {
  using namespace weft::python;
  nb::set_leak_warnings(wants_leak_warnings());
  define_errors(module);
  define_dtypes(module);
  define_dtype_info(module);
  define_tensors(module);
  define_dlpack(module);
  define_sizes(module);
  define_styles(module);
  define_identities(module);
  define_printing(module);
  define_creation(module);
  define_ops(module);
  define_windows(module);
  define_random(module);
  define_variables(module);
  define_tapes(module);
  define_custom_gradients(module);
  define_print(module);
  define_derivatives(module);
  define_tree_structures(module);
  define_memory(module);
  define_devices(module);
  define_staging(module);
  define_assignment(module);
  define_functions(module);
  define_interrupts(module);
  define_tensor_arrays(module);
  define_parts(module);
  define_models(module);
  define_foreign(module);
  define_data(module);
  define_data_files();
  define_pixels();
  define_data_loops(module);
  define_checkpoints(module);
  define_restores(module);
  define_saved_trees(module);
  define_distributed();
  define_events();
  define_histories(module);
  define_training(module);
  define_replicas(module);
  define_layers(module);
  define_losses();
  define_network_functions();
  define_metrics(module);
  define_schedules(module);
  define_optimizers(module);
  define<refuse_words>(module, "internal_refuse_words(function, names, words)",
                       Returns{"NoReturn"});
  define<stubs>(module, "internal_stubs", Returns{"dict[str, str]"});
  name_classes(module);
  list_names(module);
}
