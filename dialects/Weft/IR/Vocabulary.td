// The words that op records use in their dags: scalar functions of a body, ops and named functions
// of a derivative.

#ifndef WEFT_IR_VOCABULARY
#define WEFT_IR_VOCABULARY

/// No dag given.
def absent;

//===----------------------------------------------------------------------===//
// Scalar code: functions of lib/../Conversion/ScalarBuilder.h, by name. They choose the instruction
// by element type, and work on vectors too.
//===----------------------------------------------------------------------===//

class Scalar<string fn> { string function = fn; }
def s_add : Scalar<"add">;
def s_sub : Scalar<"subtract">;
def s_mul : Scalar<"multiply">;
def s_div : Scalar<"divide">;
def s_rem : Scalar<"remainder">;
def s_pow : Scalar<"power">;
def s_max : Scalar<"maximum">;
def s_min : Scalar<"minimum">;
def s_neg : Scalar<"negate">;
def s_abs : Scalar<"abs">;
def s_sign : Scalar<"sign">;
def s_floor : Scalar<"floor">;
def s_ceil : Scalar<"ceil">;
def s_eq : Scalar<"equal">;
def s_ne : Scalar<"notEqual">;
def s_lt : Scalar<"less">;
def s_le : Scalar<"lessEqual">;
def s_gt : Scalar<"greater">;
def s_ge : Scalar<"greaterEqual">;
def s_and : Scalar<"logicalAnd">;
def s_or : Scalar<"logicalOr">;
def s_xor : Scalar<"logicalXor">;
def s_not : Scalar<"logicalNot">;
def s_invert : Scalar<"invert">;
def s_shift_left : Scalar<"shiftLeft">;
def s_shift_right : Scalar<"shiftRight">;
def s_signbit : Scalar<"signbit">;
def s_nextafter : Scalar<"nextafter">;
def s_select : Scalar<"select">;
def s_cast : Scalar<"cast">;
def math_exp : Scalar<"exp">;
def math_log : Scalar<"log">;
def math_log2 : Scalar<"log2">;
def math_log10 : Scalar<"log10">;
def math_expm1 : Scalar<"expm1">;
def math_log1p : Scalar<"log1p">;
def math_tanh : Scalar<"tanh">;
def math_erf : Scalar<"erf">;
def math_sqrt : Scalar<"sqrt">;
def math_rsqrt : Scalar<"rsqrt">;
def math_sin : Scalar<"sin">;
def math_cos : Scalar<"cos">;

/// An enumerator of Weft_SpecialFunction, which becomes a weft.special.
class Special<string fn> : Scalar<fn>;
def math_erfc : Special<"erfc">;
def math_erfcx : Special<"erfcx">;
def math_erfinv : Special<"erfinv">;
def math_ndtr : Special<"ndtr">;
def math_log_ndtr : Special<"log_ndtr">;
def math_ndtri : Special<"ndtri">;
def math_gamma : Special<"gamma">;
def math_lgamma : Special<"lgamma">;
def math_digamma : Special<"digamma">;
def math_i0 : Special<"i0">;
def math_i0e : Special<"i0e">;
def math_i1 : Special<"i1">;
def math_i1e : Special<"i1e">;
def math_sinpi : Special<"sinpi">;
def math_cospi : Special<"cospi">;
def math_sinc : Special<"sinc">;
def math_zeta : Special<"zeta">;
def math_betaln : Special<"betaln">;
def math_tan : Special<"tan">;
def math_atan : Special<"atan">;
def math_atan2 : Special<"atan2">;
def math_asin : Special<"asin">;
def math_acos : Special<"acos">;
def math_sinh : Special<"sinh">;
def math_cosh : Special<"cosh">;
def math_asinh : Special<"asinh">;
def math_acosh : Special<"acosh">;
def math_atanh : Special<"atanh">;
def math_cbrt : Special<"cbrt">;
def math_hypot : Special<"hypot">;
def math_gammainc : Special<"gammainc">;
def math_gammaincc : Special<"gammaincc">;
def math_gammainc_da : Special<"gammainc_da">;
def math_betainc : Special<"betainc">;

