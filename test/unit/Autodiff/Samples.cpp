// Makes from the samples of the records calls that derivatives are tested on.
#include "Samples.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "../OpSamples.h"
#include "Ops/Interpreter.h"

namespace weft::test {

Tensor values(const Shape &shape, double low, double high, int seed) {
  std::int64_t count = 1;
  for (std::int64_t dim : shape) count *= dim;
  std::vector<double> numbers(static_cast<std::size_t>(count));
  // Steps through the residues of a prime in one order per seed; the offset keeps the values of
  // different seeds apart, so that no two operands tie.
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const double part = static_cast<double>((i + 1) * 389 % 997) + 0.07 * (seed % 13);
    numbers[i] = low + (high - low) * part / 998;
  }
  return tensor(numbers, shape);
}

bool all_finite(const Tensor &tensor) {
  if (!is_floating(tensor.dtype())) return true;
  for (double value : tensor.to_vector<double>())
    if (!std::isfinite(value)) return false;
  return true;
}

namespace {

struct OpDomain {
  OpCode op;
  std::string_view domain;
};
constexpr OpDomain kDomains[] = {
#include "Domains.inc"
};

bool has_domain(const OpInfo &info, std::string_view domain) {
  return std::ranges::any_of(
      kDomains, [&](const OpDomain &row) { return row.op == info.op && row.domain == domain; });
}

/// Finite differences look at every element, one after the other.
constexpr std::int64_t kMostElements = 24;

Tensor bools(const Shape &shape) {
  return dispatch(OpCode::greater, std::vector<Tensor>{values(shape, -1, 1, 3), full({}, 0, f64)});
}

struct Domain {
  const char *name;
  double low, high;
};

/// Where the derivatives of an op are looked at: elementwise ones on both sides of 0.
std::vector<Domain> domains_of(const OpInfo &info) {
  const Domain positive{"positive", 0.31, 1.77};
  if (has_domain(info, "positive")) return {positive};
  if (info.kind != OpKind::elementwise) return {{"mixed", -1.5, 1.7}};
  return {positive, {"negative", -1.77, -0.31}, {"mixed", -1.31, 1.45}};
}

/// Whether a call is f64 alone where its attributes say so, and small enough.
bool is_usable(const OpSample &sample) {
  for (const Attr &attr : sample.attrs)
    if (const auto *dtype = std::get_if<DType>(&attr); dtype != nullptr && *dtype != f64)
      return false;
  return std::ranges::all_of(sample.operands, [](const SampleOperand &operand) {
    std::int64_t count = 1;
    for (const std::int64_t size : operand.shape) count *= size;
    return operand.elements != SampleOperand::Elements::special && count <= kMostElements;
  });
}

/// Letters, digits and underscores of a name.
std::string plain(const std::string &text) {
  std::string name;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
    else if (!name.empty() && name.back() != '_') name += '_';
  }
  while (name.ends_with('_')) name.pop_back();
  return name;
}

Sample make(const OpInfo &info, const OpSample &sample, const Domain &domain) {
  Sample result{plain(sample.text) + "_" + domain.name, info.op, {}, sample.attrs};
  for (std::size_t i = 0; i < sample.operands.size(); ++i) {
    const SampleOperand &operand = sample.operands[i];
    const OperandInfo &admits = operand_info(info, i);
    Tensor whole;
    if (operand.elements == SampleOperand::Elements::given)
      whole = given(operand.values, operand.shape, operand.dtype.value_or(i64));
    else if (operand.dtype) whole = zeros(operand.shape, *operand.dtype);
    else if (!admits.admits.contains(f64)) whole = bools(operand.shape);
    else
      whole = operand.as_wanted(
          values(operand.shape, domain.low, domain.high, static_cast<int>(5 * i + 1)));
    result.operands.push_back(operand.seen(whole));
  }
  return result;
}

/// Whether a call has no elements, or but one in each operand that it has a gradient by.
bool is_degenerate(const OpInfo &info, const Sample &sample) {
  bool scalar = true;
  for (std::size_t i = 0; i < sample.operands.size(); ++i) {
    if (sample.operands[i].size() == 0) return true;
    scalar &= !operand_info(info, i).differentiable || sample.operands[i].shape().empty();
  }
  return scalar;
}

std::vector<Sample> all_samples(bool degenerate) {
  std::vector<Sample> samples;
  std::set<std::string> names;
  for (const OpInfo &info : all_ops()) {
    if (!is_tested_alone(info)) continue;
    for (const OpSample &sample : samples_of(info.op)) {
      if (!is_usable(sample)) continue;
      for (const Domain &domain : domains_of(info)) {
        Sample result = make(info, sample, domain);
        if (is_degenerate(info, result) == degenerate && names.insert(result.name).second)
          samples.push_back(std::move(result));
      }
    }
  }
  return samples;
}

} // namespace

bool is_tested_alone(const OpInfo &info) {
  return info.differentiable && info.kind != OpKind::effect && !has_domain(info, "nowhere");
}

const std::vector<Sample> &differentiable_samples() {
  static const std::vector<Sample> all = all_samples(false);
  return all;
}

const std::vector<Sample> &degenerate_samples() {
  static const std::vector<Sample> all = all_samples(true);
  return all;
}

} // namespace weft::test
