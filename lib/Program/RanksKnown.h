// What is known of a value of a program on all ranks: whether it is the same, and what it is
// computed of.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "OpDefs/Attr.h"
#include <weft/tensor.h>

namespace weft::ranks {

/// The group on all ranks of which a value is the same: its number; 0 is the world, and so all
/// groups. kVaries is none.
using Same = std::int64_t;
inline constexpr Same kWorld = 0, kVaries = -1;

/// Of what is computed of both.
inline Same both(Same a, Same b) {
  if (a == kVaries || b == kVaries) return kVaries;
  if (a == kWorld) return b;
  return b == kWorld || a == b ? a : kVaries;
}

/// A digest that is the same in all processes.
class Mixed {
public:
  explicit Mixed(std::string_view what) { add(what); }

  void add(std::uint64_t number) {
    state_ = (state_ ^ number) * 0x9e3779b97f4a7c15U;
    state_ ^= state_ >> 29;
  }
  void add(std::string_view text) {
    add(std::uint64_t{text.size()});
    for (const char letter : text) add(std::uint64_t{static_cast<unsigned char>(letter)});
  }
  void add(const TensorType &type) {
    add(name_of(type.dtype));
    add(std::uint64_t{type.shape.size()});
    for (const std::int64_t size : type.shape) add(static_cast<std::uint64_t>(size));
  }
  void add(const ConstantData &constant) {
    add(constant.type);
    std::size_t bytes = item_size(constant.type.dtype);
    for (const std::int64_t size : constant.type.shape) bytes *= static_cast<std::size_t>(size);
    add(std::string_view(static_cast<const char *>(constant.bytes), bytes));
  }
  void add(const Attr &attr) {
    std::visit([this](const auto &value) { content(value); }, attr);
  }
  std::uint64_t digest() const { return state_; }

private:
  void content(bool value) { add(std::uint64_t{value}); }
  void content(std::int64_t value) { add(static_cast<std::uint64_t>(value)); }
  void content(double value) { add(std::bit_cast<std::uint64_t>(value)); }
  void content(DType value) { add(name_of(value)); }
  void content(const std::string &value) { add(std::string_view(value)); }
  void content(const Ints &value) {
    add(std::uint64_t{value.size()});
    for (const std::int64_t number : value) content(number);
  }
  void content(const ConstantRef &value) { add(*value); }
  void content(const VariableRef &) {} // its value varies

  std::uint64_t state_ = 0xcbf29ce484222325U;
};

/// An element of a loop's state: the depth of the loop, and its number.
using Carried = std::pair<std::uint32_t, std::uint32_t>;

/// What is known of a value.
struct Known {
  Same same = kWorld;
  // Of one that is the same:
  std::uint64_t how = 0;                   ///< a digest of what it is computed of, and how
  std::optional<std::int64_t> number = {}; ///< of an integer or bool that is a constant
  std::vector<std::string> constants = {}; ///< some that it is computed of
  std::vector<Carried> carried = {};       ///< the state that it is computed of, of loops around it

  bool varies() const { return same == kVaries; }
};

inline Known varying() { return {.same = kVaries}; }

template <class T>
void unite(std::vector<T> &all, const std::vector<T> &more) {
  for (const T &one : more)
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
}

/// What is computed of values.
class Computed {
public:
  explicit Computed(std::string_view what) : how_(what) {}
  Computed &of(const Known &value) {
    known_.same = both(known_.same, value.same);
    if (known_.varies()) return *this;
    how_.add(value.how);
    constexpr std::size_t kShown = 6;
    unite(known_.constants, value.constants);
    if (known_.constants.size() > kShown) known_.constants.resize(kShown);
    unite(known_.carried, value.carried);
    return *this;
  }
  template <class T>
  Computed &by(const T &detail) {
    how_.add(detail);
    return *this;
  }
  Known known() {
    if (known_.varies()) return varying();
    known_.how = how_.digest();
    return std::move(known_);
  }

private:
  Known known_;
  Mixed how_;
};

/// A constant of a program.
Known constant_of(const ConstantData &constant);
/// A tensor that code shared by several programs takes as if it was captured: see ScalarConstants.
/// Nothing of other tensors.
std::optional<Known> constant_of(const Tensor &tensor);

/// " by the constants 0, 3 [5f0c91d2]"; nothing of what varies.
std::string words_of(const Known &known);
/// How often a loop turns that counts from `first` to `end`: " of 3 turns", or the words of
/// `turns`, which is computed of both.
std::string words_of_turns(const Known &first, const Known &end, std::int64_t step,
                           const Known &turns);

} // namespace weft::ranks
