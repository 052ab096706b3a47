// Which formula computes which function of weft.special, and the ways that they share.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/ExpandMath/Functions.h"

#include "mlir/IR/TypeUtilities.h"

namespace mlir::weft::expand {

namespace {

FloatType elementOf(Flt x) { return cast<FloatType>(getElementTypeOrSelf(x.value.getType())); }
Flt wide(Flt x) { return convert(x, x.scope->builder.getF64Type()); }

} // namespace

Flt inF64(Flt x, llvm::function_ref<Flt(Flt)> f) { return convert(f(wide(x)), elementOf(x)); }

Flt inF64(Flt x, Flt y, llvm::function_ref<Flt(Flt, Flt)> f) {
  return convert(f(wide(x), wide(y)), elementOf(x));
}

Flt inF64(Flt x, Flt y, Flt z, llvm::function_ref<Flt(Flt, Flt, Flt)> f) {
  return convert(f(wide(x), wide(y), wide(z)), elementOf(x));
}

Flt special(SpecialFunction function, ArrayRef<Flt> x) {
  switch (function) {
  case SpecialFunction::erfc: return erfc(x[0]);
  case SpecialFunction::erfcx: return erfcx(x[0]);
  case SpecialFunction::erfinv: return erfinv(x[0]);
  case SpecialFunction::ndtr: return ndtr(x[0]);
  case SpecialFunction::log_ndtr: return logNdtr(x[0]);
  case SpecialFunction::ndtri: return ndtri(x[0]);
  case SpecialFunction::gamma: return gamma(x[0]);
  case SpecialFunction::lgamma: return lgamma(x[0]);
  case SpecialFunction::digamma: return digamma(x[0]);
  case SpecialFunction::i0: return i0(x[0]);
  case SpecialFunction::i0e: return i0e(x[0]);
  case SpecialFunction::i1: return i1(x[0]);
  case SpecialFunction::i1e: return i1e(x[0]);
  case SpecialFunction::sinpi: return sinpi(x[0]);
  case SpecialFunction::cospi: return cospi(x[0]);
  case SpecialFunction::sinc: return sinc(x[0]);
  case SpecialFunction::zeta: return zeta(x[0], x[1]);
  case SpecialFunction::betaln: return betaln(x[0], x[1]);
  case SpecialFunction::tan: return tan(x[0]);
  case SpecialFunction::atan: return atan(x[0]);
  case SpecialFunction::asin: return asin(x[0]);
  case SpecialFunction::acos: return acos(x[0]);
  case SpecialFunction::sinh: return sinh(x[0]);
  case SpecialFunction::cosh: return cosh(x[0]);
  case SpecialFunction::asinh: return asinh(x[0]);
  case SpecialFunction::acosh: return acosh(x[0]);
  case SpecialFunction::atanh: return atanh(x[0]);
  case SpecialFunction::cbrt: return cbrt(x[0]);
  case SpecialFunction::atan2: return atan2(x[0], x[1]);
  case SpecialFunction::hypot: return hypot(x[0], x[1]);
  case SpecialFunction::gammainc: return gammainc(x[0], x[1]);
  case SpecialFunction::gammaincc: return gammaincc(x[0], x[1]);
  case SpecialFunction::gammainc_da: return gammaincDa(x[0], x[1]);
  case SpecialFunction::betainc: return betainc(x[0], x[1], x[2]);
  }
  llvm_unreachable("an unknown function");
}

} // namespace mlir::weft::expand
