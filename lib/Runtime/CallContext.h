// What compiled code knows of the call it runs in, and the functions of the library that it calls.
//
// Everything that compiled code touches is plain integers and pointers: it reads `arena` at offset
// 0 and otherwise only passes the context on. A function below that throws unwinds through compiled
// frames (they carry unwind tables and own nothing: temporaries belong to the context), so it must
// be called on the thread that called the entry, never from the body of weft_rt_parallel_for.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "Support/Profile.h"
#include <weft/tensor.h>

namespace weft {

/// Raise it when a function that compiled code calls (weft_rt_*) changes its name, its parameters
/// or its meaning, and when CallContext or what an entry is handed does: archives of
/// `export_program` outlive the build that wrote them, and are compiled anew where this differs.
/// test/unit/Export/AbiTest.cpp notices changes of the declarations.
inline constexpr int kRuntimeAbi = 6;

struct HostBinding;
class DeviceCall;

/// One value that compiled code hands to print, to a failed assert or to a host call: {i32, i32,
/// ptr, ptr}. The elements are contiguous and row-major; `dims` holds `rank` sizes.
struct RuntimeValue {
  std::int32_t dtype; ///< a weft::DType
  std::int32_t rank;
  const std::int64_t *dims;
  const void *data;
};

/// What is to be copied to a variable's buffer if a call is over early. `from` is the buffer of a
/// variable too, of the same size, or overlaps none.
struct RuntimeMove {
  void *to;
  const void *from;
  std::int64_t bytes;
};

/// Where the outputs of unknown size of a call from C go: `data` and `dims` have `count` elements,
/// of which `data` are null at first.
struct COutputs {
  void **data;               ///< memory that free() takes, or that of the call's device
  std::int64_t *const *dims; ///< the sizes of each
  std::int64_t count;
};

/// Finds the user's line of a site: of the op call that compiled code reports by number.
class LocationTable {
public:
  virtual ~LocationTable() = default;
  /// Not known for a number that there is none of.
  virtual SourceLocation location(std::int64_t site) const = 0;
  /// The function that the user called there, if it is not the op itself; null if it is.
  virtual const char *function(std::int64_t) const { return nullptr; }
};

/// Finds what profiles call the op calls that compiled code reports the times of.
class NoteTable {
public:
  virtual ~NoteTable() = default;
  /// `sites` are numbers with blanks between, in memory that lives as long as the code.
  virtual profile::Label label(std::string_view sites) const = 0;
};

/// The state of one call of a compiled function. The caller makes it on its stack, fills the fields
/// and keeps it until the entry returned or threw; it frees the temporaries that are left.
struct CallContext {
  /// Memory for the temporaries of static size, of the size that the function's plan asks for and
  /// aligned to 64 bytes.
  std::byte *arena = nullptr;
  /// The function's name, for messages.
  const char *function = "";
  /// Where weft_rt_output puts the outputs of unknown size: `output_count` handles of the caller's.
  Tensor *outputs = nullptr;
  std::int64_t output_count = 0;
  /// Where it puts them instead if the caller is C.
  COutputs *c_outputs = nullptr;
  /// The callables that the function's host calls name: `host_count` of them.
  const HostBinding *hosts = nullptr;
  std::size_t host_count = 0;
  /// What the last host call gave.
  std::vector<Tensor> host_results;
  /// What to move if the next call of the runtime throws; lies in compiled code's frame.
  RuntimeMove *moves = nullptr;
  std::int64_t move_count = 0;
  /// For errors; null if no lines are known.
  const LocationTable *locations = nullptr;
  /// For profiles; null if code reports no times.
  const NoteTable *notes = nullptr;
  /// What the code is at.
  std::optional<profile::Scope> profiled;
  /// The dynamic temporaries that live now, newest first.
  struct Temporary *temporaries = nullptr;
  /// Of a program for a GPU (DeviceCalls.h): where its arena, its buffers and temporaries are. Null
  /// for one that runs on the processor alone.
  DeviceCall *device = nullptr;

  CallContext() = default;
  CallContext(const CallContext &) = delete;
  CallContext &operator=(const CallContext &) = delete;
  ~CallContext() {
    if (temporaries != nullptr) free_temporaries();
  }

private:
  void free_temporaries() noexcept;
};
static_assert(offsetof(CallContext, arena) == 0);

/// An entry of a compiled function. `buffers` are the inputs (contiguous), the variables (read and
/// written in place), then the outputs of static size; `dims` the sizes of the unknown dimensions
/// of the inputs, in order. Returns 0, or throws what one of the functions below throws.
using CompiledEntry = std::int32_t (*)(void *const *buffers, const std::int64_t *dims,
                                       CallContext *context);

/// To be called in a handler, of what the library threw when compiled code had it compute `op` for
/// the op call `site`: makes the moves that weft_rt_on_stop was told of, and throws the same error
/// as one of the user's call there.
[[noreturn]] void rethrow_at_site(CallContext *context, std::int64_t site, std::string_view op);

} // namespace weft

namespace weft::detail {
/// What weft_rt_interrupt does once variables are looked after.
void handle_interrupt();
} // namespace weft::detail