//===----------------------------------------------------------------------===//
// Complex numbers, of which there is no scalar code
//===----------------------------------------------------------------------===//

/// How an op is computed on complex numbers: weft-tblgen writes by it what executes the op (EagerTable.inc), the
/// switch over formulas (ComplexFormulas.inc), and what the pass weft-expand-complex does (ComplexExpansions.inc).
class OnComplex<string which, string name = ""> {
  string way = which;
  string function = name;
}
/// Its operands admit none.
def no_complex : OnComplex<"none">;
/// Real and imaginary parts are each what the op gives of them: it moves elements, or is linear. The eager function of
/// a structural op takes complex elements as it takes others.
def each_part : OnComplex<"each_part">;
/// Of a routine: it is compiled for complex elements as for others.
def whole_elements : OnComplex<"whole_elements">;
/// Of an elementwise op: a formula, a member of planar::Functions or planar::Formulas (lib/Complex).
class Formula<string name> : OnComplex<"formula", name>;
/// A function of its own: `complex_NAME` of weft::eager (EagerComplex.cpp), and `expandName` of the pass.
class OwnFunction<string name> : OnComplex<"own_function", name>;

//===----------------------------------------------------------------------===//
// Derivatives: an Emit is an op of the dialect by its mnemonic; a Rule is a function template of
// lib/Autodiff/Rules.h called with the emitter, the call's types and attributes, and the arguments.
// Integers and strings ("0.5") in a dag are scalars of the cotangent's dtype.
//===----------------------------------------------------------------------===//

/// `cpp`: its C++ name, where that is another one.
class Emit<string op, string cpp = op> {
  string mnemonic = op;
  string cppName = cpp;
}
def add : Emit<"add">;
def sub : Emit<"subtract">;
def mul : Emit<"multiply">;
def div : Emit<"divide">;
def rem : Emit<"remainder">;
def pow : Emit<"power">;
def maximum : Emit<"maximum">;
def minimum : Emit<"minimum">;
def neg : Emit<"negate">;
def abs : Emit<"abs">;
def sign : Emit<"sign", "real_sign">;
def floor : Emit<"floor">;
def ceil : Emit<"ceil">;
def exp : Emit<"exp">;
def log : Emit<"log">;
def expm1 : Emit<"expm1">;
def log1p : Emit<"log1p">;
def tanh : Emit<"tanh">;
def logistic : Emit<"logistic">;
def sqrt : Emit<"sqrt">;
def rsqrt : Emit<"rsqrt">;
def sin : Emit<"sin">;
def cos : Emit<"cos">;
def eq : Emit<"equal">;
def ne : Emit<"not_equal">;
def lt : Emit<"less">;
def le : Emit<"less_equal">;
def gt : Emit<"greater">;
def ge : Emit<"greater_equal">;
def where : Emit<"select">;
def erfcx : Emit<"erfcx">;
def digamma : Emit<"digamma">;
def i0 : Emit<"i0">;
def i0e : Emit<"i0e">;
def i1 : Emit<"i1">;
def i1e : Emit<"i1e">;
def sinpi : Emit<"sinpi">;
def cospi : Emit<"cospi">;
def zeta : Emit<"zeta">;
def sinh : Emit<"sinh">;
def cosh : Emit<"cosh">;
def hypot : Emit<"hypot">;
def gammainc_da : Emit<"gammainc_da">;
def cofactors_along : Emit<"cofactors_along">;

/// `conjugates`: in reverse it is given saved complex values conjugated, as what has a complex derivative wants them.
class Rule<string fn, bit conjugates = 1> {
  string function = fn;
  bit takesConjugates = conjugates;
}
def copy;      // the argument itself
def zero;      // 0 of the cotangent's dtype
def one;       // 1 of the cotangent's dtype
def square;    // x * x, emitted as a multiply
def no_grad;   // this operand has no derivative (an index, a predicate)

