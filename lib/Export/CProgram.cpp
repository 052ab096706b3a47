// Loaded programs as C has them: arrays in and out, and errors as text.
#include <weft/c/program.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <exception>
#include <vector>

#include "Export/Runnable.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/Files.h"
#include "Support/Messages.h"

struct weft_program {
  weft_program(const std::string &path, weft::Device device)
      : runnable(path, /*verify_weights=*/true, device) {}
  weft::archive::Runnable runnable;
};

namespace {

using namespace weft;

/// The enumerators of the header, which C cannot read from the table: "WEFT_BOOL, WEFT_I32 and ..".
std::string c_dtypes() {
  std::string text;
  for (int i = 0; i < kNumDTypes; ++i) {
    if (i != 0) text += i + 1 == kNumDTypes ? " and " : ", ";
    text += "WEFT_";
    for (const char c : name_of(weft::detail::kDTypesInOrder[static_cast<std::size_t>(i)]))
      text += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text;
}
static_assert(kNumDTypes == WEFT_F8E5M2 + 1, "enumerators for the rows of dtypes.def");
static_assert(static_cast<int>(DType::boolean) == WEFT_BOOL);
static_assert(static_cast<int>(DType::i32) == WEFT_I32);
static_assert(static_cast<int>(DType::i64) == WEFT_I64);
static_assert(static_cast<int>(DType::f32) == WEFT_F32);
static_assert(static_cast<int>(DType::f64) == WEFT_F64);
static_assert(static_cast<int>(DType::i8) == WEFT_I8);
static_assert(static_cast<int>(DType::i16) == WEFT_I16);
static_assert(static_cast<int>(DType::u8) == WEFT_U8);
static_assert(static_cast<int>(DType::u16) == WEFT_U16);
static_assert(static_cast<int>(DType::u32) == WEFT_U32);
static_assert(static_cast<int>(DType::u64) == WEFT_U64);
static_assert(static_cast<int>(DType::f16) == WEFT_F16);
static_assert(static_cast<int>(DType::bf16) == WEFT_BF16);
static_assert(static_cast<int>(DType::c64) == WEFT_C64);
static_assert(static_cast<int>(DType::c128) == WEFT_C128);
static_assert(static_cast<int>(DType::f8e4m3fn) == WEFT_F8E4M3FN);
static_assert(static_cast<int>(DType::f8e5m2) == WEFT_F8E5M2);

void report(const char *text, char *message, std::int64_t message_size) {
  if (message == nullptr || message_size <= 0) return;
  std::strncpy(message, text, static_cast<std::size_t>(message_size) - 1);
  message[message_size - 1] = '\0';
}

const archive::Entry *find_entry(const weft_program *program, std::int64_t number) {
  if (program == nullptr) return nullptr;
  const auto &entries = program->runnable.manifest().entries;
  if (number < 0 || static_cast<std::size_t>(number) >= entries.size()) return nullptr;
  return &entries[static_cast<std::size_t>(number)];
}

std::int32_t describe(const std::vector<TensorType> &types, std::int64_t number, weft_type *type) {
  if (number < 0 || static_cast<std::size_t>(number) >= types.size()) return 1;
  if (type == nullptr) return 1;
  const TensorType &found = types[static_cast<std::size_t>(number)];
  *type = {static_cast<std::int32_t>(found.dtype), static_cast<std::int32_t>(found.shape.size()),
           found.shape.data()};
  return 0;
}

/// A tensor on the caller's memory. Throws as calls from C++ do.
Tensor tensor_of(const std::string &name, const weft_input &input, std::int64_t number) {
  const std::string which = name + ": input " + std::to_string(number);
  // Before it is one of DType's bytes, of which 259 would be f32 again.
  if (input.dtype < 0 || input.dtype >= kNumDTypes)
    throw DTypeError(which + " has the dtype " + std::to_string(input.dtype) +
                     ", which is none of " + c_dtypes());
  if (input.rank < 0 || input.rank > max_rank || (input.rank > 0 && input.sizes == nullptr))
    throw ShapeError(which + " has no sizes for the rank " + std::to_string(input.rank));
  const std::span<const std::int64_t> sizes(input.sizes, static_cast<std::size_t>(input.rank));
  const auto dtype = static_cast<DType>(input.dtype);
  for (const std::int64_t size : sizes)
    if (size < 0) throw ShapeError(which + " cannot have the size " + std::to_string(size));
  if (detail::checked_tensor_bytes(dtype, sizes) != 0 && input.data == nullptr)
    throw ValueError(which + " has no data");
  return detail::new_external(dtype, sizes, const_cast<void *>(input.data),
                              {[](void *) {}, nullptr});
}

void run(const weft_program &program, std::span<const weft_input> inputs,
         std::span<weft_output> outputs) {
  const std::string &name = program.runnable.manifest().name;
  std::vector<Tensor> tensors;
  std::vector<detail::TensorImpl *> arguments;
  for (const weft_input &input : inputs) {
    tensors.push_back(tensor_of(name, input, static_cast<std::int64_t>(tensors.size())));
    arguments.push_back(tensors.back().impl());
  }
  // Before it runs, and changes variables.
  if (const std::size_t count = program.runnable.output_count(arguments); count != outputs.size())
    throw ValueError(name + ": there is room for " + std::to_string(outputs.size()) +
                     " outputs, but the entry has " + std::to_string(count));
  const std::vector<Tensor> results = program.runnable.run(arguments);
  for (std::size_t i = 0; i < results.size(); ++i) {
    auto owner = std::make_unique<Tensor>(detail::on_host(results[i]).contiguous());
    const detail::TensorImpl &impl = *owner->impl();
    outputs[i] = {static_cast<std::int32_t>(impl.dtype), impl.rank, impl.dims(), impl.data,
                  owner.release()};
  }
}

} // namespace

weft_program *weft_program_open(const char *path, char *message, int64_t message_size) {
  return weft_program_open_on(path, "cpu", message, message_size);
}

weft_program *weft_program_open_on(const char *path, const char *device, char *message,
                                   int64_t message_size) {
  const std::string file = path == nullptr ? "" : path;
  try {
    check_path("weft_program_open", file);
    return new weft_program(file, parse_device(device == nullptr ? "" : device));
  } catch (const std::exception &error) {
    // The name may have lines of its own.
    std::string text = error.what();
    const std::string plain = shown_message(file), line = shown(file, file.size());
    if (line != plain)
      for (std::size_t at = 0; (at = text.find(plain, at)) != text.npos; at += line.size())
        text.replace(at, plain.size(), line);
    report(text.c_str(), message, message_size);
    return nullptr;
  }
}

void weft_program_close(weft_program *program) { delete program; }

const char *weft_program_name(const weft_program *program) {
  return program == nullptr ? "" : program->runnable.manifest().name.c_str();
}

int64_t weft_program_entry_count(const weft_program *program) {
  if (program == nullptr) return -1;
  return static_cast<int64_t>(program->runnable.manifest().entries.size());
}

int64_t weft_program_input_count(const weft_program *program, int64_t entry) {
  const archive::Entry *found = find_entry(program, entry);
  return found == nullptr ? -1 : static_cast<int64_t>(found->inputs.size());
}

int64_t weft_program_output_count(const weft_program *program, int64_t entry) {
  const archive::Entry *found = find_entry(program, entry);
  return found == nullptr ? -1 : static_cast<int64_t>(found->outputs.size());
}

int32_t weft_program_input_type(const weft_program *program, int64_t entry, int64_t input,
                                weft_type *type) {
  const archive::Entry *found = find_entry(program, entry);
  return found == nullptr ? 1 : describe(found->inputs, input, type);
}

int32_t weft_program_output_type(const weft_program *program, int64_t entry, int64_t output,
                                 weft_type *type) {
  const archive::Entry *found = find_entry(program, entry);
  return found == nullptr ? 1 : describe(found->outputs, output, type);
}

int32_t weft_program_run(const weft_program *program, const weft_input *inputs, int64_t input_count,
                         weft_output *outputs, int64_t output_count, char *message,
                         int64_t message_size) {
  const std::span<weft_output> destinations(
      outputs,
      outputs == nullptr ? 0 : static_cast<std::size_t>(std::max<int64_t>(output_count, 0)));
  std::fill(destinations.begin(), destinations.end(), weft_output{});
  const char *const null = program == nullptr                       ? "program"
                           : inputs == nullptr && input_count > 0   ? "inputs"
                           : outputs == nullptr && output_count > 0 ? "outputs"
                                                                    : nullptr;
  if (null != nullptr) {
    report(("weft_program_run: " + std::string(null) + " is NULL").c_str(), message, message_size);
    return 1;
  }
  try {
    run(*program, {inputs, static_cast<std::size_t>(std::max<int64_t>(input_count, 0))},
        destinations);
    return 0;
  } catch (const std::exception &error) {
    weft_outputs_free(outputs, output_count);
    report(error.what(), message, message_size);
    return 1;
  }
}

void weft_outputs_free(weft_output *outputs, int64_t count) {
  if (outputs == nullptr) return;
  for (int64_t i = 0; i < count; ++i) {
    delete static_cast<Tensor *>(outputs[i].owner);
    outputs[i] = {};
  }
}
