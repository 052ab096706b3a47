// The tree of replicas: which subtrees a run of them is, and what they combine to.
#include "Distributed/Tree.h"

#include <bit>
#include <cstring>

#include "Kernels/KernelTable.h"
#include "Kernels/Lines.h"
#include "OpDefs/OpInfo.h"
#include "Ops/Eager.h"
#include "Runtime/NewTensor.h"
#include "Support/Fault.h"
#include "Support/Threads.h"

namespace weft::distributed {

std::vector<Node> nodes_of(std::int64_t begin, std::int64_t end, std::int64_t count) {
  std::vector<Node> nodes;
  while (begin < end) {
    // A subtree may reach beyond the last replica, where nothing is missing.
    Node node{0, begin};
    while ((node.index & 1) == 0 && (std::int64_t{1} << node.level) < count) {
      const Node larger{node.level + 1, node.index >> 1};
      const std::int64_t last = std::min((larger.index + 1) << larger.level, count);
      if (last > end) break;
      node = larger;
    }
    nodes.push_back(node);
    begin = std::min((node.index + 1) << node.level, count);
  }
  return nodes;
}

namespace {

OpCode op_of(Reduction reduction) {
  switch (reduction) {
  case Reduction::max: return OpCode::maximum;
  case Reduction::min: return OpCode::minimum;
  case Reduction::sum:
  case Reduction::mean: break;
  }
  return OpCode::add;
}

} // namespace

Combiner::Combiner(const char *function, Reduction reduction, DType dtype)
    : op_(static_cast<int>(op_of(reduction))), parts_(dtype), per_element_(1) {
  const bool adds = reduction == Reduction::sum || reduction == Reduction::mean;
  const std::string name(name_of(dtype));
  if (is_storage(dtype))
    raise(ErrorKind::dtype, std::string(function) + ": " + name +
                                " is a dtype for storage: cast it to one with arithmetic first");
  if (adds && dtype == DType::boolean)
    raise(ErrorKind::dtype, std::string(function) +
                                ": bools have no sum: cast them to integers, or ask for the "
                                "maximum (any) or the minimum (all)");
  if (reduction == Reduction::mean && !is_floating(dtype) && !is_complex(dtype))
    raise(ErrorKind::dtype, std::string(function) + ": a mean wants floating-point numbers, not " +
                                name + ": cast them first");
  if (is_complex(dtype)) {
    if (!adds) raise(ErrorKind::dtype, std::string(function) + ": complex numbers have no order");
    parts_ = dtype == DType::c64 ? DType::f32 : DType::f64;
    per_element_ = 2;
  }
  if (dtype == DType::boolean) parts_ = DType::u8; // of bytes that are 0 and 1
  kernel_ = kernel_table().elementwise[op_][static_cast<int>(parts_)][0];
}

void Combiner::operator()(const void *a, const void *b, void *to, std::size_t elements) const {
  if (elements == 0) return;
  if (kernel_ == nullptr) return by_op(a, b, to, elements);
  const auto count = static_cast<std::int64_t>(elements * per_element_);
  const std::int64_t item = item_size(parts_);
  const auto run = [&](std::int64_t begin, std::int64_t end) {
    void *buffers[] = {const_cast<std::byte *>(static_cast<const std::byte *>(a)) + begin * item,
                       const_cast<std::byte *>(static_cast<const std::byte *>(b)) + begin * item,
                       static_cast<std::byte *>(to) + begin * item};
    const std::int64_t dims[] = {end - begin};
    kernel_(buffers, dims);
  };
  if (count <= kernels::parallel_grain(1)) run(0, count);
  else threads::parallel_for_noexcept(0, count, kernels::parallel_grain(1), run);
}

void Combiner::by_op(const void *a, const void *b, void *to, std::size_t elements) const {
  const std::int64_t sizes[] = {static_cast<std::int64_t>(elements * per_element_)};
  const std::size_t bytes = static_cast<std::size_t>(sizes[0]) * item_size(parts_);
  const Tensor operands[] = {weft::detail::new_tensor(parts_, sizes),
                             weft::detail::new_tensor(parts_, sizes)};
  std::memcpy(operands[0].impl()->data, a, bytes);
  std::memcpy(operands[1].impl()->data, b, bytes);
  const Tensor result = execute_eager(static_cast<OpCode>(op_), operands, {});
  std::memcpy(to, result.contiguous().impl()->data, bytes);
}

namespace {

/// One walk over the tree.
class Walk {
public:
  Walk(const Combiner &combine, std::int64_t count, const std::vector<NodeValues> &nodes,
       std::size_t elements, std::size_t element_bytes, std::vector<std::byte> &room)
      : combine_(combine), count_(count), nodes_(nodes), elements_(elements),
        bytes_((elements * element_bytes + 63) / 64 * 64), room_(room) {}

  /// The values of a subtree: where they are given, or in `to`.
  const std::byte *values(Node node, std::byte *to) {
    if (is_next(node)) return nodes_[next_++].values;
    const Node left{node.level - 1, node.index * 2}, right{node.level - 1, node.index * 2 + 1};
    const std::byte *a = values(left, to);
    if (right.index << right.level >= count_) return a;
    const std::byte *b =
        is_next(right) ? nodes_[next_++].values : values(right, aside(right.level));
    combine_(a, b, to, elements_);
    return to;
  }

private:
  bool is_next(Node node) const { return next_ < nodes_.size() && nodes_[next_].node == node; }
  /// Room for a subtree on the right of another. Those within it are of lower levels, so that the
  /// room grows only while nothing is in it.
  std::byte *aside(int level) {
    const std::size_t before = static_cast<std::size_t>(level) * bytes_;
    if (room_.size() < before + bytes_ + 64) room_.resize(before + bytes_ + 64);
    const auto at = reinterpret_cast<std::uintptr_t>(room_.data());
    return room_.data() + ((at + 63) / 64 * 64 - at) + before;
  }

  const Combiner &combine_;
  std::int64_t count_;
  const std::vector<NodeValues> &nodes_;
  std::size_t elements_, bytes_;
  std::vector<std::byte> &room_;
  std::size_t next_ = 0;
};

} // namespace

Node root_of(std::int64_t count) {
  Node root;
  while ((std::int64_t{1} << root.level) < count) ++root.level;
  return root;
}

void combine_tree(const Combiner &combine, Node root, std::int64_t count,
                  const std::vector<NodeValues> &nodes, std::size_t elements,
                  std::size_t element_bytes, std::byte *to, std::vector<std::byte> &room) {
  Walk walk(combine, count, nodes, elements, element_bytes, room);
  const std::byte *const result = walk.values(root, to);
  if (result != to) std::memcpy(to, result, elements * element_bytes);
}

} // namespace weft::distributed