def no_derivative : Rule<"no_derivative">; // it raises a StateError
def cast_back : Rule<"cast_back">;
def abs_back : Rule<"abs_back", 0>;
def abs_forward : Rule<"abs_forward">;
def real_back : Rule<"real_back">;
def imag_back : Rule<"imag_back">;
def conj_back : Rule<"conj_back">;
def complex_back : Rule<"complex_back">;
def erfcx_slope : Rule<"erfcx_slope">;
def sinc_slope : Rule<"sinc_slope">;
def log_ndtr_slope : Rule<"log_ndtr_slope">;
def i1_over_x : Rule<"i1_over_x">;
def i1e_over_x : Rule<"i1e_over_x">;
def quotient_of_length : Rule<"quotient_of_length">;
def gammainc_slope : Rule<"gammainc_slope">;
def betainc_slope : Rule<"betainc_slope">;
def log_gamma_slope : Rule<"log_gamma_slope">;
def asinh_slope : Rule<"asinh_slope">;
def expand_reduced : Rule<"expand_reduced">;
def mean_back : Rule<"mean_back">;
def extremum_back : Rule<"extremum_back">;
def extremum_forward : Rule<"extremum_forward">;
def prod_back : Rule<"prod_back">;
def prod_forward : Rule<"prod_forward">;
def cumsum_back : Rule<"cumsum_back">;
def cumulative_back : Rule<"cumulative_back">;
def cumulative_forward : Rule<"cumulative_forward">;
def recurrence_back : Rule<"recurrence_back">;
def recurrence_factor_back : Rule<"recurrence_factor_back">;
def recurrence_forward : Rule<"recurrence_forward">;
def matmul_back_lhs : Rule<"matmul_back_lhs">;
def matmul_back_rhs : Rule<"matmul_back_rhs">;
def convolution_back_input : Rule<"convolution_back_input">;
def convolution_back_kernel : Rule<"convolution_back_kernel">;
def transposed_back_input : Rule<"transposed_back_input">;
def transposed_back_kernel : Rule<"transposed_back_kernel">;
def kernel_gradient_back_input : Rule<"kernel_gradient_back_input">;
def kernel_gradient_back_cotangent : Rule<"kernel_gradient_back_cotangent">;
def window_extremum_back : Rule<"window_extremum_back">;
def window_extremum_forward : Rule<"window_extremum_forward">;
def window_sum_back : Rule<"window_sum_back">;
def window_sum_transpose_back : Rule<"window_sum_transpose_back">;
def window_take_back : Rule<"window_take_back">;
def window_scatter_back : Rule<"window_scatter_back">;
def reshape_back : Rule<"reshape_back">;
def transpose_back : Rule<"transpose_back">;
def broadcast_back : Rule<"broadcast_back">;
def slice_back : Rule<"slice_back">;
def reverse_back : Rule<"reverse_back">;
def concatenate_back : Rule<"concatenate_back">;
def pad_back : Rule<"pad_back">;
def pad_value_back : Rule<"pad_value_back">;
def gather_back : Rule<"gather_back">;
def scatter_add_back : Rule<"scatter_add_back">;
def take_along_axis_back : Rule<"take_along_axis_back">;
def sort_back : Rule<"sort_back">;
def sort_forward : Rule<"sort_forward">;
def add_along_axis_back : Rule<"add_along_axis_back">;
def update_slice_back : Rule<"update_slice_back">;
def update_slice_value_back : Rule<"update_slice_value_back">;
def fft_back : Rule<"fft_back">;
def fft_forward : Rule<"fft_forward">;
def rfft_back : Rule<"rfft_back">;
def rfft_forward : Rule<"rfft_forward">;
def irfft_back : Rule<"irfft_back">;
def irfft_forward : Rule<"irfft_forward">;
def lu_back : Rule<"lu_back">;
def lu_forward : Rule<"lu_forward">;
def lu_solve_back : Rule<"lu_solve_back">;
def lu_solve_back_matrix : Rule<"lu_solve_back_matrix">;
def lu_solve_forward : Rule<"lu_solve_forward">;
def gesv_back : Rule<"gesv_back">;
def gesv_back_matrix : Rule<"gesv_back_matrix">;
def gesv_forward : Rule<"gesv_forward">;
def triangular_solve_back : Rule<"triangular_solve_back">;
def triangular_solve_back_matrix : Rule<"triangular_solve_back_matrix">;
def triangular_solve_forward : Rule<"triangular_solve_forward">;
def cholesky_back : Rule<"cholesky_back", 0>;
def cholesky_forward : Rule<"cholesky_forward">;
def qr_back : Rule<"qr_back", 0>;
def qr_forward : Rule<"qr_forward">;
def eigh_back : Rule<"eigh_back", 0>;
def eigh_forward : Rule<"eigh_forward">;
def eig_back : Rule<"eig_back", 0>;
def eig_forward : Rule<"eig_forward">;
def svd_back : Rule<"svd_back", 0>;
def svd_forward : Rule<"svd_forward">;
def det_back : Rule<"det_back">;
def det_forward : Rule<"det_forward">;
def cofactors_twice : Rule<"cofactors_twice">;
def pinv_back : Rule<"pinv_back", 0>;
def pinv_forward : Rule<"pinv_forward">;
def expm_back : Rule<"expm_back">;
def expm_forward : Rule<"expm_forward">;
def all_reduce_back : Rule<"all_reduce_back">;
def all_reduce_extremum_back : Rule<"all_reduce_extremum_back">;
def all_reduce_extremum_forward : Rule<"all_reduce_extremum_forward">;
def reduce_scatter_back : Rule<"reduce_scatter_back">;
def reduce_scatter_extremum_back : Rule<"reduce_scatter_extremum_back">;
def reduce_scatter_extremum_forward : Rule<"reduce_scatter_extremum_forward">;
def all_gather_back : Rule<"all_gather_back">;
def all_to_all_back : Rule<"all_to_all_back">;
def broadcast_rank_back : Rule<"broadcast_rank_back">;
def permute_ranks_back : Rule<"permute_ranks_back">;
def vary_back : Rule<"vary_back">;
def shard_back : Rule<"shard_back">;
def slice_own_back : Rule<"slice_own_back">;
def from_vjp;
def linear;
def bilinear;

