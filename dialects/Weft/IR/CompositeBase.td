// What composites are: functions of users that are made of ops and of each other, so that tapes, traces and vmap see their parts.

#ifndef WEFT_IR_COMPOSITE_BASE
#define WEFT_IR_COMPOSITE_BASE

include "Weft/IR/ElementwiseOps.td"

//===----------------------------------------------------------------------===//
// Parameters besides the operands of Base.td and its flags, axes and dtypes
//===----------------------------------------------------------------------===//

/// The operator of a list of parameters. Those behind `star` are given by keyword alone; in C++ all that
/// have a default are then members of an options struct, otherwise they are given in their order.
def params;
def star;

/// What is true where it is not 0.
def Weft_Condition : Weft_TensorOf<"any dtype", ["boolean", "integer", "unsigned_integer", "floating", "complex"], "predicate">;
/// A tensor that may be left out.
class Weft_Optional<Weft_TensorOf operand> { Weft_TensorOf baseType = operand; }
/// A list of tensors.
class Weft_List<Weft_TensorOf operand> { Weft_TensorOf baseType = operand; }
/// A list of tensors that Python is given one by one: `*xs`. What stands in front of it is given by position
/// alone, what stands behind it by keyword alone.
class Weft_Rest<Weft_TensorOf operand> : Weft_List<operand>;

/// An argument that is no tensor: what it is, its C++ type, its default (empty: it must be given), its
/// docstring, and what Python calls it where that is something else.
class Weft_Parameter<string kind, string type, string default, string words, string python = ""> {
  string attrKind = kind;
  string cppType = type;
  string optionDefault = default;
  string what = words;
  string pythonName = python;
  string pythonDefault = default;
}
class Weft_Int<string default, string words> : Weft_Parameter<"integer", "std::int64_t", default, words>;
class Weft_Real<string default, string words, string python = "">
    : Weft_Parameter<"real", "double", default, words, python>;
/// One integer or a list of them; with a default of "{}" there may be none.
class Weft_IntList<string words, string python = ""> : Weft_Parameter<"integers", "IntList", "", words, python>;
class Weft_OptionalIntList<string words, string python = "">
    : Weft_Parameter<"integers", "Axes", "{}", words, python>;
/// Integers, or an integer tensor of them, which a trace may compute.
class Weft_Integers<string words> : Weft_Parameter<"integers", "Integers", "", words>;
/// How many elements the result has room for.
def Weft_ResultSize
    : Weft_Parameter<"size", "std::optional<Size>", "std::nullopt", "how many there are in the result; as many as are found if not given", "size">;
/// As many as the result has parts; a trace may compute it.
class Weft_RequiredSize<string words> : Weft_Parameter<"size", "Size", "", words>;
class Weft_FlagThatHolds<string words> : Weft_Parameter<"flag", "bool", "true", words>;
class Weft_OptionalInt<string words>
    : Weft_Parameter<"integer", "std::optional<std::int64_t>", "std::nullopt", words>;
def Weft_OptionalDType
    : Weft_Parameter<"optional_dtype", "std::optional<DType>", "std::nullopt", "the dtype of the result; x's if not given">;
/// Numbers and sizes of axes, which a trace may compute.
class Weft_SizeList<string words> : Weft_Parameter<"shape", "Sizes", "", words>;
class Weft_RealList<string words> : Weft_Parameter<"reals", "RealList", "", words>;
/// Axes of the first operand, all if not given, and one of them, which the C++ code is given from the front.
def Weft_OverAxes : Weft_Parameter<"axes", "Axes", "{}", "axes of x, negative ones counted from the end; all if not given">;
class Weft_AnAxis<string default = ""> : Weft_Parameter<"axis", "std::int64_t", default, "an axis; a negative one counts from the end">;
class Weft_OptionalAxis<string words> : Weft_Parameter<"axis", "std::optional<std::int64_t>", "std::nullopt", words>;
/// In C++ the last axis if it is not given, and all elements for std::nullopt; in Python for None, its default.
def Weft_SearchedAxis : Weft_OptionalAxis<"an axis; all elements in a row if it is none"> {
  let optionDefault = "-1";
  let pythonDefault = "std::nullopt";
}
def Weft_JoinedAxis : Weft_OptionalAxis<"an axis; all elements in a row if it is none"> {
  let optionDefault = "0";
  let pythonDefault = "0";
}
class Weft_Text<string words> : Weft_Parameter<"text", "std::string_view", "", words>;
/// One of the words, which are the enumerators of a type of C++.
class Weft_Word<string type, string default, string words>
    : Weft_Parameter<"word", type, type # "::" # default, words>;
/// How many parts there are of an axis, or where they begin.
def Weft_Sections
    : Weft_Parameter<"sections", "Sections", "", "how many parts, or a list of where those behind the first begin",
                     "indices_or_sections">;
class Weft_OptionalReal<string words> : Weft_Parameter<"real", "std::optional<double>", "std::nullopt", words>;

def axis_twice : Raises<ValueError, "an axis is given twice">;

//===----------------------------------------------------------------------===//
// The record
//===----------------------------------------------------------------------===//

/// The first of these values if the operand is given, else the second.
def if_given;

/// One of several results: its name, and its dtype and shape in words.
class Weft_Result<string resultName, string words> {
  string name = resultName;
  string what = words;
}

/// A function that is made of ops. weft-tblgen makes from it the C++ function with its options, the Python
/// function, its stub, the method, the page in the reference, the call of `./x fuzz calls`, and the tests: its
/// example, its samples against NumPy, eager against compiled, and finite differences.
class Weft_CompositeFn<string functionName> : Weft_Callable {
  string name = functionName;
  /// The module that it is of, `linalg`: C++ has it in that namespace, Python in that module.
  string module = "";
  /// Name of the C++ function; differs only where C++ has something else of the name.
  string cppName = functionName;
  string summary = ?;
  string description = "";
  dag parameters = ?;
  /// The result over the parameters: ops by the words of derivatives (Vocabulary.td), other composites by their
  /// records; numbers, also as texts ("0.5"), are weak. What has more than some eight calls, or looks at dtypes,
  /// is C++: the function of that name in weft::composites (lib/Ops/Composites, of distributions lib/Random), which is given the operands
  /// after promotion, as tensors that are undefined where none is given.
  dag body = (absent);
  string cppBody = "";
  /// What it gives: a tensor, or a list or tuple of tensors, in C++ a vector; "tensors" is a tuple unless
  /// there is one alone.
  string gives = "tensor";
  /// The names of its results where it has several, which may be of different shapes and dtypes: in C++ the
  /// members of a struct with the function's name, in Python those of a named tuple. `gives` is then of no use,
  /// and neither are `resultShape` and `resultDType`.
  list<Weft_Result> results = [];
  /// Whether it gives elements of its operands as they are, or those of one op that computes, or does so in `cppBody`.
  /// Others compute: of 16-bit floats in f32, with results that are rounded once, as an op's.
  bit moves = 0;
  /// Whether it does the same where sizes are not known: not what asks whether one is 0 or 1.
  bit openSizes = 1;
  /// Whether Python has it by this name.
  bit inPython = 1;
  /// In Python the first two operands are one argument of this name, a pair, as another function gives it.
  string pythonPair = "";
}

#endif // WEFT_IR_COMPOSITE_BASE