extern "C" {

/// Not 0 where an interrupt is requested: compiled loops look at it before each iteration.
extern std::atomic<std::uint8_t> weft_rt_interrupt_flag;

/// Takes an interrupt that is requested: calls the handler of weft/detail/interrupts.h, and throws
/// what that throws.
void weft_rt_interrupt(weft::CallContext *context);

/// Tells that some variables are not in their own buffers. If the next function below that is
/// called with this context throws (print, assert_fail, index_error, check_indices, shape_error,
/// host_call, interrupt or the routine of an op), it first moves them there, all at once; if it
/// does not throw, this is forgotten.
void weft_rt_on_stop(weft::CallContext *context, weft::RuntimeMove *moves, std::int64_t count);

/// Prints one line: `format` (`length` bytes, no terminator needed) with each {} replaced by the
/// next value. Throws what the print sink throws.
void weft_rt_print(weft::CallContext *context, const char *format, std::int64_t length,
                   const weft::RuntimeValue *values, std::int64_t count);

// `site` is the number of the op call that fails, whose location goes into the error; -1 if it has
// none.

/// Throws AssertionError "assertion failed in FUNCTION: MESSAGE", the message formatted as
/// weft_rt_print does, values beyond the last {} after a semicolon. Does not return.
[[noreturn]] void weft_rt_assert_fail(weft::CallContext *context, std::int64_t site,
                                      const char *message, std::int64_t message_length,
                                      const weft::RuntimeValue *values, std::int64_t count);

/// Throws IndexError "OP: index INDEX is out of range for an axis of size SIZE". `op` ends in a
/// NUL. Does not return.
[[noreturn]] void weft_rt_index_error(weft::CallContext *context, std::int64_t site, const char *op,
                                      std::int64_t index, std::int64_t size);

/// Whether any of `count` contiguous indices (`dtype` is i32 or i64) lies outside of [0, size): one
/// call before the loops of a gather.
bool weft_rt_outside(std::int32_t dtype, const void *indices, std::int64_t count,
                     std::int64_t size);

/// Throws as weft_rt_index_error does for the first index that lies outside, if any does.
void weft_rt_check_indices(weft::CallContext *context, std::int64_t site, const char *op,
                           std::int32_t dtype, const void *indices, std::int64_t count,
                           std::int64_t size);

/// Throws ShapeError with this message (ends in a NUL), where each {} stands for one of `count`
/// sizes: sizes unknown when the function was compiled that turned out not to fit. Does not return.
[[noreturn]] void weft_rt_shape_error(weft::CallContext *context, std::int64_t site,
                                      const char *message, const std::int64_t *sizes,
                                      std::int64_t count);
/// The same of a ValueError.
[[noreturn]] void weft_rt_value_error(weft::CallContext *context, std::int64_t site,
                                      const char *message, const std::int64_t *sizes,
                                      std::int64_t count);
/// The same of an IndexError.
[[noreturn]] void weft_rt_bounds_error(weft::CallContext *context, std::int64_t site,
                                       const char *message, const std::int64_t *sizes,
                                       std::int64_t count);

/// For profiles: what does the op calls of these numbers (`length` bytes of text with blanks
/// between) begins.
void weft_rt_note_begin(weft::CallContext *context, const char *sites, std::int64_t length);
/// It ends.
void weft_rt_note_end(weft::CallContext *context);

/// Memory for a temporary whose size is known only now, aligned to 64 bytes, never null; of the
/// device, if the call has one. It lives
/// until weft_rt_free or the end of the call. Throws OutOfMemory.
void *weft_rt_alloc(weft::CallContext *context, std::int64_t bytes);
/// Frees what weft_rt_alloc gave in the same call.
void weft_rt_free(weft::CallContext *context, void *memory);

/// Calls the callable of that name (`length` bytes, no terminator needed) with copies of `count`
/// operands and keeps its results, which must be of the `type_count` types in `types`: these have
/// no data, and their sizes may be `unknown`. Throws what call_host throws
/// (lib/Runtime/HostFunction.h), and StateError if the call has no such callable.
void weft_rt_host_call(weft::CallContext *context, std::int64_t site, const char *name,
                       std::int64_t length, const weft::RuntimeValue *operands, std::int64_t count,
                       const weft::RuntimeValue *types, std::int64_t type_count);
/// The size of an axis of a result of the last host call.
std::int64_t weft_rt_host_size(weft::CallContext *context, std::int64_t result, std::int64_t axis);
/// Copies the elements of a result of the last host call to `data`.
void weft_rt_host_take(weft::CallContext *context, std::int64_t result, void *data);

/// Makes output number `index` (counted among those of unknown size) a new tensor, or memory of
/// C's, of this dtype and these sizes and returns where its elements go, contiguous and aligned to
/// 64 bytes. Throws OutOfMemory, or ShapeError when the sizes overflow.
void *weft_rt_output(weft::CallContext *context, std::int64_t index, std::int32_t dtype,
                     std::int64_t rank, const std::int64_t *dims);

/// Calls an entry from C: the headers that weft-compile writes use it. `dims` are the sizes of the
/// unknown dimensions of the inputs, `outputs` and `output_dims` the destinations of the outputs of
/// unknown size. `arena_bytes` is what the function's plan asks for; `locations` are the lines of
/// its sites, each as "17 step.mlir:7". Returns 0; after a failed assert, a bad index or size, or
/// for lack of memory 1, with the reason in `message` (`message_size` bytes, may be null) and
/// without outputs of unknown size. Thread-safe, but for variables that another call writes.
std::int32_t weft_rt_call(weft::CompiledEntry entry, void *const *buffers, const std::int64_t *dims,
                          std::int64_t dim_count, void **outputs, std::int64_t *const *output_dims,
                          std::int64_t output_count, std::int64_t arena_bytes, const char *function,
                          const char *const *locations, std::int64_t location_count, char *message,
                          std::int64_t message_size);

} // extern "C"
