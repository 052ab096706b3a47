// Sums of products over axes, which have letters: each pair of tensors is one product of matrices.
#include "Ops/Composites/Parts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace weft::composites {

namespace {

/// The letters of a tensor's axes. Those that a text has are ASCII; others have numbers behind
/// these.
using Letters = std::u32string;
constexpr char32_t kDots = 0x100, kOwn = 0x200;

using Sizes = std::map<char32_t, std::int64_t>;

struct Named {
  Letters axes;
  Tensor x;
};

bool has(const Letters &letters, char32_t letter) { return letters.find(letter) != Letters::npos; }

template <class Keep>
Letters filtered(const Letters &letters, const Keep &keep) {
  Letters kept;
  for (const char32_t letter : letters)
    if (keep(letter)) kept += letter;
  return kept;
}

std::int64_t number_in(const Letters &letters, char32_t letter) {
  return static_cast<std::int64_t>(letters.find(letter));
}

/// The axes that the letters name, in that order.
Ints numbers_in(const Letters &letters, const Letters &of) {
  Ints numbers;
  for (const char32_t letter : of) numbers.push_back(number_in(letters, letter));
  return numbers;
}

/// As users wrote it.
std::string quoted(char32_t letter) {
  return letter < kDots ? "'" + std::string(1, static_cast<char>(letter)) + "'" : "'...'";
}

Tensor transposed(const Tensor &x, const Ints &order) {
  return std::is_sorted(order.begin(), order.end()) ? x : transpose(x, order);
}

/// With its axes in that order.
Tensor ordered(const Named &of, const Letters &wanted) {
  return of.axes == wanted ? of.x : transpose(of.x, numbers_in(of.axes, wanted));
}

/// Without the axes that nobody wants.
Named summed(const Named &of, const Letters &wanted) {
  Ints alone;
  for (std::size_t i = 0; i < of.axes.size(); ++i)
    if (!has(wanted, of.axes[i])) alone.push_back(static_cast<std::int64_t>(i));
  if (alone.empty()) return of;
  const Tensor total = sum(of.x, {.axes = alone});
  // A product has the dtype of its operands, also where a sum has a larger one.
  return {filtered(of.axes, [&](char32_t c) { return has(wanted, c); }),
          total.dtype() == of.x.dtype() ? total : cast(total, of.x.dtype())};
}

/// The sizes of axes as `reshape` takes them: -1 for one that is not known.
Ints sizes_of(const Sizes &sizes, const Letters &letters) {
  Ints list;
  for (const char32_t letter : letters) list.push_back(sizes.at(letter));
  return list;
}

std::int64_t count_unknown(const Sizes &sizes, const Letters &letters) {
  return std::ranges::count_if(letters, [&](char32_t c) { return sizes.at(c) == unknown; });
}

/// Whether groups of axes become one each, and axes again, whatever the sizes are that are not
/// known: the last such group follows from the rest, those before it are one axis.
bool is_known(const Sizes &sizes, const std::vector<Letters> &groups) {
  std::vector<Letters> open;
  for (const Letters &group : groups)
    if (count_unknown(sizes, group) != 0) open.push_back(group);
  for (std::size_t i = 0; i < open.size(); ++i)
    if (open[i].size() != 1 && (i + 1 != open.size() || count_unknown(sizes, open[i]) != 1))
      return false;
  return true;
}

/// The run compares the sizes of axes that both have and a trace does not know: those of several
/// that become one may differ and have the same product.
void check_in_run(const char *function, const Named &a, const Named &b) {
  for (std::size_t i = 0; i < a.axes.size(); ++i) {
    const std::size_t j = b.axes.find(a.axes[i]);
    if (j == Letters::npos) continue;
    const Size first = size_along(a.x, static_cast<std::int64_t>(i)),
               second = size_along(b.x, static_cast<std::int64_t>(j));
    if (first.is_number() && second.is_number()) continue;
    std::vector<Tensor> open;
    const std::string has = written(first, open), other = written(second, open);
    const char32_t letter = a.axes[i];
    const std::string axis = letter < kDots ? "the axis " + quoted(letter) + " is"
                                            : "axis " + std::to_string(i) + " of a is";
    detail::check_sizes(
        equal(first.tensor(), second.tensor()),
        std::string(function) + ": " + axis + " of size " + has + " and of " + other, open);
  }
}

/// The product of two, summed over the axes that nothing behind them wants.
Named product(const char *function, Named a, Named b, const Letters &later) {
  a = summed(a, later + b.axes);
  b = summed(b, later + a.axes);
  Sizes sizes;
  for (const Named *of : {&a, &b})
    for (std::size_t i = 0; i < of->axes.size(); ++i) {
      const std::int64_t size = shape_of(of->x)[i];
      const auto [entry, is_new] = sizes.emplace(of->axes[i], size);
      if (is_new || size == unknown) continue;
      if (entry->second != unknown && entry->second != size)
        raise(ErrorKind::shape, std::string(function) + ": the axis " + quoted(of->axes[i]) +
                                    " is of size " + std::to_string(entry->second) + " and of " +
                                    std::to_string(size));
      entry->second = size;
    }
  const auto both = [&](bool wanted) {
    return filtered(a.axes, [&](char32_t c) { return has(b.axes, c) && has(later, c) == wanted; });
  };
  const Letters batch = both(true), inner = both(false);
  const Letters rows = filtered(a.axes, [&](char32_t c) { return !has(b.axes, c); });
  const Letters columns = filtered(b.axes, [&](char32_t c) { return !has(a.axes, c); });
  const Letters kept = batch + rows + columns;
  if (batch.empty() && inner.size() == 1 && columns.size() == 1 && count_unknown(sizes, rows) > 1)
    // A matrix of all rows has a size that no reshape says: the rows stay a batch.
    return {kept, matmul(transpose(a.x, numbers_in(a.axes, rows + inner)),
                         transpose(b.x, numbers_in(b.axes, inner + columns)))};
  const auto check_known = [&] {
    for (const auto &[first, second] :
         {std::pair(rows, inner), std::pair(inner, columns), std::pair(rows, columns)}) {
      std::vector<Letters> groups;
      for (const char32_t letter : batch) groups.emplace_back(1, letter);
      groups.push_back(first);
      groups.push_back(second);
      if (!is_known(sizes, groups)) return false;
    }
    return true;
  };
  if (!check_known()) {
    for (const Named *of : {&a, &b})
      for (std::size_t i = 0; i < of->axes.size(); ++i)
        if (std::int64_t &size = sizes.at(of->axes[i]); size == unknown)
          size = detail::size_for_call(of->x, static_cast<std::int64_t>(i));
  }
  // Where no reshape says the sizes, those of the run do.
  const bool by_run = !check_known();
  if (by_run) check_in_run(function, a, b);
  const auto size_in_run = [&](char32_t letter) {
    const Named &of = has(a.axes, letter) ? a : b;
    const std::int64_t size = sizes.at(letter);
    return size != unknown ? Size(size)
                           : size_along(of.x, static_cast<std::int64_t>(of.axes.find(letter)));
  };
  const auto in_run = [&](const Letters &letters) {
    weft::Sizes list;
    for (const char32_t letter : letters) list.push_back(size_in_run(letter));
    return list;
  };
  // Where no axes become one there is nothing to reshape, and no copy of what is transposed.
  const auto flat = [&](const Named &of, const Letters &first, const Letters &second) {
    Tensor moved = transposed(of.x, numbers_in(of.axes, batch + first + second));
    if (first.size() == 1 && second.size() == 1) return moved;
    if (by_run) {
      weft::Sizes shape = in_run(batch);
      for (const Letters &group : {first, second}) {
        Size count = 1;
        for (const char32_t letter : group) count = count * size_in_run(letter);
        shape.push_back(count);
      }
      return reshape(moved, shape);
    }
    Ints shape = sizes_of(sizes, batch);
    for (const Letters &group : {first, second}) {
      std::int64_t count = 1;
      for (const std::int64_t size : sizes_of(sizes, group))
        count = size == unknown || count == unknown ? unknown : count * size;
      shape.push_back(count);
    }
    return reshape(moved, shape);
  };
  if (batch.empty() && rows.empty() && columns.empty() && !inner.empty()) {
    const auto line = [&](const Named &of) {
      const Tensor moved = transposed(of.x, numbers_in(of.axes, inner));
      return inner.size() == 1 ? moved : reshape(moved, Ints{-1});
    };
    return {kept, matmul(line(a), line(b))};
  }
  const Tensor found = matmul(flat(a, rows, inner), flat(b, inner, columns));
  if (rows.size() == 1 && columns.size() == 1) return {kept, found};
  return {kept, by_run ? reshape(found, in_run(kept)) : reshape(found, sizes_of(sizes, kept))};
}

/// Sums over pairs of axes of two tensors.
Tensor contracted(const char *function, const Tensor &a, const Tensor &b, const Ints &of_a,
                  const Ints &of_b) {
  const Shape left = shape_of(a), right = shape_of(b);
  Letters first, second;
  for (std::int64_t i = 0; i < a.rank(); ++i) first += kOwn + static_cast<char32_t>(first.size());
  for (std::int64_t i = 0; i < b.rank(); ++i)
    second += kOwn + static_cast<char32_t>(first.size() + second.size());
  Letters summed_over;
  for (std::size_t n = 0; n < of_a.size(); ++n) {
    const auto i = static_cast<std::size_t>(of_a[n]), j = static_cast<std::size_t>(of_b[n]);
    if (left[i] != unknown && right[j] != unknown && left[i] != right[j])
      raise(ErrorKind::shape, std::string(function) + ": axis " + std::to_string(i) +
                                  " of a is of size " + std::to_string(left[i]) + " and axis " +
                                  std::to_string(j) + " of b of " + std::to_string(right[j]));
    second[j] = first[i];
    summed_over += first[i];
  }
  const Letters kept = filtered(first + second, [&](char32_t c) { return !has(summed_over, c); });
  return ordered(product(function, {first, a}, {second, b}, kept), kept);
}

Ints last_axis(const Tensor &x) { return {x.rank() - 1}; }

/// Counted from the front, in their order.
Ints axes_in(const Ints &list, const Tensor &x) {
  call::checked_axes("tensordot", "axes", Axes(list), x.rank()); // that they differ
  Ints axes;
  for (const std::int64_t axis : list)
    axes.push_back(call::checked_axis("tensordot", "axes", axis, x.rank()));
  return axes;
}

/// What stands between the separators.
std::vector<std::string> split_at(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + separator.size());
  }
}

