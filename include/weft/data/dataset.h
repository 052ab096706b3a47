// Data sets: sequences of elements that are computed as a loop comes to them.
#pragma once

#include <iterator>
#include <ranges>
#include <tuple>

#include <weft/data/pipeline.h>
#include <weft/detail/callable.h>
#include <weft/random.h>

namespace weft {
template <class F>
class Function;
} // namespace weft

namespace weft::data {

template <class Element>
class BasicDataset;

/// Pairs of tensors, such as images and labels.
using Dataset = BasicDataset<std::pair<Tensor, Tensor>>;

/// What the compiler says of other elements.
#define WEFT_ELEMENTS_WANTED(what) WEFT_STRUCTURE_WANTED("the elements that " what)

namespace detail {

template <class T>
constexpr bool is_dataset = false;
template <class Element>
constexpr bool is_dataset<BasicDataset<Element>> = true;

/// The callable whose parameters say what F takes: a traced function would take anything.
template <class F>
struct Called {
  using type = F;
};
template <class F>
struct Called<Function<F>> {
  using type = F;
};
template <class F, class... Args>
constexpr bool invocable =
    std::is_invocable_v<typename Called<std::remove_const_t<F>>::type &, Args...>;

/// Whether F takes the parts of an Element, and then Rest.
template <class F, class Element, class... Rest>
constexpr bool takes_parts() {
  if constexpr (weft::detail::form_of<Element>() != weft::detail::Form::tuple) return false;
  else
    return []<std::size_t... I>(std::index_sequence<I...>) {
      return invocable<F, std::tuple_element_t<I, Element>..., Rest...>;
    }(std::make_index_sequence<std::tuple_size_v<Element>>());
}
template <class F, class Element, class... Rest>
constexpr bool takes() {
  return invocable<F, Element, Rest...> || takes_parts<F, Element, Rest...>();
}

/// Calls `f(element, rest...)`, or with the parts of a pair or tuple as arguments of their own.
template <class F, class Element, class... Rest>
decltype(auto) call_with(F &f, Element element, const Rest &...rest) {
  if constexpr (invocable<F, Element, const Rest &...>) {
    return f(std::move(element), rest...);
  } else {
    return std::apply(
        [&](auto &&...parts) -> decltype(auto) { return f(std::move(parts)..., rest...); },
        std::move(element));
  }
}

/// Whether F wants a generator behind the element.
template <class F, class Element>
constexpr bool draws = !takes<F, Element>() && takes<F, Element, const random::Generator &>();

template <bool Draws, class F, class Element>
decltype(auto) call_mapped(F &f, Element element, std::uint64_t seed) {
  if constexpr (Draws) return call_with(f, std::move(element), random::Generator(seed));
  else return call_with(f, std::move(element));
}
template <class F, class Element>
using MappedResult = decltype(call_mapped<draws<F, Element>>(
    std::declval<F &>(), std::declval<Element>(), std::uint64_t()));

template <class... Elements>
struct Zipped {
  using type = std::tuple<Elements...>;
};
template <class A, class B>
struct Zipped<A, B> {
  using type = std::pair<A, B>;
};

} // namespace detail

/// A sequence of elements, each a structure of tensors: a tensor, a pair or tuple, a struct with
/// WEFT_FIELDS, a vector or map of them; numbers and strings may be part of it as well. A range-for
/// is an epoch:
///
///     auto digits = data::from_tensors(images, labels).shuffle({.seed = 5}).batch(32);
///     for (auto [x, y] : digits) step(x, y);
///
/// Stages describe what to do and do nothing by themselves. A stage that makes elements (a decoded
/// file, `map`) is run for those that a loop comes to, not for those that `skip`, `shard` or a
/// resumed loop pass over; so functions depend on their argument alone.
///
/// Copies are the same data set with the same position; a new stage makes a new data set. The
/// position is state that checkpoints keep: how many epochs there were and how many elements of the
/// present one have been handed out, the one that the loop is at counted in. A loop that starts
/// after a state was restored goes on behind that element, with the same order; every other loop
/// starts a new epoch, also after a `break`. What a loop does to a data set that another loop is in
/// leaves the other's elements alone; the position is that of the loop that started last.
///
/// Errors that a function throws of the types below weft::Error name the stage, the element, and
/// the file that it is from.
template <class Element>
class BasicDataset {
  static_assert(weft::detail::is_structure<Element>(), WEFT_ELEMENTS_WANTED("data sets have"));

public:
  using value_type = Element;

