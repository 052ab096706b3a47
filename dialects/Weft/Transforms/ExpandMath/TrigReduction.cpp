// Subtracts the multiple of pi/2 next to a number. Below 2^40 that takes three fused steps (Cody
// and Waite 1980, chapter 8, with the fused steps of Muller et al., Handbook, 11.2); beyond, the
// fraction of x * 2/pi is computed from as many digits of 2/pi as matter for the exponent of x, in
// integers (Payne and Hanek, SIGNUM Newsletter 18, 1983).
#include "Weft/Transforms/ExpandMath/Coefficients.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/ExpandMath/SpecialCoefficients.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include <array>
#include <iterator>

namespace mlir::weft::expand {

using namespace coefficients;

namespace {

/// Where the long reduction takes over.
constexpr double longReductionFrom = 0x1p40;

/// For |x| < 2^40.
ReducedAngle reduceShort(Flt x, bool low) {
  Rounded n = takeInteger(fma(x, twoOverPiDouble[0], x.format().shifter()));
  // Exact: both sides are multiples of the last bit of halfPi[0] or of x, and their difference is
  // below 1.
  Flt first = fma(n.asFloat, -halfPi[0], x);
  if (!low) return {{fma(n.asFloat, -halfPi[1], first), x.like(0.0)}, n.asInt};
  Pair product = twoProduct(n.asFloat, x.like(-halfPi[1]));
  Pair sum = twoSum(first, product.high);
  return {{sum.high, sum.low + fma(n.asFloat, -halfPi[2], product.low)}, n.asInt};
}

/// The four 64-bit words of 2/pi that hold the digits from number 64 * index on, for index < 16.
std::array<Int, 4> wordsOfTwoOverPi(Int index) {
  constexpr int wordCount = std::size(twoOverPi);
  static_assert(wordCount == 15 + 4);
  std::array<Int, wordCount> words;
  for (int i = 0; i < wordCount; ++i) words[i] = index.like(static_cast<int64_t>(twoOverPi[i]));
  // A shifter in the manner of hardware: each bit of the index moves the words or leaves them.
  for (int distance = 8; distance > 0; distance /= 2) {
    Bool move = (index & distance) == distance;
    for (int i = 0; i < 4 + distance - 1; ++i)
      words[i] = select(move, words[i + distance], words[i]);
  }
  return {words[0], words[1], words[2], words[3]};
}

/// 192 binary digits of 2/pi as 32-bit limbs, the lowest first, starting with the digit that is
/// worth 2 once it is multiplied by the last bit of x. Higher ones make multiples of four and
/// cannot change the quadrant.
std::array<Int, 6> window(Int exponent) {
  Int start = exponent + 30;
  std::array<Int, 4> words = wordsOfTwoOverPi(shiftRight(start, 6));
  Int shift = start & 63;
  std::array<Int, 6> limbs;
  for (int i = 0; i < 3; ++i) {
    // The second shift is in two parts so that none reaches 64.
    Int word = shiftLeft(words[i], shift) |
               shiftRight(shiftRight(words[i + 1], 1), shift.like(63) - shift);
    limbs[5 - 2 * i] = shiftRight(word, 32);
    limbs[4 - 2 * i] = word & 0xFFFFFFFF;
  }
  return limbs;
}

/// mantissa * limbs modulo 2^192, in limbs.
std::array<Int, 6> multiply(Int mantissa, const std::array<Int, 6> &limbs) {
  Int low = mantissa & 0xFFFFFFFF, high = shiftRight(mantissa, 32);
  std::array<Int, 6> result;
  Int carry = mantissa.like(0); // What the lower limbs leave for this one; stays far below 2^64.
  Int previousHigh = mantissa.like(0);
  for (int i = 0; i < 6; ++i) {
    Int product = low * limbs[i]; // At most (2^32 - 1)^2.
    Int column = carry + (product & 0xFFFFFFFF) + (previousHigh & 0xFFFFFFFF);
    result[i] = column & 0xFFFFFFFF;
    carry = shiftRight(column, 32) + shiftRight(product, 32) + shiftRight(previousHigh, 32);
    previousHigh = high * limbs[i];
  }
  return result;
}

/// For any finite |x| >= 2^40.
ReducedAngle reduceLong(Flt x) {
  Flt magnitude = abs(x);
  Int image = bits(magnitude);
  Format format = x.format();
  Int exponent = shiftRight(image, format.mantissaBits) - (format.bias + format.mantissaBits);
  Int mantissa = (image & format.mantissaMask()) | (format.mantissaMask() + 1);
  std::array<Int, 6> limbs = multiply(mantissa, window(exponent));
  // The top two bits are the quadrant, the others the fraction. A fraction of a half or more
  // belongs to the next quadrant, and its complement, all bits inverted, is the distance to it.
  Int top = limbs[5];
  Int quadrant = shiftRight(top + (int64_t(1) << 29), 30);
  Int inverted = shiftRight(top, 29) & 1;
  Int flip = (inverted.like(0) - inverted) & 0xFFFFFFFF;
  double weight = 0x1p-30;
  std::array<Flt, 5> digits; // From the most significant limb down, each exact.
  for (int i = 0; i < 5; ++i, weight *= 0x1p-32) {
    Int limb = limbs[5 - i] ^ flip;
    if (i == 0) limb = limb & 0x3FFFFFFF;
    digits[i] = toFloat(limb) * weight;
  }
  // However near x is to a multiple of pi/2, no more than the first two limbs can vanish.
  Pair first = fastTwoSum(digits[0], digits[1]);
  Pair second = fastTwoSum(first.high, digits[2]);
  Flt low = first.low + (second.low + (digits[3] + digits[4]));
  // Times pi/2.
  Pair product = twoProduct(second.high, x.like(halfPi[0]));
  Flt productLow = product.low + fma(second.high, halfPi[1], low * halfPi[0]);
  // The signs: of the distance to the next quadrant, and of x, which mirrors everything.
  Bool negative = x < 0.0;
  Int sign = shiftLeft(inverted, 63) ^ (bits(x) & format.signMask());
  quadrant = select(negative, quadrant.like(0) - quadrant, quadrant);
  return {{fromBits(bits(product.high) ^ sign), fromBits(bits(productLow) ^ sign)}, quadrant};
}

} // namespace

ReducedAngle reduceF32(Flt x) {
  Rounded n = takeInteger(fma(x, twoOverPiDouble[0], x.format().shifter()));
  // Exact, as in reduceShort.
  Flt first = fma(n.asFloat, -halfPiF32[0], x);
  Pair product = twoProduct(n.asFloat, x.like(-halfPiF32[1]));
  // Exact though the first may be the smaller one: it is a multiple of the last bit of the other,
  // since n is below 2^17.
  Pair sum = fastTwoSum(first, product.high);
  return {{sum.high, fma(n.asFloat, -halfPiF32[2], sum.low + product.low)}, n.asInt};
}

ReducedAngle reduceAngle(Flt x, bool low) {
  ReducedAngle shortcut = reduceShort(x, low);
  Bool isLarge = abs(x) >= longReductionFrom;
  auto merge = [&] {
    ReducedAngle full = reduceLong(x);
    Flt angleLow = low ? select(isLarge, full.angle.low, shortcut.angle.low) : shortcut.angle.low;
    return ReducedAngle{{select(isLarge, full.angle.high, shortcut.angle.high), angleLow},
                        select(isLarge, full.quadrant, shortcut.quadrant)};
  };
  Value any = anyLane(isLarge);
  if (!any) return merge();

  // Large arguments are rare and cost several times the rest, so a branch skips them. Which lanes
  // take their result from where does not depend on the branch.
  Scope &scope = *x.scope;
  OpBuilder &builder = scope.builder;
  SmallVector<Type> types{shortcut.angle.high.value.getType(), shortcut.quadrant.value.getType()};
  if (low) types.push_back(types.front());
  auto branch = scf::IfOp::create(builder, scope.loc, types, any, /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  auto yield = [&](Block *block, llvm::function_ref<ReducedAngle()> compute) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToEnd(block);
    ReducedAngle angle = compute();
    SmallVector<Value> values{angle.angle.high.value, angle.quadrant.value};
    if (low) values.push_back(angle.angle.low.value);
    scf::YieldOp::create(builder, scope.loc, values);
  };
  yield(branch.thenBlock(), merge);
  yield(branch.elseBlock(), [&] { return shortcut; });
  Flt high{{branch.getResult(0), &scope}};
  return {{high, low ? Flt{{branch.getResult(2), &scope}} : shortcut.angle.low},
          Int{{branch.getResult(1), &scope}}};
}

} // namespace mlir::weft::expand