/// The text of `einsum`: the terms of the tensors, and that of the result.
struct Equation {
  std::string text;
  std::vector<std::string> terms;
  std::optional<std::string> result;

  explicit Equation(std::string_view given) : text(given) {
    std::string plain;
    for (const char c : given)
      if (c != ' ') plain += c;
    const std::size_t arrow = plain.find("->");
    if (arrow != std::string::npos) result = plain.substr(arrow + 2);
    terms = split_at(std::string_view(plain).substr(0, arrow), ",");
    for (const std::string &term : terms) check_letters(term);
    if (result) check_letters(*result);
  }

  void check_letters(const std::string &term) const {
    for (const std::string &part : split_at(term, "..."))
      for (const char c : part)
        if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z'))
          raise(ErrorKind::value, "einsum: '" + text + "' has '" + std::string(1, c) +
                                      "': an axis is a letter, and others are ...");
  }

  /// The letters of a term with those of the ellipsis, of which it has so many.
  static Letters letters_of(const std::string &term, std::int64_t all, std::int64_t own) {
    Letters dots, letters;
    for (std::int64_t i = all - std::max<std::int64_t>(own, 0); i < all; ++i)
      dots += kDots + static_cast<char32_t>(i);
    const std::vector<std::string> parts = split_at(term, "...");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (i != 0) letters += dots;
      letters.append(parts[i].begin(), parts[i].end());
    }
    return letters;
  }
};

