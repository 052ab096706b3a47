// Keys that compare as unsigned integers the way elements are ordered, alone and with their
// indices.
#pragma once

#include <cstdint>
#include <type_traits>

namespace weft::kernels {

/// The key of an element: an unsigned integer of its size.
template <class T>
using KeyOf = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;

/// The key of 0, and of NaN, for ascending order.
template <class T>
constexpr KeyOf<T> kZeroKey = KeyOf<T>(1) << (sizeof(T) * 8 - 1);
template <class T>
constexpr KeyOf<T> kNanKey = ~KeyOf<T>(0);

/// What to complement a key with for that direction.
template <class Key>
constexpr Key flip_of(bool descending) {
  return descending ? static_cast<Key>(~Key(0)) : Key(0);
}

/// The key of `x`: equal for elements that compare equal, and for all NaN.
template <class T>
[[gnu::always_inline]] constexpr KeyOf<T> key_of(T x) {
  using Key = KeyOf<T>;
  constexpr Key sign = kZeroKey<T>;
  Key bits = __builtin_bit_cast(Key, x);
  if constexpr (std::is_floating_point_v<T>) {
    bits = bits == sign ? Key(0) : bits;
    bits = x != x ? static_cast<Key>(~sign) : bits;
    const Key negative = static_cast<Key>(0) - (bits >> (sizeof(T) * 8 - 1));
    return bits ^ (negative | sign);
  } else {
    return bits ^ sign;
  }
}

/// An element that has that key.
template <class T>
[[gnu::always_inline]] constexpr T element_of(KeyOf<T> key) {
  using Key = KeyOf<T>;
  constexpr Key sign = kZeroKey<T>;
  if constexpr (std::is_floating_point_v<T>)
    return __builtin_bit_cast(T, static_cast<Key>((key & sign) != 0 ? key ^ sign : ~key));
  else return __builtin_bit_cast(T, static_cast<Key>(key ^ sign));
}

/// Whether the key does not tell the bits of the element: it is -0 or NaN.
template <class T>
[[gnu::always_inline]] constexpr bool is_lossy(T x) {
  if constexpr (std::is_floating_point_v<T>)
    return x != x || __builtin_bit_cast(KeyOf<T>, x) == kZeroKey<T>;
  else return false;
}

/// A key and the index it comes from, in one integer: no two of a line are equal, so that whatever
/// sorts them is stable. For lines shorter than 2^32.
struct Packed {
  using Key = std::uint32_t;
  std::uint64_t bits;

  static Packed make(Key key, std::int64_t index) {
    return {std::uint64_t(key) << 32 | static_cast<std::uint32_t>(index)};
  }
  Key key() const { return static_cast<Key>(bits >> 32); }
  std::int64_t index() const { return static_cast<std::uint32_t>(bits); }
  friend bool operator<(Packed a, Packed b) { return a.bits < b.bits; }
};

/// The same for keys of 64 bits, and for lines of any length.
struct Paired {
  using Key = std::uint64_t;
  std::uint64_t bits, at;

  static Paired make(Key key, std::int64_t index) {
    return {key, static_cast<std::uint64_t>(index)};
  }
  Key key() const { return bits; }
  std::int64_t index() const { return static_cast<std::int64_t>(at); }
  friend bool operator<(Paired a, Paired b) {
    return a.bits < b.bits || (a.bits == b.bits && a.at < b.at);
  }
};

/// A key alone, where nobody asks for indices.
template <class K>
struct Alone {
  using Key = K;
  Key bits;

  static Alone make(Key key, std::int64_t) { return {key}; }
  Key key() const { return bits; }
  friend bool operator<(Alone a, Alone b) { return a.bits < b.bits; }
};

} // namespace weft::kernels
