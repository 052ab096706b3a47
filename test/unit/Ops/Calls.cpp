// Makes calls of every op from the samples of its record.
#include "Calls.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <limits>
#include <sstream>

#include "../OpSamples.h"

namespace weft::test {

namespace {

/// The dtypes on which the sample of that number is run: in every second one the next of the other
/// integers instead of i64, and between these the next float of 16 bits instead of f64.
std::vector<DType> in_turn(const std::vector<DType> &dtypes, std::size_t number) {
  std::vector<DType> taken, others, floats;
  for (const DType dtype : dtypes) {
    const bool is_other = is_integer(dtype) && dtype != DType::i32 && dtype != DType::i64;
    const bool is_short = is_floating(dtype) && dtype_info(dtype).bits == 16;
    (is_other ? others : is_short ? floats : taken).push_back(dtype);
  }
  if (!floats.empty() && number % 2 == 0)
    std::ranges::replace(taken, DType::f64, floats[number / 2 % floats.size()]);
  if (!others.empty() && number % 2 != 0)
    std::ranges::replace(taken, DType::i64, others[number / 2 % others.size()]);
  return taken;
}

/// Calls for one sample.
class Calls {
public:
  Calls(const OpInfo &info, const OpSample &sample, std::size_t number)
      : info_(info), sample_(sample), number_(number) {}

  /// For the dtypes that the operands admit, and every dtype of indices.
  void add_to(std::vector<Call> &calls) {
    for (const DType dtype : in_turn(dtypes_of(OperandRole::value), number_))
      for (const DType integer : dtypes_of(OperandRole::index))
        if (!loses_parts(dtype)) calls.push_back(make(dtype, integer));
  }

private:
  using Elements = SampleOperand::Elements;

  /// Whether it is a cast from complex to real, which is refused.
  bool loses_parts(DType dtype) const {
    if (info_.op != OpCode::cast || !is_complex(dtype)) return false;
    const auto to = std::get<DType>(sample_.attrs[0]);
    return !is_complex(to) && to != DType::boolean;
  }

  static bool counts(const OperandInfo &operand) { return operand.role == OperandRole::index; }

  /// The dtypes that operands take together: those of elements, or of indices and counts. One that
  /// nobody looks at if there are no such operands.
  std::vector<DType> dtypes_of(OperandRole role) const {
    for (std::size_t i = 0; i < sample_.operands.size(); ++i) {
      const OperandInfo &operand = operand_info(info_, i);
      if (!sample_.operands[i].dtype && operand.role != OperandRole::predicate &&
          counts(operand) == (role == OperandRole::index))
        return admitted(operand.admits);
    }
    return {DType::i64};
  }

  Call make(DType dtype, DType integer) const {
    std::vector<DType> dtypes;
    for (std::size_t i = 0; i < sample_.operands.size(); ++i) {
      const OperandInfo &operand = operand_info(info_, i);
      dtypes.push_back(sample_.operands[i].dtype ? *sample_.operands[i].dtype
                       : counts(operand)         ? integer
                       : operand.admits.contains(dtype) && operand.role != OperandRole::predicate
                           ? dtype
                           : admitted(operand.admits).front());
    }
    std::size_t combinations = 1;
    for (std::size_t i = 0; i < dtypes.size(); ++i)
      if (sample_.operands[i].elements == Elements::special)
        combinations *= special_count(dtypes[i]);
    Call call{sample_.text, info_.op, {}, sample_.attrs, number_};
    std::size_t stride = 1;
    for (std::size_t i = 0; i < dtypes.size(); ++i) {
      const SampleOperand &operand = sample_.operands[i];
      const auto seed = static_cast<int>(i + 7);
      Tensor whole;
      switch (operand.elements) {
      case Elements::special:
        whole = specials(dtypes[i], 3 * combinations, stride);
        stride *= special_count(dtypes[i]);
        break;
      case Elements::given: whole = given(operand.values, operand.shape, dtypes[i]); break;
      case Elements::drawn: whole = sample(dtypes[i], operand.shape, seed); break;
      case Elements::finite:
      case Elements::regular:
      case Elements::definite:
        whole = operand.as_wanted(sample(dtypes[i], operand.shape, seed, true));
        break;
      }
      call.operands.push_back(operand.seen(whole));
      call.name += " " + to_string(call.operands.back().type());
    }
    return call;
  }

  const OpInfo &info_;
  const OpSample &sample_;
  std::size_t number_;
};

} // namespace

std::vector<Call> calls_of(const OpInfo &info) {
  std::vector<Call> calls;
  for (std::size_t number = 0; const OpSample &sample : samples_of(info.op))
    Calls(info, sample, number++).add_to(calls);
  return calls;
}

testing::AssertionResult same_bits(const Tensor &expected, const Tensor &actual) {
  if (!(expected.type() == actual.type()))
    return testing::AssertionFailure()
           << "is " << to_string(actual.type()) << " instead of " << to_string(expected.type());
  return visit_dtype(expected.dtype(), [&]<class T>() -> testing::AssertionResult {
    const Tensor dense_expected = expected.contiguous(), dense_actual = actual.contiguous();
    const auto want = dense_expected.span<T>(), have = dense_actual.span<T>();
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (std::memcmp(&want[i], &have[i], sizeof(T)) == 0) continue;
      if (want[i] != want[i] && have[i] != have[i]) continue;
      std::ostringstream text;
      text << std::setprecision(std::numeric_limits<T>::max_digits10) << "element " << i << " of "
           << to_string(actual.type()) << " is " << have[i] << " instead of " << want[i];
      return testing::AssertionFailure() << text.str();
    }
    return testing::AssertionSuccess();
  });
}

} // namespace weft::test