/// How many axes of the tensor the ellipsis of the term stands for.
std::int64_t dots_of(const std::string &term, const Tensor &x) {
  std::int64_t count = x.rank();
  for (const std::string &part : split_at(term, "..."))
    count -= static_cast<std::int64_t>(part.size());
  return count;
}

/// Axes of one letter as one: their diagonal.
Named distinct(const std::string &term, Named of) {
  for (std::size_t first = 0; first < of.axes.size(); ++first) {
    const char32_t letter = of.axes[first];
    for (std::size_t last; (last = of.axes.rfind(letter)) != first;) {
      const std::int64_t size = detail::size_for_call(of.x, static_cast<std::int64_t>(first));
      const std::int64_t other = detail::size_for_call(of.x, static_cast<std::int64_t>(last));
      const std::string differ =
          "einsum: the axes " + quoted(letter) + " of '" + term + "' are not of one size";
      const bool open = size == unknown || other == unknown;
      if (!open && size != other) raise(ErrorKind::shape, differ);
      const Size count =
          size != unknown ? Size(size) : size_along(of.x, static_cast<std::int64_t>(first));
      if (open)
        detail::check_sizes(
            equal(count.tensor(), size_along(of.x, static_cast<std::int64_t>(last)).tensor()),
            differ, {});
      weft::Sizes unit(Ints(of.axes.size(), 1));
      unit.set(first, count);
      unit.set(last, count);
      const Tensor held = reshape(eye(count, DType::boolean), unit);
      const DType dtype = of.x.dtype();
      of.x = cast(
          sum(select(held, of.x, cast(0, dtype)), {.axes = Ints{static_cast<std::int64_t>(last)}}),
          dtype);
      of.axes.erase(last, 1);
    }
  }
  return of;
}

