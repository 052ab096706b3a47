// A vector of trivially copyable values that keeps short contents inside the object.
#pragma once

#include <cstddef>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <span>
#include <type_traits>
#include <utility>

namespace weft::detail {

/// Enabled for what begins and ends and holds integers, but not bools or characters: std::array,
/// std::vector, std::span, arrays.
template <class Range,
          class Element = std::remove_cvref_t<decltype(*std::begin(std::declval<const Range &>()))>>
using IfIntegers = std::enable_if_t<std::is_integral_v<Element> && !std::is_same_v<Element, bool> &&
                                    !std::is_same_v<Element, char>>;

/// Like std::vector for trivially copyable `T`, without an allocation up to `N` elements.
template <class T, std::size_t N>
class InlineVector {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  using value_type = T;
  using iterator = T *;
  using const_iterator = const T *;

  InlineVector() = default;
  explicit InlineVector(std::size_t count, T value = T()) { resize(count, value); }
  InlineVector(std::initializer_list<T> values) : InlineVector(values.begin(), values.end()) {}
  // Constrained by a type parameter, which every compiler writes alike into names.
  template <class It, class = typename std::iterator_traits<It>::iterator_category>
  InlineVector(It first, It last) {
    for (; first != last; ++first) push_back(static_cast<T>(*first));
  }
  /// The elements of another list of integers.
  template <
      class Range, class = IfIntegers<Range>,
      class = std::enable_if_t<std::is_integral_v<T> && !std::is_base_of_v<InlineVector, Range>>>
  InlineVector(const Range &values) : InlineVector(std::begin(values), std::end(values)) {}
  InlineVector(const InlineVector &other) { assign(other.data(), other.size()); }
  InlineVector(InlineVector &&other) noexcept { steal(other); }
  InlineVector &operator=(const InlineVector &other) {
    if (this != &other) assign(other.data(), other.size());
    return *this;
  }
  InlineVector &operator=(InlineVector &&other) noexcept {
    if (this == &other) return *this;
    release();
    steal(other);
    return *this;
  }
  ~InlineVector() { release(); }

  T *data() { return data_; }
  const T *data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T *begin() { return data_; }
  T *end() { return data_ + size_; }
  const T *begin() const { return data_; }
  const T *end() const { return data_ + size_; }
  T &operator[](std::size_t i) { return data_[i]; }
  const T &operator[](std::size_t i) const { return data_[i]; }
  T &back() { return data_[size_ - 1]; }
  const T &back() const { return data_[size_ - 1]; }
  T &front() { return data_[0]; }
  const T &front() const { return data_[0]; }

  void push_back(T value) {
    if (size_ == capacity_) grow(capacity_ * 2);
    data_[size_++] = value;
  }
  void pop_back() { --size_; }
  void clear() { size_ = 0; }
  void resize(std::size_t count, T value = T()) {
    if (count > capacity_) grow(count);
    for (std::size_t i = size_; i < count; ++i) data_[i] = value;
    size_ = count;
  }
  void insert(std::size_t position, T value) {
    push_back(value);
    for (std::size_t i = size_ - 1; i > position; --i) data_[i] = data_[i - 1];
    data_[position] = value;
  }
  void erase(std::size_t position) {
    for (std::size_t i = position; i + 1 < size_; ++i) data_[i] = data_[i + 1];
    --size_;
  }

  operator std::span<const T>() const { return {data_, size_}; }
  friend bool operator==(const InlineVector &a, const InlineVector &b) {
    if (a.size_ != b.size_) return false;
    for (std::size_t i = 0; i < a.size_; ++i)
      if (!(a.data_[i] == b.data_[i])) return false;
    return true;
  }

private:
  void assign(const T *values, std::size_t count) {
    if (count > capacity_) grow(count);
    if (count != 0) std::memmove(static_cast<void *>(data_), values, count * sizeof(T));
    size_ = count;
  }
  void grow(std::size_t capacity) {
    T *fresh = static_cast<T *>(::operator new(capacity * sizeof(T)));
    if (size_ != 0)
      std::memcpy(static_cast<void *>(fresh), static_cast<const void *>(data_), size_ * sizeof(T));
    release();
    data_ = fresh;
    capacity_ = capacity;
  }
  void release() {
    if (data_ != inline_()) ::operator delete(static_cast<void *>(data_));
    data_ = inline_();
    capacity_ = N;
  }
  void steal(InlineVector &other) {
    if (other.data_ == other.inline_()) {
      if (other.size_ != 0)
        std::memcpy(static_cast<void *>(data_), static_cast<const void *>(other.data_),
                    other.size_ * sizeof(T));
    } else {
      data_ = other.data_;
      capacity_ = other.capacity_;
      other.data_ = other.inline_();
      other.capacity_ = N;
    }
    size_ = other.size_;
    other.size_ = 0;
  }
  T *inline_() { return reinterpret_cast<T *>(storage_); }

  alignas(T) unsigned char storage_[N * sizeof(T)];
  T *data_ = inline_();
  std::size_t size_ = 0;
  std::size_t capacity_ = N;
};

} // namespace weft::detail
