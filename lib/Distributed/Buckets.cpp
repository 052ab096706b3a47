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

namespace {

/// One exchange: tensors of a list, of one dtype.
struct Bucket {
  const Lists *of;
  std::size_t list;                 ///< the number of `of`
  std::vector<std::size_t> tensors; ///< the numbers of these
  std::size_t elements = 0;
  /// The elements of each rank end there, where each gets its own alone.
  std::vector<std::size_t> ends = {};

  const Tensor &first() const { return of->leaves.front()[tensors.front()]; }
  DType dtype() const { return first().dtype(); }
  std::size_t bytes() const { return elements * item_size(dtype()); }
};

/// Where the elements of each rank end, when its part of all tensors stands before that of the
/// next.
std::vector<std::size_t> ends_of(const Bucket &bucket, int ranks) {
  std::vector<std::size_t> ends;
  std::size_t end = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    for (const std::size_t i : bucket.tensors) {
      const auto [from, to] = bucket.of->part_of(i, rank);
      end += static_cast<std::size_t>(to - from);
    }
    ends.push_back(end);
  }
  return ends;
}

/// The tensors of each replica, or each rank's part of them, one behind the other, on the host.
Tensor packed(const Bucket &bucket) {
  const auto leaves = static_cast<std::int64_t>(bucket.of->leaves.size());
  const Tensor all =
      new_tensor(bucket.dtype(), Shape{leaves * static_cast<std::int64_t>(bucket.elements)});
  std::byte *to = all.impl()->data;
  const auto add = [&](const std::byte *from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(to, from, bytes);
    to += bytes;
  };
  const std::size_t item = item_size(bucket.dtype());
  for (const std::vector<Tensor> &leaf : bucket.of->leaves) {
    std::vector<Tensor> hosts;
    for (const std::size_t i : bucket.tensors)
      hosts.push_back(weft::detail::on_host(leaf[i]).contiguous());
    if (bucket.ends.empty())
      for (const Tensor &host : hosts) add(host.impl()->data, bytes_of(host));
    for (int rank = 0; rank < static_cast<int>(bucket.ends.size()); ++rank)
      for (std::size_t i = 0; i < hosts.size(); ++i) {
        const auto [first, last] = bucket.of->part_of(bucket.tensors[i], rank);
        add(hosts[i].impl()->data + static_cast<std::size_t>(first) * item,
            static_cast<std::size_t>(last - first) * item);
      }
  }
  return all;
}

void unpack(const Bucket &bucket, int rank, const Tensor &all, std::vector<Tensor> &results) {
  const std::byte *from = all.impl()->data;
  for (const std::size_t i : bucket.tensors) {
    const Tensor &like = bucket.of->leaves.front()[i];
    Shape shape = like.shape();
    if (!bucket.ends.empty()) {
      const auto [first, last] = bucket.of->part_of(i, rank);
      shape = Shape{last - first};
    }
    const Tensor result = new_tensor(like.dtype(), shape);
    if (bytes_of(result) != 0) std::memcpy(result.impl()->data, from, bytes_of(result));
    from += bytes_of(result);
    results[i] = weft::detail::moved(result, like.impl()->device);
  }
}

/// What ranks have to have in common of some buckets.
std::string text_of(std::span<const Bucket> buckets) {
  std::string text;
  for (const Bucket &bucket : buckets)
    text += (text.empty() ? "" : ", ") + std::to_string(bucket.tensors.size()) + " of " +
            std::to_string(bucket.of->leaves.front().size()) +
            (bucket.ends.empty() ? " tensors" : " tensors in parts");
  if (buckets.size() == 1) return text;
  for (const Bucket &bucket : buckets)
    text += (&bucket == buckets.data() ? ": " : ", ") + std::to_string(bucket.elements) + " " +
            std::string(name_of(bucket.dtype()));
  return text;
}

} // namespace