  /// No elements.
  BasicDataset() = default;
  explicit BasicDataset(detail::Pipeline pipeline) : pipeline_(std::move(pipeline)) {}

  /// `f(element)` of each element, or `f(parts...)` where the element is a pair or tuple. A last
  /// parameter `const random::Generator &` is handed a generator of that element alone, the same
  /// whatever the number of workers. A number that f returns becomes a tensor. Throws ValueError
  /// for a negative number of workers.
  template <class F>
  auto map(F f, const MapOptions &options = {}, std::source_location where = WEFT_HERE) const {
    constexpr bool seeded = detail::draws<F, Element>;
    constexpr bool fits = seeded || detail::takes<F, Element>();
    static_assert(fits, "the function of map takes an element, or the parts of a pair or tuple, "
                        "and after that a `const random::Generator &` if it wants one");
    if constexpr (fits) {
      using R = weft::detail::ResultType<detail::MappedResult<F, Element>>;
      constexpr bool results = !std::is_void_v<R> && weft::detail::is_structure<R>();
      static_assert(results, WEFT_ELEMENTS_WANTED("the function of map returns"));
      if constexpr (results) {
        auto shared = std::make_shared<F>(std::move(f));
        return BasicDataset<R>(pipeline_.map(
            [shared](detail::Item item, std::uint64_t seed) {
              return detail::item_of<R>(weft::detail::flowing(detail::call_mapped<seeded>(
                  *shared, detail::element_of<Element>(std::move(item)), seed)));
            },
            seeded, options, where));
      }
    }
  }

  /// The elements of which `predicate(element)`, a bool or a bool tensor, is true.
  template <class F>
  BasicDataset filter(F predicate, std::source_location where = WEFT_HERE) const {
    static_assert(detail::takes<F, Element>(),
                  "the function of filter takes an element, or the parts of a pair or tuple");
    auto shared = std::make_shared<F>(std::move(predicate));
    return BasicDataset(pipeline_.filter([shared, where](detail::Item item) {
      auto keep = detail::call_with(*shared, detail::element_of<Element>(std::move(item)));
      if constexpr (std::is_same_v<decltype(keep), Tensor>) return keep.template item<bool>(where);
      else return static_cast<bool>(keep);
    }));
  }

  /// `size` elements at a time, stacked along a new first axis; fewer at the end of an epoch. Rows
  /// of tensors and files are copied straight into the batch. Throws ValueError for a size below 1;
  /// in a loop ShapeError or DTypeError for elements that do not fit together.
  BasicDataset batch(std::int64_t size, const BatchOptions &options = {},
                     std::source_location where = WEFT_HERE) const {
    return BasicDataset(pipeline_.batch(size, options, where));
  }
  /// Batches of elements of similar `length(element)`, a whole number or a tensor of one, padded to
  /// the largest of the batch. A batch is handed out once its bucket is full, those that are left
  /// at the end of an epoch from the shortest to the longest.
  template <class F>
  BasicDataset bucket(F length, const BucketOptions &options,
                      std::source_location where = WEFT_HERE) const {
    static_assert(detail::takes<F, Element>(),
                  "the function of bucket takes an element, or the parts of a pair or tuple");
    auto shared = std::make_shared<F>(std::move(length));
    return BasicDataset(pipeline_.bucket(
        [shared](detail::Item item) -> std::int64_t {
          const auto value =
              detail::call_with(*shared, detail::element_of<Element>(std::move(item)));
          if constexpr (std::is_convertible_v<decltype(value), Tensor>)
            return value.template item<std::int64_t>();
          else return static_cast<std::int64_t>(value);
        },
        options, where));
  }

