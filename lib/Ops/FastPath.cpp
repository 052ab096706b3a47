// The short way: one look at the operands, one allocation, one kernel.
#include "Ops/FastPath.h"

#include <cstring>

#include "Kernels/KernelTable.h"
#include "Kernels/Lines.h"
#include "Ops/Eager.h"
#include "Support/Profile.h"
#include "Support/Threads.h"

namespace weft::call {

namespace {

/// What the short way knows of each op, made from the records when the library is loaded.
struct Known {
  /// [op][dtype of the operands]: 1 + the dtype of the result; 0 if the op does not admit it.
  std::uint8_t result[kNumOps][kNumDTypes] = {};
  std::int64_t grain[kNumOps] = {};
  const KernelTable *kernels = nullptr;
};

Known make_known() {
  Known known;
  known.kernels = &kernel_table();
  for (const OpInfo &info : all_ops()) {
    if (info.kind != OpKind::elementwise || !info.attrs.empty() || info.operands.size() > 2)
      continue;
    const auto op = static_cast<std::size_t>(info.op);
    known.grain[op] = kernels::parallel_grain(info.cost);
    for (std::size_t dtype = 0; dtype < kNumDTypes; ++dtype) {
      const TensorType scalar{static_cast<DType>(dtype), {}};
      const TensorType operands[] = {scalar, scalar};
      const Result<TensorType> type = infer({info.op, {operands, info.operands.size()}, {}});
      if (type && known.kernels->elementwise[op][dtype][0] != nullptr)
        known.result[op][dtype] = static_cast<std::uint8_t>(static_cast<int>(type->dtype) + 1);
    }
  }
  return known;
}

// Before it is made (by static objects of the library) everything goes the general way.
constinit Known known_storage{};
[[maybe_unused]] const bool known_made = (known_storage = make_known(), true);

/// Threads for a kernel on many elements.
__attribute__((noinline)) void run_parallel(Kernel kernel, void *const *buffers,
                                            const std::int64_t *items, std::size_t operands,
                                            std::int64_t count, std::int64_t grain) {
  threads::parallel_for_noexcept(0, count, grain, [&](std::int64_t begin, std::int64_t end) {
    void *mine[3];
    for (std::size_t i = 0; i <= operands; ++i)
      mine[i] = static_cast<std::byte *>(buffers[i]) + begin * items[i];
    const std::int64_t dims[] = {end - begin};
    kernel(mine, dims);
  });
}

/// The kernel on the operands and a new tensor like `like`; `rhs` is null for unary ops.
inline __attribute__((always_inline)) Tensor run(std::size_t op, const detail::TensorImpl *like,
                                                 std::uint8_t result_dtype, unsigned variant,
                                                 void *lhs, void *rhs) {
  const auto dtype = static_cast<DType>(result_dtype - 1);
  Tensor result = detail::new_tensor_like_contiguous(like, dtype);
  const Kernel kernel =
      known_storage.kernels->elementwise[op][static_cast<std::size_t>(like->dtype)][variant];
  const bool unary = rhs == nullptr;
  void *const buffers[] = {lhs, unary ? result.impl()->data : rhs, result.impl()->data};
  if (__builtin_expect(like->size > known_storage.grain[op], 0)) {
    const auto item = static_cast<std::int64_t>(item_size(like->dtype)),
               result_item = static_cast<std::int64_t>(item_size(dtype));
    const std::int64_t items[] = {variant & 1 ? 0 : item,
                                  unary         ? result_item
                                  : variant & 2 ? 0
                                                : item,
                                  result_item};
    run_parallel(kernel, buffers, items, unary ? 1 : 2, like->size, known_storage.grain[op]);
  } else {
    kernel(buffers, &like->size);
  }
  return result;
}

/// Writes the weak scalar as an element of `dtype`; false if that takes a promotion.
bool store_scalar(const Operand &scalar, DType dtype, void *element) {
  if (scalar.weak_kind() > kind_of(dtype)) return false;
  return visit_dtype(dtype, [&]<class T>() {
    T value;
    if (!scalar.exactly_as(value)) return false;
    std::memcpy(element, &value, sizeof value);
    return true;
  });
}

bool same_sizes(const detail::TensorImpl *a, const detail::TensorImpl *b) {
  if (a->rank != b->rank) return false;
  for (unsigned i = 0; i < a->rank; ++i)
    if (a->dims()[i] != b->dims()[i]) return false;
  return true;
}

/// What has no device yet goes the long way, which gives it one.
inline bool is_plain(const detail::TensorImpl *x) { return x->plain && !x->uncommitted; }

inline __attribute__((always_inline)) Tensor of_tensor(OpCode code, const detail::TensorImpl *x) {
  const auto op = static_cast<std::size_t>(code);
  if (x == nullptr || !is_plain(x) || profile::on()) return {};
  const std::uint8_t result = known_storage.result[op][static_cast<std::size_t>(x->dtype)];
  if (result == 0) return {};
  return run(op, x, result, 0, x->data, nullptr);
}

inline __attribute__((always_inline)) Tensor of_tensors(OpCode code, const detail::TensorImpl *a,
                                                        const detail::TensorImpl *b) {
  const auto op = static_cast<std::size_t>(code);
  if (a->dtype != b->dtype || !is_plain(a) || !is_plain(b) || profile::on()) return {};
  const std::uint8_t result = known_storage.result[op][static_cast<std::size_t>(a->dtype)];
  if (result == 0) return {};
  if (same_sizes(a, b)) return run(op, a, result, 0, a->data, b->data);
  if (b->size == 1 && b->rank <= a->rank) return run(op, a, result, 2, a->data, b->data);
  if (a->size == 1 && a->rank <= b->rank) return run(op, b, result, 1, a->data, b->data);
  return {};
}

} // namespace

Tensor fast_unary(OpCode op, const Operand &x) { return of_tensor(op, x.impl()); }
Tensor fast_unary(OpCode op, const Tensor &x) { return of_tensor(op, x.impl()); }

Tensor fast_binary(OpCode op, const Tensor &lhs, const Tensor &rhs) {
  if (!lhs.defined() || !rhs.defined()) return {};
  return of_tensors(op, lhs.impl(), rhs.impl());
}

Tensor fast_binary(OpCode code, const Operand &lhs, const Operand &rhs) {
  const auto op = static_cast<std::size_t>(code);
  const detail::TensorImpl *a = lhs.impl(), *b = rhs.impl();
  if (a != nullptr && b != nullptr) return of_tensors(code, a, b);
  // Only one of them may be a scalar of C++ (and neither undefined).
  const detail::TensorImpl *like = a != nullptr ? a : b;
  if (like == nullptr || !is_plain(like) || profile::on()) return {};
  const std::uint8_t result = known_storage.result[op][static_cast<std::size_t>(like->dtype)];
  if (result == 0) return {};
  alignas(8) std::byte element[8];
  const Operand &scalar = a == nullptr ? lhs : rhs;
  if (!scalar.weak() || !store_scalar(scalar, like->dtype, element)) return {};
  return a == nullptr ? run(op, b, result, 1, element, b->data)
                      : run(op, a, result, 2, a->data, element);
}

} // namespace weft::call