std::vector<std::vector<Tensor>>
reduce_in_buckets(const Caller &caller, const Group &group, std::int64_t replicas,
                  std::span<const Lists> lists, const std::string &what, std::size_t bucket_bytes) {
  const Interpreter::Scope nobody(nullptr);
  std::vector<std::vector<Tensor>> results;
  std::vector<Bucket> buckets;
  for (const Lists &list : lists) {
    const std::vector<Tensor> &first = list.leaves.front();
    for (std::vector<std::size_t> &tensors : buckets_of(first, bucket_bytes)) {
      const Combiner checked(caller.function, list.reduction, first[tensors.front()].dtype());
      buckets.push_back({&list, results.size(), std::move(tensors)});
      for (const std::size_t i : buckets.back().tensors)
        buckets.back().elements += elements_of(first[i]);
    }
    results.emplace_back(first.size());
  }
  // So much is under way at once: more takes memory and no less time.
  const std::size_t most = std::max<std::size_t>(8 * bucket_bytes, std::size_t{1} << 16);
  for (std::size_t begin = 0; begin < buckets.size();) {
    std::size_t end = begin, bytes = 0;
    do bytes += buckets[end++].bytes();
    while (end < buckets.size() && bytes + buckets[end].bytes() <= most);
    const std::span<Bucket> some(buckets.data() + begin, end - begin);
    Call call(caller.function, group, caller.where);
    std::vector<Tensor> sums;
    std::vector<Reducing> whats;
    std::vector<std::byte *> to;
    for (Bucket &bucket : some) {
      std::size_t own_elements = bucket.elements;
      if (bucket.of->part_of) {
        bucket.ends = ends_of(bucket, call.size());
        const auto rank = static_cast<std::size_t>(call.rank());
        own_elements = bucket.ends[rank] - (rank == 0 ? 0 : bucket.ends[rank - 1]);
      }
      const Tensor own = packed(bucket);
      sums.push_back(new_tensor(bucket.dtype(), Shape{static_cast<std::int64_t>(own_elements)}));
      call.keep(own);
      call.keep(sums.back());
      whats.push_back({.dtype = bucket.dtype(),
                       .reduction = bucket.of->reduction,
                       .replicas = replicas,
                       .elements = bucket.elements,
                       .own = own.impl()->data,
                       .ends = bucket.ends});
      to.push_back(sums.back().impl()->data);
    }
    reduce(call,
           {.dtype = some[0].dtype(),
            .shape = Shape{static_cast<std::int64_t>(some[0].elements)},
            .arguments = what + ", " + text_of(some)},
           whats, to);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const bool mean = some[i].of->reduction == Reduction::mean;
      // A mean as of one tensor.
      unpack(some[i], call.rank(),
             mean ? divide(sums[i], full({}, replicas, sums[i].dtype())) : sums[i],
             results[some[i].list]);
    }
    begin = end;
  }
  return results;
}

bool on_several_hosts(const Group &group) {
  return (group.state() != nullptr ? *group.state() : *world_group()).between_hosts;
}

void gather_run(const Caller &caller, const Group &group, const std::string &what,
                std::span<const std::size_t> ends, const Tensor &run) {
  const Interpreter::Scope nobody(nullptr);
  Call call(caller.function, group, caller.where);
  call.keep(run);
  const auto part_of = [&](int rank) {
    const std::size_t begin = rank == 0 ? 0 : ends[static_cast<std::size_t>(rank) - 1];
    return std::pair(run.impl()->data + begin, ends[static_cast<std::size_t>(rank)] - begin);
  };
  std::size_t longest = 0;
  for (int rank = 0; rank < call.size(); ++rank) longest = std::max(longest, part_of(rank).second);
  const auto [own, own_size] = part_of(call.rank());
  std::string with;
  if (longest <= kSmall) {
    with.assign(reinterpret_cast<const char *>(own), own_size);
    with.resize(longest); // those that go with it are of one length
  }
  const std::vector<std::string_view> all =
      call.meet({.dtype = run.dtype(), .shape = run.shape(), .arguments = what}, with);
  if (longest <= kSmall) {
    for (const int other : call.others())
      if (const auto [at, size] = part_of(other); size != 0)
        std::memcpy(at, all[static_cast<std::size_t>(other)].data(), size);
    return;
  }
  for (const int other : call.others())
    if (const auto [at, size] = part_of(other); size != 0) call.recv(other, at, size);
  for (const int other : call.others())
    if (own_size != 0) call.send(other, own, own_size);
  call.wait_all();
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
  for (std::size_t at = 0; at < most; at += kSmall) {
    std::string part = at < text.size() ? text.substr(at, kSmall) : std::string();
    part.resize(std::min(kSmall, most - at));
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