  /// A random order: of the `buffer` elements that come next, one is handed out and replaced by the
  /// one behind them. Shuffle before `repeat` and `batch`. Throws ValueError for a negative buffer.
  BasicDataset shuffle(const ShuffleOptions &options = {},
                       std::source_location where = WEFT_HERE) const {
    return BasicDataset(pipeline_.shuffle(options, where));
  }
  /// Several epochs as one; without end if no count is given.
  BasicDataset repeat(std::optional<std::int64_t> count = std::nullopt,
                      std::source_location where = WEFT_HERE) const {
    return BasicDataset(pipeline_.repeat(count, where));
  }
  /// The first `count` elements.
  BasicDataset take(std::int64_t count, std::source_location where = WEFT_HERE) const {
    return BasicDataset(pipeline_.take(count, where));
  }
  /// All but the first `count` elements.
  BasicDataset skip(std::int64_t count, std::source_location where = WEFT_HERE) const {
    return BasicDataset(pipeline_.skip(count, where));
  }
  /// Every `count`-th element, from number `index` on: what one of several processes works on.
  /// A shuffle before it needs the same seed in all of them. Throws ValueError unless 0 <= index <
  /// count.
  BasicDataset shard(std::int64_t count, std::int64_t index,
                     std::source_location where = WEFT_HERE) const {
    return BasicDataset(pipeline_.shard(count, index, where));
  }
  /// The first part of the elements, and the rest: `auto [train, test] = d.split(0.8)`. What is
  /// before this stage has the order of its first epoch for ever, so that no element ever changes
  /// sides; a shuffle there needs a seed. Throws ValueError if it has none, and unless the fraction
  /// is of [0, 1] and the size is known.
  std::pair<BasicDataset, BasicDataset> split(double fraction,
                                              std::source_location where = WEFT_HERE) const {
    auto [first, second] = pipeline_.split(fraction, where);
    return {BasicDataset(std::move(first)), BasicDataset(std::move(second))};
  }

  /// Each element with its number, i64().
  auto enumerate() const;
  /// The elements of this data set and then those of another.
  BasicDataset concatenate(const BasicDataset &other) const {
    return BasicDataset(detail::Pipeline::concatenate({pipeline_, other.pipeline_}));
  }
  /// The elements of the data sets `open(element)`, of which `cycle` are open and alternate. Where
  /// one ends, the next is opened instead of it.
  template <class F>
  auto interleave(F open, const InterleaveOptions &options = {},
                  std::source_location where = WEFT_HERE) const {
    static_assert(detail::takes<F, Element>(),
                  "the function of interleave takes an element, or the parts of a pair or tuple");
    using Inner = std::remove_cvref_t<decltype(detail::call_with(std::declval<F &>(),
                                                                 std::declval<Element>()))>;
    static_assert(detail::is_dataset<Inner>, "the function of interleave returns a data set");
    auto shared = std::make_shared<F>(std::move(open));
    return Inner(pipeline_.interleave(
        [shared](detail::Item item) {
          return detail::call_with(*shared, detail::element_of<Element>(std::move(item)))
              .pipeline();
        },
        options, where));
  }

  /// Keeps elements in memory once they are computed. What is before this stage has the order of
  /// its first epoch for ever.
  BasicDataset cache() const { return BasicDataset(pipeline_.cache()); }
  /// A thread makes up to `count` elements ahead while the loop is at work on others.
  BasicDataset prefetch(std::int64_t count = 2, std::source_location where = WEFT_HERE) const {
    return BasicDataset(pipeline_.prefetch(count, where));
  }

  /// The same elements, whose sizes may change from one to the next: a `for_each` in a traced
  /// function leaves all of them open, where it else takes those of the first element.
  BasicDataset with_open_sizes() const { return BasicDataset(pipeline_.with_open_sizes()); }

  /// How many elements an epoch has, if that is known without making them; nothing for an endless
  /// one.
  std::optional<std::int64_t> size() const { return pipeline_.size(); }
  /// Counters of all loops so far.
  DatasetStats stats() const { return pipeline_.stats(); }

  /// Where a range-for is.
  class Iterator {
  public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = Element;
    using difference_type = std::ptrdiff_t;

    Iterator() = default;
    explicit Iterator(std::shared_ptr<detail::Pass> pass) : pass_(std::move(pass)) { ++*this; }
    Element &operator*() const { return *element_; }
    Element *operator->() const { return &*element_; }
    Iterator &operator++() {
      detail::Item item;
      element_.reset();
      if (pass_->next(item)) element_.emplace(detail::element_of<Element>(std::move(item)));
      else pass_.reset();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const Iterator &it, std::default_sentinel_t) { return !it.element_; }

  private:
    std::shared_ptr<detail::Pass> pass_;
    mutable std::optional<Element> element_;
  };

  /// Starts an epoch, or goes on with the restored one.
  Iterator begin() const { return Iterator(pipeline_.start()); }
  std::default_sentinel_t end() const { return {}; }

  /// Hands over the position, for those who save a struct that this is a field of.
  void weft_visit(StructureVisitor &visitor) const { visitor.stateful(pipeline_.state()); }

