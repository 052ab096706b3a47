// Nested structures taken apart: their tensors, and words for the rest.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
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
  /// What a layer is called decides nothing, but it is a field.
  void layer(const nn::LayerName &) { enter(Node::empty, 0); }
  /// State stays where it is: what is compiled for one data set is not for another.
  void stateful(const Stateful &value) { literal(reinterpret_cast<std::uint64_t>(&value)); }

  SignatureKey key;
};

/// A variable, borrowed from the handle that somebody else keeps.
using VariablePointer = const std::shared_ptr<VariableState> *;

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

/// Makes the tensors of a structure undefined.
struct TensorRemover {
  void tensor(Tensor &value) { value = Tensor(); }
  void variable(Variable &) {}
  template <class T>
  void literal(const T &) {}
  void enter(Node, std::size_t) {}
};

/// A nested structure taken apart: its tensors, and the rest to put tensors back into.
template <class T>
class Parts {
public:
  explicit Parts(T value) : value_(std::move(value)) { visit_structure(value_, reader_); }

  std::vector<Tensor> &tensors() { return reader_.tensors; }
  const SignatureKey &key() const { return reader_.key; }
  /// The structure with these tensors instead of its own.
  T with(std::span<const Tensor> tensors) const {
    T value = value_;
    TensorReplacer replacer{tensors};
    visit_structure(value, replacer);
    return value;
  }
  /// The structure alone, for use with other tensors.
  Parts without_tensors() const {
    Parts bare(*this);
    TensorRemover remover;
    visit_structure(bare.value_, remover);
    bare.reader_.tensors.clear();
    return bare;
  }

private:
  T value_;
  StructureReader reader_;
};

/// What control flow makes of a C++ type: numbers and variables become tensors.
template <class T>
struct Flowing {
  using type = T;
};
template <class T>
  requires(std::is_arithmetic_v<T> || std::is_same_v<T, Variable>)
struct Flowing<T> {
  using type = Tensor;
};
template <class T>
using FlowingType = typename Flowing<std::remove_cvref_t<T>>::type;

template <class T>
FlowingType<T> flowing(T &&value) {
  if constexpr (std::is_same_v<FlowingType<T>, std::remove_cvref_t<T>>)
    return std::forward<T>(value);
  else return Operand(value, std::source_location()).materialize();
}

template <class T>
using ResultType = typename std::conditional_t<std::is_void_v<T>, std::type_identity<void>,
                                               Flowing<std::remove_cvref_t<T>>>::type;

} // namespace weft::detail
