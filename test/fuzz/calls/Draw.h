// Random arguments of one call of the C++ API: from a seed, so that the same ones can be drawn
// again, on values or in a trace.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <weft/weft.h>

namespace weft::fuzz {

/// An argument for a parameter `const Operand &`: a tensor, defined or not, or a number of C++.
class Argument {
public:
  enum class Kind : std::uint8_t { tensor, boolean, integer, large, floating };

  explicit Argument(Tensor tensor) : tensor_(std::move(tensor)) {}
  Argument(Kind kind, std::uint64_t integer, double floating)
      : kind_(kind), integer_(integer), floating_(floating) {}

  operator Operand() const; // NOLINT(google-explicit-constructor): stands for one
  /// The same for a parameter that may be left out.
  OptionalOperand optional() const;
  const Tensor &tensor() const { return tensor_; }
  bool is_tensor() const { return kind_ == Kind::tensor; }

private:
  template <class Result>
  Result as() const;

  Kind kind_ = Kind::tensor;
  Tensor tensor_;
  std::uint64_t integer_ = 0;
  double floating_ = 0;
};

/// An argument for a parameter `const OptionalOperand &`.
class OptionalArgument {
public:
  OptionalArgument() = default;
  explicit OptionalArgument(Argument argument) : argument_(std::move(argument)) {}
  operator OptionalOperand() const { // NOLINT(google-explicit-constructor): stands for one
    if (!argument_) return {};
    return argument_->optional();
  }

private:
  std::optional<Argument> argument_;
};

/// Draws arguments one after the other. Each follows from the seed and its number alone, so that
/// one can be replaced by something plain and the others stay.
class Draw {
public:
  /// Arguments whose numbers are in `plain` are drawn as simple as there are. Tensors are taken
  /// from `inputs` where these are given: the ones of an earlier drawing, or what stands for them.
  explicit Draw(std::uint64_t seed, const std::set<int> &plain = {},
                const std::vector<Tensor> *inputs = nullptr);

  /// A tensor that is defined.
  Tensor tensor(const char *name);
  /// Two to five tensors, of which one may be undefined.
  std::vector<Tensor> tensors(const char *name);
  Argument operand(const char *name);
  /// An operand, or nothing one time in three.
  OptionalArgument optional(const char *name);
  /// A key of random numbers; another tensor one time in eight.
  Tensor key(const char *name);
  /// The seed and the number of a stream; another tensor one time in eight.
  Tensor state(const char *name);
  /// bool, integers, double, DType, enums, Ints, Shape, std::string, and std::optional of these.
  template <class T>
  T value(const char *name);
  /// An integer in [0, n), for choices that belong to the call itself.
  std::uint64_t choose(std::uint64_t n);

  /// The defined tensors drawn, in order: what a traced function takes as arguments.
  const std::vector<Tensor> &drawn() const { return drawn_; }
  /// "sum(x = f32(2, 3), axes = (0,))" without the name.
  const std::string &text() const { return text_; }
  int count() const { return number_; }

private:
  /// The generator of the next argument.
  class Random {
  public:
    explicit Random(std::uint64_t state) : state_(state) {}
    std::uint64_t next();
    std::uint64_t below(std::uint64_t n) { return next() % n; }
    bool one_in(std::uint64_t n) { return below(n) == 0; }

  private:
    std::uint64_t state_;
  };

  Random begin();
  bool is_plain() const { return plain_->contains(number_ - 1); }
  void note(const char *name, const std::string &text);
  Tensor make_tensor(Random &random);
  Shape shape_near(Random &random) const;
  std::int64_t integer(Random &random) const;
  double floating(Random &random) const;
  Ints ints(Random &random) const;
  Tensor take(Tensor drawn);

  std::uint64_t seed_;
  const std::set<int> *plain_;
  const std::vector<Tensor> *inputs_;
  std::vector<Tensor> drawn_;
  std::string text_;
  int number_ = 0;
  std::optional<DType> dtype_; ///< that most operands of the call have
  Shape shape_;                ///< that operands of the call are near to
};

} // namespace weft::fuzz
