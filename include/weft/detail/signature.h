// Signatures: what a call of a traced function is looked up by.
#pragma once

#include <weft/detail/parts.h>

namespace weft::detail {

/// Collects the tensors and variables of arguments, and their signature: dtypes and shapes, and
/// which variables are the same. lib/Function/Signature.cpp reads the words back.
class ArgumentReader : public SignatureWriter {
public:
  void variable(const Variable &value);
  void tensor(const Tensor &value) {
    const TensorImpl *impl = value.impl();
    if (impl == nullptr) {
      undefined = static_cast<std::ptrdiff_t>(tensors.size());
      key.push_back(static_cast<std::uint64_t>(Node::tensor) | 0xffu << 8); // as no other has
      return;
    }
    key.push_back(static_cast<std::uint64_t>(Node::tensor) | std::uint64_t(impl->dtype) << 8 |
                  std::uint64_t(impl->rank) << 16);
    for (std::int64_t dim : impl->sizes()) key.push_back(static_cast<std::uint64_t>(dim));
    tensors.push_back(value.impl());
  }

  InlineVector<TensorImpl *, 8> tensors; ///< borrowed from the arguments
  std::ptrdiff_t undefined = -1;         ///< which of them is an undefined tensor, if one is
  /// Borrowed from the arguments: the different variables, in the order in which they come first.
  InlineVector<VariablePointer, 8> variables;
};

} // namespace weft::detail
