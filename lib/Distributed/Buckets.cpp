// Exchanges of many tensors at once, and comparisons of what ranks are about to do.
#include "Distributed/Buckets.h"

#include <algorithm>
#include <cstring>

#include "Distributed/Reduce.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/Fault.h"
#include "Support/Messages.h"
#include <weft/ops.h>

namespace weft::distributed {

using weft::detail::new_tensor;

namespace {

std::size_t elements_of(const Tensor &tensor) {
  return static_cast<std::size_t>(tensor.impl()->size);
}
std::size_t bytes_of(const Tensor &tensor) {
  return elements_of(tensor) * item_size(tensor.dtype());
}

/// The numbers of tensors that go together.
std::vector<std::vector<std::size_t>> buckets_of(const std::vector<Tensor> &tensors,
                                                 std::size_t bucket_bytes) {
  std::vector<std::size_t> order(tensors.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::pair(tensors[i].dtype(), i); });
  std::vector<std::vector<std::size_t>> buckets;
  std::size_t bytes = 0;
  for (const std::size_t i : order) {
    const bool fits = !buckets.empty() &&
                      tensors[buckets.back().back()].dtype() == tensors[i].dtype() &&
                      bytes + bytes_of(tensors[i]) <= bucket_bytes;
    if (!fits) {
      buckets.emplace_back();
      bytes = 0;
    }
    buckets.back().push_back(i);
    bytes += bytes_of(tensors[i]);
  }
  return buckets;
}

} // namespace

std::vector<Tensor> reduce_in_buckets(const Caller &caller, const Group &group,
                                      std::int64_t replicas, Reduction reduction,
                                      const std::vector<std::vector<Tensor>> &leaves,
                                      const std::string &what, std::size_t bucket_bytes) {
  const Interpreter::Scope nobody(nullptr);
  const std::vector<Tensor> &first = leaves.front();
  std::vector<Tensor> results(first.size());
  for (const std::vector<std::size_t> &bucket : buckets_of(first, bucket_bytes)) {
    const DType dtype = first[bucket.front()].dtype();
    std::size_t elements = 0;
    const Combiner checked(caller.function, reduction, dtype);
    for (const std::size_t i : bucket) elements += elements_of(first[i]);
    const auto count = static_cast<std::int64_t>(elements);
    Call call(caller.function, group, caller.where);
    const Tensor own = new_tensor(dtype, Shape{static_cast<std::int64_t>(leaves.size()) * count});
    const Tensor sum = new_tensor(dtype, Shape{count});
    call.keep(own);
    call.keep(sum);
    std::byte *to = own.impl()->data;
    for (const std::vector<Tensor> &leaf : leaves)
      for (const std::size_t i : bucket) {
        const Tensor host = weft::detail::on_host(leaf[i]).contiguous();
        std::memcpy(to, host.impl()->data, bytes_of(host));
        to += bytes_of(host);
      }
    reduce_everywhere(call,
                      {.dtype = dtype,
                       .shape = sum.shape(),
                       .arguments = what + ", " + std::to_string(bucket.size()) + " of " +
                                    std::to_string(first.size()) + " tensors"},
                      {.dtype = dtype,
                       .reduction = reduction,
                       .replicas = replicas,
                       .elements = elements,
                       .own = own.impl()->data},
                      sum.impl()->data);
    const Tensor all = reduction == Reduction::mean
                           ? divide(sum, full({}, replicas, dtype)) // as of one tensor
                           : sum;
    const std::byte *from = all.impl()->data;
    for (const std::size_t i : bucket) {
      const Tensor result = new_tensor(dtype, first[i].shape());
      std::memcpy(result.impl()->data, from, bytes_of(result));
      from += bytes_of(result);
      results[i] = weft::detail::moved(result, first[i].impl()->device);
    }
  }
  return results;
}

std::vector<std::string> exchange_bytes(const Caller &caller, const Group &group,
                                        const std::string &what, std::string_view bytes) {
  Call call(caller.function, group, caller.where);
  const std::vector<std::string_view> all =
      call.meet({.arguments = what, .has_tensor = false}, bytes);
  return {all.begin(), all.end()};
}

std::vector<std::string> exchange_texts(const Caller &caller, const Group &group,
                                        const std::string &what, const std::string &text) {
  const std::uint64_t own = text.size();
  std::size_t most = 0;
  std::vector<std::size_t> lengths;
  for (const std::string &bytes :
       exchange_bytes(caller, group, what, {reinterpret_cast<const char *>(&own), sizeof own})) {
    std::uint64_t length = 0;
    std::memcpy(&length, bytes.data(), sizeof length);
    lengths.push_back(length);
    most = std::max<std::size_t>(most, length);
  }
  std::vector<std::string> texts(lengths.size());
  for (std::size_t at = 0; at < most; at += Call::kSmall) {
    std::string part = at < text.size() ? text.substr(at, Call::kSmall) : std::string();
    part.resize(std::min(Call::kSmall, most - at));
    const std::vector<std::string> parts = exchange_bytes(caller, group, what, part);
    for (std::size_t i = 0; i < texts.size(); ++i) texts[i] += parts[i];
  }
  for (std::size_t i = 0; i < texts.size(); ++i) texts[i].resize(lengths[i]);
  return texts;
}

void compare_lines(const Caller &caller, const Group &group,
                   const std::vector<std::string> &lines) {
  std::string text;
  for (const std::string &line : lines) text += line + "\n";
  const std::vector<std::string> texts = exchange_texts(caller, group, "what is done", text);
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts[0]) continue;
    const std::size_t at = static_cast<std::size_t>(
        std::ranges::mismatch(texts[0], texts[rank]).in1 - texts[0].begin());
    const auto line_of = [&](const std::string &whole) {
      if (at >= whole.size()) return std::string("nothing more");
      const std::size_t begin = at == 0 ? 0 : whole.rfind('\n', at - 1) + 1;
      return shown(whole.substr(begin, whole.find('\n', at) - begin), 200);
    };
    raise(ErrorKind::state, std::string(caller.function) +
                                ": ranks do not do the same: rank 0 has " + line_of(texts[0]) +
                                ", and rank " + std::to_string(rank) + " " + line_of(texts[rank]));
  }
}

} // namespace weft::distributed
