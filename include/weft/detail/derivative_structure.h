// Derivatives that have the structure of what they are taken by, with tensors.
#pragma once

#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include <weft/structure.h>

namespace weft::detail {

/// Gives the tensors of a structure the values that come next.
template <class Next>
struct FillTensors {
  void tensor(Tensor &value) { value = next(); }
  void variable(Variable &) {} // there is none
  template <class T>
  void literal(const T &) {}
  void enter(Node, std::size_t) {}

  Next &next;
};

/// What stands for a T in derivatives: a tensor G instead of each tensor, variable or number.
template <class T, class G>
struct Each {
  static_assert(HasFields<T>, "derivatives are of tensors, variables, numbers, containers and "
                              "tuples of these, and structs of tensors with WEFT_FIELDS");
  static_assert(!holds_variables<T>(),
                "a struct with variables has no derivative of its type: take "
                "it by a container or a tuple of the variables");
  static_assert(std::is_same_v<G, Tensor>, "a jacobian's results are no structs");
  using type = T;
  template <class Next>
  static T make(const T &like, Next &next) {
    T value = like;
    FillTensors<Next> fill{next};
    visit_structure(value, fill);
    return value;
  }
};
template <class T, class G>
  requires(std::is_same_v<T, Tensor> || std::is_same_v<T, Variable>)
struct Each<T, G> {
  using type = G;
  template <class Next>
  static G make(const T &, Next &next) {
    return next();
  }
};
template <class T, class G>
struct Each<std::vector<T>, G> {
  using type = std::vector<typename Each<T, G>::type>;
  template <class Next>
  static type make(const std::vector<T> &like, Next &next) {
    type result;
    for (const T &entry : like) result.push_back(Each<T, G>::make(entry, next));
    return result;
  }
};
template <class K, class T, class G>
struct Each<std::map<K, T>, G> {
  using type = std::map<K, typename Each<T, G>::type>;
  template <class Next>
  static type make(const std::map<K, T> &like, Next &next) {
    type result;
    for (const auto &[key, entry] : like) result.emplace(key, Each<T, G>::make(entry, next));
    return result;
  }
};
template <class T, std::size_t N, class G>
struct Each<std::array<T, N>, G> {
  using type = std::array<typename Each<T, G>::type, N>;
  template <class Next>
  static type make(const std::array<T, N> &like, Next &next) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return type{Each<T, G>::make(like[I], next)...};
    }(std::make_index_sequence<N>());
  }
};
template <class... T, class G>
struct Each<std::tuple<T...>, G> {
  using type = std::tuple<typename Each<T, G>::type...>;
  template <class Next>
  static type make(const std::tuple<T...> &like, Next &next) {
    // Braces evaluate from left to right.
    return std::apply([&](const T &...parts) { return type{Each<T, G>::make(parts, next)...}; },
                      like);
  }
};
template <class A, class B, class G>
struct Each<std::pair<A, B>, G> {
  using type = std::pair<typename Each<A, G>::type, typename Each<B, G>::type>;
  template <class Next>
  static type make(const std::pair<A, B> &like, Next &next) {
    return type{Each<A, G>::make(like.first, next), Each<B, G>::make(like.second, next)};
  }
};

/// Hands out values one after the other.
template <class T>
class InOrder {
public:
  explicit InOrder(std::vector<T> values) : values_(std::move(values)) {}
  T operator()() { return std::move(values_[at_++]); }

private:
  std::vector<T> values_;
  std::size_t at_ = 0;
};

} // namespace weft::detail