//===----------------------------------------------------------------------===//
// Errors: which classes of weft/error.h an op raises, and when
//===----------------------------------------------------------------------===//

class ErrorKind<string enumerator> { string kind = enumerator; }
def ShapeError : ErrorKind<"shape">;
def DTypeError : ErrorKind<"dtype">;
def IndexError : ErrorKind<"index">;
def ValueError : ErrorKind<"value">;
def AssertionError : ErrorKind<"assertion">;
def LinAlgError : ErrorKind<"linalg">;
def IOError : ErrorKind<"io">;

/// "ShapeError if the shapes do not broadcast".
class Raises<ErrorKind which, string condition> {
  ErrorKind error = which;
  string when = condition;
}
def shapes_do_not_broadcast : Raises<ShapeError, "the shapes do not broadcast">;
def dtypes_differ : Raises<DTypeError, "the dtypes of the operands differ">;
def axis_out_of_range : Raises<IndexError, "the axis is not one of x">;
def index_out_of_range : Raises<IndexError, "an index is out of range">;

//===----------------------------------------------------------------------===//
// Samples: calls for the tests
//===----------------------------------------------------------------------===//

/// A call of an op. Each operand is said in words:
///   "2x3", "scalar", "0x2"       drawn elements of that shape, NaN and infinities among them
///   "finite 2x3"                 without these
///   "regular 3x3"                the same, with larger numbers from the upper right corner of each matrix downwards to
///                                the left: matrices that have an inverse
///   "definite 3x3"               symmetric matrices with larger numbers on the diagonal: positive definite ones
///   "special"                    all combinations, with the other operands, of values at which ops
///                                behave in their own way, three times each
///   "[[2, 0], [1, 1]]"           these integers
///   "transposed 7x5", "backwards 14", "strided 9"
///                                a view of such a tensor: its axes in opposite order; every second
///                                element of the first axis, from the last or from the first on
///   "i32 5", "i64 [1, 2]"        the same of a dtype that does not follow that of the call
/// Attributes are written as in the IR, one for each of the record; "*" stands for every value in
/// iteration: both flags, every axis, all sets of axes, each dtype, all, half and two of what is counted.
/// Attributes not given are "*".
class Sample<list<string> ofOperands, list<string> ofAttributes = []> {
  list<string> operands = ofOperands;
  list<string> attributes = ofAttributes;
}

#endif // WEFT_IR_VOCABULARY