/// Whether two terms become the result by one product of matrices, with no sums and diagonals
/// before.
bool is_one_product(const std::vector<Letters> &terms, const Letters &wanted) {
  if (terms.size() != 2) return false;
  for (const auto &[own, other] : {std::pair(terms[0], terms[1]), std::pair(terms[1], terms[0])})
    for (const char32_t letter : own)
      if (std::ranges::count(own, letter) != 1 || !(has(other, letter) || has(wanted, letter)))
        return false;
  return true;
}

/// The order in which a product of several is contracted pair by pair, the result of a pair
/// standing for its first: by a depth-first search that follows all pairs of up to six tensors, the
/// two cheapest of up to eight and the cheapest of more, and never one dearer than the best order.
class ContractionOrder {
public:
  using Pair = std::pair<std::size_t, std::size_t>;

  ContractionOrder(const std::vector<Named> &operands, const Letters &wanted) : wanted_(wanted) {
    constexpr double kUnknown = 128; // a size that no order should depend on
    std::vector<Letters> terms;
    for (const Named &of : operands) {
      terms.push_back(of.axes);
      for (std::size_t i = 0; i < of.axes.size(); ++i) {
        const std::int64_t size = shape_of(of.x)[i];
        double &known = sizes_.emplace(of.axes[i], kUnknown).first->second;
        if (size != unknown) known = static_cast<double>(size);
      }
    }
    breadth_ = terms.size() <= 6 ? terms.size() * terms.size() : terms.size() <= 8 ? 2 : 1;
    search(terms, 0);
  }

  const std::vector<Pair> &pairs() const { return best_; }

private:
  /// What the result of a pair still has: letters that others have, or that are wanted.
  Letters joined(const std::vector<Letters> &terms, const Pair &pair) const {
    Letters later = wanted_;
    for (std::size_t i = 0; i < terms.size(); ++i)
      if (i != pair.first && i != pair.second) later += terms[i];
    Letters letters;
    for (const std::size_t i : {pair.first, pair.second})
      for (const char32_t letter : terms[i])
        if (has(later, letter) && !has(letters, letter)) letters += letter;
    return letters;
  }

  /// How many products a pair asks for.
  double cost(const Letters &a, const Letters &b) const {
    double count = 1;
    for (const char32_t letter : a) count *= sizes_.at(letter);
    for (const char32_t letter : b)
      if (!has(a, letter)) count *= sizes_.at(letter);
    return count;
  }

  void search(const std::vector<Letters> &terms, double total) {
    if (terms.size() < 2) {
      best_ = present_;
      least_ = total;
      return;
    }
    std::vector<std::pair<double, Pair>> candidates;
    for (std::size_t i = 0; i < terms.size(); ++i)
      for (std::size_t j = i + 1; j < terms.size(); ++j)
        candidates.push_back({cost(terms[i], terms[j]), {i, j}});
    // Of pairs that cost the same the first comes first.
    std::ranges::sort(candidates);
    for (std::size_t n = 0; n < std::min(breadth_, candidates.size()); ++n) {
      const auto &[products, pair] = candidates[n];
      if (least_ && total + products >= *least_) break;
      std::vector<Letters> next = terms;
      next[pair.first] = joined(terms, pair);
      next.erase(next.begin() + static_cast<std::ptrdiff_t>(pair.second));
      present_.push_back(pair);
      search(next, total + products);
      present_.pop_back();
    }
  }

  const Letters &wanted_;
  std::map<char32_t, double> sizes_;
  std::size_t breadth_ = 0;
  std::vector<Pair> present_, best_;
  std::optional<double> least_;
};

} // namespace

