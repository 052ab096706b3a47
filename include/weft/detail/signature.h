// Signatures: what is left of a nested structure when its tensors are taken out, as words to
// compare.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <vector>

#include <weft/structure.h>

namespace weft::detail {

/// What a call is looked up by: kinds, dtypes, shapes and literals as words, compared by memcmp.
using SignatureKey = InlineVector<std::uint64_t, 48>;

/// Writes the words of everything in a structure that is no tensor.
class SignatureWriter {
public:
  void variable(const Variable &value) {
    key.push_back(static_cast<std::uint64_t>(Node::variable));
    key.push_back(reinterpret_cast<std::uint64_t>(value.state().get()));
  }
  template <class T>
  void literal(const T &value) {
    if constexpr (std::is_convertible_v<const T &, std::string_view>) {
      const std::string_view text = value;
      key.push_back(static_cast<std::uint64_t>(Node::literal) | 0xffu << 8 |
                    std::uint64_t(text.size()) << 16);
      for (std::size_t i = 0; i < text.size(); i += 8) {
        std::uint64_t word = 0;
        std::memcpy(&word, text.data() + i, std::min<std::size_t>(8, text.size() - i));
        key.push_back(word);
      }
    } else {
      // The type is part of the key: 1, 1.0 and true are different literals.
      static_assert(sizeof(T) <= 8);
      const std::uint64_t type = std::is_enum_v<T>             ? 1
                                 : std::is_same_v<T, bool>     ? 2
                                 : std::is_floating_point_v<T> ? 3
                                 : std::is_signed_v<T>         ? 4
                                                               : 5;
      key.push_back(static_cast<std::uint64_t>(Node::literal) | type << 8 |
                    std::uint64_t(sizeof(T)) << 16);
      std::uint64_t word = 0;
      std::memcpy(&word, &value, sizeof(T));
      key.push_back(word);
    }
  }
  void enter(Node node, std::size_t count) {
    key.push_back(static_cast<std::uint64_t>(node) | std::uint64_t(count) << 8);
  }

  SignatureKey key;
};

/// A variable, borrowed from the handle that somebody else keeps.
using VariablePointer = const std::shared_ptr<VariableState> *;

/// Collects the tensors and variables of arguments, and their signature: dtypes and shapes, and
/// which variables are the same. lib/Function/Signature.cpp reads the words back.
class ArgumentReader : public SignatureWriter {
public:
  void variable(const Variable &value);
  void tensor(const Tensor &value) {
    const TensorImpl *impl = value.impl();
    if (impl == nullptr) throw ValueError("an argument of a function is an undefined tensor");
    key.push_back(static_cast<std::uint64_t>(Node::tensor) | std::uint64_t(impl->dtype) << 8 |
                  std::uint64_t(impl->rank) << 16);
    for (std::int64_t dim : impl->sizes()) key.push_back(static_cast<std::uint64_t>(dim));
    tensors.push_back(value.impl());
  }

  InlineVector<TensorImpl *, 8> tensors; ///< borrowed from the arguments
  /// Borrowed from the arguments: the different variables, in the order of their first places.
  InlineVector<VariablePointer, 8> variables;
};

/// Collects the tensors of a structure, and the words of the rest.
class StructureReader : public SignatureWriter {
public:
  void tensor(const Tensor &value) {
    key.push_back(static_cast<std::uint64_t>(Node::tensor));
    tensors.push_back(value);
  }

  std::vector<Tensor> tensors;
};

/// Replaces tensors of a structure one after the other, and variables by others.
struct TensorReplacer {
  void tensor(Tensor &value) { value = tensors[next++]; }
  void variable(Variable &value) {
    for (std::size_t i = 0; i < from.size(); ++i)
      if (value.state() == *from[i]) {
        value = Variable(*to[i]);
        return;
      }
  }
  template <class T>
  void literal(const T &) {}
  void enter(Node, std::size_t) {}

  std::span<const Tensor> tensors;
  std::span<const VariablePointer> from = {}, to = {}; ///< of the same length
  std::size_t next = 0;
};

} // namespace weft::detail