  /// For the library itself.
  const detail::Pipeline &pipeline() const { return pipeline_; }

private:
  detail::Pipeline pipeline_;
};

/// Elements side by side, as a pair or a tuple; as many as the shortest has.
template <class... Elements>
auto zip(const BasicDataset<Elements> &...inputs) {
  static_assert(sizeof...(Elements) >= 2, "zip takes two or more data sets");
  using Element = typename detail::Zipped<Elements...>::type;
  detail::JoinFunction join;
  if constexpr (!(detail::is_fixed<Elements>() && ...))
    join = [](std::vector<detail::Item> items) {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        return detail::item_of(Element(detail::element_of<Elements>(std::move(items[I]))...));
      }(std::index_sequence_for<Elements...>());
    };
  return BasicDataset<Element>(detail::Pipeline::zip({inputs.pipeline()...}, std::move(join)));
}

/// The elements of one after those of the other.
template <class Element, class... Rest>
BasicDataset<Element> concatenate(const BasicDataset<Element> &first, const Rest &...rest) {
  return BasicDataset<Element>(
      detail::Pipeline::concatenate({first.pipeline(), rest.pipeline()...}));
}

/// start, start + step, ... below stop (above it for a negative step), as i64(). Throws ValueError
/// if the step is 0.
inline BasicDataset<Tensor> range(std::int64_t start, std::int64_t stop, std::int64_t step = 1,
                                  std::source_location where = WEFT_HERE) {
  return BasicDataset<Tensor>(detail::Pipeline::range(start, stop, step, where));
}
inline BasicDataset<Tensor> range(std::int64_t stop, std::source_location where = WEFT_HERE) {
  return range(0, stop, 1, where);
}

template <class Element>
auto BasicDataset<Element>::enumerate() const {
  return zip(range(std::numeric_limits<std::int64_t>::max()), *this);
}

/// The rows of a structure of tensors, along their first axes, which have one size. Throws
/// ShapeError if the sizes differ or a tensor has no axis, StateError for undefined tensors.
template <class Structure>
  requires(weft::detail::is_structure<Structure>())
BasicDataset<Structure> from_tensors(const Structure &structure,
                                     std::source_location where = WEFT_HERE) {
  detail::Item item = detail::item_of(structure);
  return BasicDataset<Structure>(
      detail::Pipeline::tensors(std::move(item.tensors), std::move(item.form), where));
}
/// Pairs of the rows of two tensors: `from_tensors(images, labels)`.
inline Dataset from_tensors(const Tensor &a, const Tensor &b,
                            std::source_location where = WEFT_HERE) {
  return from_tensors(std::pair(a, b), where);
}
inline BasicDataset<std::tuple<Tensor, Tensor, Tensor>>
from_tensors(const Tensor &a, const Tensor &b, const Tensor &c,
             std::source_location where = WEFT_HERE) {
  return from_tensors(std::tuple(a, b, c), where);
}

/// The elements of a C++ range, which are copied: a `std::vector` of file names, say. Numbers
/// become tensors.
template <std::ranges::input_range Range>
auto from_range(Range &&range) {
  using Element = weft::detail::FlowingType<std::ranges::range_value_t<Range>>;
  auto items = std::make_shared<std::vector<detail::Item>>();
  for (auto &&value : range)
    items->push_back(
        detail::item_of<Element>(weft::detail::flowing(std::ranges::range_value_t<Range>(value))));
  const auto size = static_cast<std::int64_t>(items->size());
  return BasicDataset<Element>(detail::Pipeline::rows(
      "from_range of " + std::to_string(size), size,
      [items](std::int64_t i) { return (*items)[static_cast<std::size_t>(i)]; }));
}

/// What `generate()`, which returns a std::optional, returns until it returns nothing. Each epoch
/// starts with a copy of the callable as it is given here, so one that keeps its position in itself
/// starts anew. A loop that resumes calls it for the elements that it passes over.
template <class F>
auto from_generator(F generate) {
  static_assert(
      requires {
        *generate();
        generate().has_value();
      }, "the function of from_generator returns a std::optional of an element");
  using Element = weft::detail::FlowingType<decltype(*generate())>;
  return BasicDataset<Element>(
      detail::Pipeline::generator([generate = std::move(generate)]() -> detail::Generator {
        return [generate]() mutable -> std::optional<detail::Item> {
          auto element = generate();
          if (!element.has_value()) return std::nullopt;
          return detail::item_of<Element>(weft::detail::flowing(*std::move(element)));
        };
      }));
}

} // namespace weft::data