Tensor dot(const Tensor &a, const Tensor &b) {
  if (a.rank() == 0 || b.rank() == 0) return multiply(a, b);
  if (a.rank() <= 2 && b.rank() <= 2) return matmul(a, b);
  return contracted("dot", a, b, last_axis(a), {std::max<std::int64_t>(b.rank() - 2, 0)});
}

Tensor inner(const Tensor &a, const Tensor &b) {
  if (a.rank() == 0 || b.rank() == 0) return multiply(a, b);
  return contracted("inner", a, b, last_axis(a), last_axis(b));
}

Tensor vdot(const Tensor &a, const Tensor &b) {
  return contracted("vdot", reshape(conj(a), {-1}), reshape(b, {-1}), {0}, {0});
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as all such attributes are handed over
Tensor tensordot(const Tensor &a, const Tensor &b, ContractedAxes axes) {
  if (!axes.count()) {
    const Ints of_a = axes_in(axes.of_a(), a), of_b = axes_in(axes.of_b(), b);
    if (of_a.size() != of_b.size())
      raise(ErrorKind::value, "tensordot: axes has " + std::to_string(of_a.size()) +
                                  " axes of a and " + std::to_string(of_b.size()) + " of b");
    return contracted("tensordot", a, b, of_a, of_b);
  }
  const std::int64_t count = *axes.count();
  if (count < 0 || count > std::min(a.rank(), b.rank()))
    raise(ErrorKind::value, "tensordot: axes is " + std::to_string(count) + ": a has " +
                                std::to_string(a.rank()) + " axes and b " +
                                std::to_string(b.rank()));
  Ints of_a, of_b;
  for (std::int64_t i = 0; i < count; ++i) {
    of_a.push_back(a.rank() - count + i);
    of_b.push_back(i);
  }
  return contracted("tensordot", a, b, of_a, of_b);
}

Tensor einsum(std::string_view text, std::span<const Tensor> xs) {
  const Equation equation(text);
  const auto refuse = [&](const std::string &what) {
    raise(ErrorKind::value, "einsum: '" + equation.text + "' has " + what);
  };
  if (equation.terms.size() != xs.size())
    refuse(std::to_string(equation.terms.size()) + " terms for " + std::to_string(xs.size()) +
           " tensors");
  std::int64_t dots = 0;
  for (std::size_t i = 0; i < xs.size(); ++i)
    dots = std::max(dots, dots_of(equation.terms[i], xs[i]));
  std::vector<Letters> terms;
  Letters all;
  for (std::size_t i = 0; i < xs.size(); ++i) {
    const std::string &term = equation.terms[i];
    terms.push_back(Equation::letters_of(term, dots, dots_of(term, xs[i])));
    all += terms.back();
    if (static_cast<std::int64_t>(terms.back().size()) != xs[i].rank())
      raise(ErrorKind::shape, "einsum: the term '" + term + "' does not fit a tensor of rank " +
                                  std::to_string(xs[i].rank()));
  }
  Letters wanted;
  if (equation.result) {
    wanted = Equation::letters_of(*equation.result, dots, dots);
  } else {
    Letters once =
        filtered(all, [&](char32_t c) { return c < kDots && std::ranges::count(all, c) == 1; });
    std::ranges::sort(once);
    wanted = Equation::letters_of("...", dots, dots) + once;
  }
  for (const char32_t letter : wanted)
    if (!has(all, letter) || std::ranges::count(wanted, letter) != 1)
      refuse("a result of other axes than its terms");
  std::vector<Tensor> given(xs.begin(), xs.end());
  std::optional<call::Rounding> rounding; // of one product is its own
  if (!is_one_product(terms, wanted)) rounding.emplace(given);
  std::vector<Named> operands;
  for (std::size_t i = 0; i < given.size(); ++i)
    operands.push_back(distinct(equation.terms[i], {terms[i], given[i]}));
  const ContractionOrder order(operands, wanted);
  for (const auto &[first, second] : order.pairs()) {
    Letters later = wanted;
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (k != first && k != second) later += operands[k].axes;
    operands[first] = product("einsum", operands[first], operands[second], later);
    operands.erase(operands.begin() + static_cast<std::ptrdiff_t>(second));
  }
  const Tensor found = ordered(summed(operands[0], wanted), wanted);
  return rounding ? rounding->of(found) : found;
}

} // namespace weft::composites
