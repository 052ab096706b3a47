// The dialect itself, its types and attributes, and the fields that every op record carries.

#ifndef WEFT_IR_BASE
#define WEFT_IR_BASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "Weft/IR/Vocabulary.td"

def Weft_Dialect : Dialect {
  let name = "weft";
  let cppNamespace = "::mlir::weft";
  let summary = "Tensor programs as the user wrote them: one op per call.";
  let description = [{
    Every op of the library is one op here, on immutable ranked tensors whose dimensions may be
    unknown. Elementwise ops broadcast their operands as NumPy does; operands of one op have one
    dtype, promotion is an explicit `weft.cast`. Control flow is `scf` on tensors.
  }];
  let useDefaultTypePrinterParser = 1;
  let hasConstantMaterializer = 1;
  let hasOperationAttrVerify = 1;
  let hasRegionArgAttrVerify = 1;
  let hasRegionResultAttrVerify = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

class Weft_Type<string name, string typeMnemonic> : TypeDef<Weft_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Weft_VarType : Weft_Type<"Var", "var"> {
  let summary = "handle to a variable";
  let description = "A handle to a variable: state that lives between calls.";
  let parameters = (ins "::mlir::RankedTensorType":$valueType);
  let builders = [TypeBuilderWithInferredContext<(ins "::mlir::RankedTensorType":$valueType), [{
    return $_get(valueType.getContext(), valueType);
  }]>];
  let assemblyFormat = "`<` $valueType `>`";
}

def Weft_TokenType : Weft_Type<"Token", "token"> {
  let summary = "token";
  let description = "A point in the order of effects.";
}

/// A ranked tensor of the dtypes an operand admits: kinds of weft/dtypes.def, and single ones of its
/// rows. The constraint checks only that it is a tensor
/// of dtypes Weft has; that the dtype is among them is checked by the op's type inference, so
/// that eager, traced and textual programs fail with the same words. `role` says what
/// its elements are for: `value`; `index`, of which one out of range stops the call; `size`, which stands
/// in a list of sizes; `predicate`, which keeps its dtype where the others take one together; and of composites
/// `key`, likewise, which says what random numbers come.
class Weft_TensorOf<string kind, list<string> admitted, string which = "value">
    : Type<CPred<"::mlir::weft::isWeftTensor($_self)">, "ranked tensor of a dtype", "::mlir::RankedTensorType"> {
  string kindName = kind;
  list<string> admits = admitted;
  string role = which;
  bit isStream = 0; // the seed and the number of a random stream, which calls for tests draw so
}
def Weft_Any : Weft_TensorOf<"any dtype", ["boolean", "integer", "unsigned_integer", "floating", "complex", "storage"]>;
/// What is compared, and what else looks at the numbers: of any dtype that is not storage alone.
def Weft_Computable : Weft_TensorOf<"a number or bool", ["boolean", "integer", "unsigned_integer", "floating", "complex"]>;
/// What has an order, and what is rounded: complex numbers do not.
def Weft_Ordered : Weft_TensorOf<"a real number or bool", ["boolean", "integer", "unsigned_integer", "floating"]>;
def Weft_Number : Weft_TensorOf<"a real number", ["integer", "unsigned_integer", "floating"]>;
def Weft_Float : Weft_TensorOf<"floating", ["floating"]>;
/// What is added and multiplied: numbers, complex ones among them.
def Weft_Numeric : Weft_TensorOf<"a number", ["integer", "unsigned_integer", "floating", "complex"]>;
/// What quotients and functions are of.
def Weft_Inexact : Weft_TensorOf<"floating or complex", ["floating", "complex"]>;
def Weft_Complex : Weft_TensorOf<"complex", ["complex"]>;
def Weft_Integer : Weft_TensorOf<"an integer", ["integer", "unsigned_integer"]>;
/// Indices are of the two dtypes that compiled code indexes by; calls convert others.
def Weft_Index : Weft_TensorOf<"an integer", ["i32", "i64"], "index">;
/// A size that is known only when the program runs, a scalar. `Variadic<Weft_Size>` is the last operand
/// of an op whose attributes are lists that such sizes may stand in, where the list has
/// ShapedType::kDynamic; calls in C++ take both as weft::Sizes.
def Weft_Size : Weft_TensorOf<"an integer of 64 bits", ["i64"], "size">;
def Weft_Predicate : Weft_TensorOf<"bool", ["boolean"], "predicate">;
def Weft_Bool : Weft_TensorOf<"bool", ["boolean"]>;
/// Seed and number of a random stream; the shape function checks that there are two.
def Weft_Stream : Weft_TensorOf<"an integer of 64 bits", ["i64"]> {
  let isStream = 1;
}

/// Which element of a window, where any number is one or none.
def Weft_WindowPlace : Weft_TensorOf<"an integer of 32 bits", ["i32"]>;

//===----------------------------------------------------------------------===//
// Attributes, with their place in the C++ call
//===----------------------------------------------------------------------===//

// Each carries: attrKind, its enumerator of weft::AttrKind; cppType, its type in the C++ call;
// optionDefault, which if not empty makes it a field of the op's options struct with that
// initialiser, and otherwise a positional argument; what, its docstring.

class Weft_IntsAttr<string kind, string words, string default = ""> : ConfinedAttr<DenseI64ArrayAttr, []> {
  string attrKind = kind;
  string cppType = "Ints";
  string optionDefault = default;
  string what = words;
  /// Whether sizes that are operands may stand in it.
  bit takesValues = 0;
}
/// The shape of the result.
class Weft_Sizes<string words = "the sizes of the result"> : Weft_IntsAttr<"shape", words> {
  let cppType = "Sizes";
  let takesValues = 1;
}
def Weft_Permutation : Weft_IntsAttr<"permutation", "every axis of x once">;
/// An entry for each axis of x; `whole`, which may be "size", is that of an axis that stays as it is.
class Weft_PerAxis<string entry, string words> : Weft_IntsAttr<"per_axis", words> { string whole = entry; }
/// The same, where an entry may be a value.
class Weft_SizePerAxis<string entry, string words> : Weft_PerAxis<entry, words> {
  let cppType = "Sizes";
  let takesValues = 1;
}
/// Axes of the operand `x`; in C++ an option that defaults to all of them, negative ones count from
/// the end, in the IR ascending and not negative.
def Weft_Axes
    : Weft_IntsAttr<"axes", "axes of x, negative ones counted from the end; all if not given", "{}"> {
  let cppType = "Axes";
}
/// One axis of the first operand; in C++ a negative one counts from the end.
class Weft_AxisAttr<string default> : ConfinedAttr<I64Attr, []> {
  string attrKind = "axis";
  string cppType = "std::int64_t";
  string optionDefault = default;
  string what = "an axis; a negative one counts from the end";
}
def Weft_Axis : Weft_AxisAttr<"0">;
def Weft_LastAxis : Weft_AxisAttr<"-1">;
class Weft_Flag<string words> : DefaultValuedAttr<BoolAttr, "false"> {
  string attrKind = "flag";
  string cppType = "bool";
  string optionDefault = "false";
  string what = words;
}
/// How many of the leading ones are wanted; -1, the default, is all of them.
def Weft_CountOrAll : DefaultValuedAttr<I64Attr, "-1"> {
  string attrKind = "count";
  string cppType = "std::int64_t";
  string optionDefault = "-1";
  string what = "how many of the first ones; -1 for all";
}
class Weft_ValueLikeAttr<Attr attr, string kind, string type, string words> : ConfinedAttr<attr, []> {
  string attrKind = kind;
  string cppType = type;
  string optionDefault = "";
  string what = words;
}
def Weft_DTypeAttr : Weft_ValueLikeAttr<TypeAttr, "dtype", "DType", "the dtype of the result">;
def Weft_TextAttr : Weft_ValueLikeAttr<StrAttr, "text", "std::string_view", "a text">;
def Weft_ValueAttr : Weft_ValueLikeAttr<ElementsAttr, "constant", "ConstantRef", "the elements">;
/// The error of a check of sizes: "value", "index", or a ShapeError if empty.
def Weft_SizesError : DefaultValuedStrAttr<StrAttr, ""> {
  string attrKind = "text";
  string cppType = "std::string_view";
  string optionDefault = "{}";
  string what = "which error it is: value, index, or, if empty, shape";
}
def Weft_VariableAttr
    : Weft_ValueLikeAttr<FlatSymbolRefAttr, "variable", "VariableRef", "the variable">;

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

/// State of variables: reads after the last write, a write after all reads since.
def Weft_VariableResource : Resource<"::mlir::weft::VariableResource">;
/// What the world outside sees: prints, asserts and host calls, in program order.
def Weft_IoResource : Resource<"::mlir::weft::IoResource">;

/// What gives other integers where one operand is another integer and the rest stays, though they
/// wrap.
def Weft_TellsApart : NativeOpTrait<"TellsApart"> { let cppNamespace = "::mlir::weft"; }

/// What costs less to run again than its result to keep, such as an op that moves elements; the
/// reverse of a derivative does so.
def Weft_CheapToRerun : NativeOpTrait<"CheapToRerun"> { let cppNamespace = "::mlir::weft"; }
/// What stops the call where a condition does not hold.
def Weft_StopsCall : NativeOpTrait<"StopsCall"> { let cppNamespace = "::mlir::weft"; }

/// What the conversion to linalg leaves alone.
def Weft_StaysInLinalg : NativeOpTrait<"StaysInLinalg"> { let cppNamespace = "::mlir::weft"; }

/// What is one kernel on a GPU, which is built of the op and not of loops.
def Weft_IsOneKernel : NativeOpTrait<"IsOneKernel"> { let cppNamespace = "::mlir::weft"; }

/// What all ranks of a group of processes do together.
def Weft_IsCollective : NativeOpTrait<"IsCollective"> { let cppNamespace = "::mlir::weft"; }

/// What asks for a derivative, or says what one is: no program behind the phase differentiate has it.
def Weft_IsDerivative : NativeOpTrait<"IsDerivative"> { let cppNamespace = "::mlir::weft"; }
/// The result is the first operand: the op says something of it to passes before code is made.
def Weft_IsAnnotation : NativeOpTrait<"IsAnnotation"> { let cppNamespace = "::mlir::weft"; }
/// Of sums of tensors it gives the sum of what it gives of each: op(a + b, c + d) = op(a, c) + op(b, d).
def Weft_IsAdditive : NativeOpTrait<"IsAdditive"> { let cppNamespace = "::mlir::weft"; }
/// What no program behind the phase linalg has, of ops without a record in the op table.
def Weft_GoneAfterLinalg : NativeOpTrait<"GoneAfterLinalg"> { let cppNamespace = "::mlir::weft"; }
/// What no program behind the phase schedule has: it becomes branches that leave compiled code.
def Weft_GoneAfterSchedule : NativeOpTrait<"GoneAfterSchedule"> { let cppNamespace = "::mlir::weft"; }

//===----------------------------------------------------------------------===//
// The op record
//===----------------------------------------------------------------------===//

/// NumPy's name of a function that has another one here.
class Np<string word> { string name = word; }

/// A parameter that the array API or NumPy has and C++ has not, given by keyword alone in Python: its type in
/// stubs, its default, its docstring, and the function of python/src/PythonParameters.h that is given its value.
class Weft_PythonParameter<string parameter, string stub, string default, string words, string check = "check_flag"> {
  string name = parameter;
  string type = stub;
  string pythonDefault = default;
  string what = words;
  string function = check;
}
/// Another name of a parameter.
class Weft_OtherName<string parameter, string of, string stub>
    : Weft_PythonParameter<parameter, stub # " | None", "None", "another name of " # of, ""> {
  string standsFor = of;
}
def Weft_Stable : Weft_PythonParameter<"stable", "builtins.bool", "True", "without effect: equal ones always stay in their order">;
def Weft_CopiesAnyway : Weft_PythonParameter<"copy", "builtins.bool", "True", "without effect: elements of a tensor do not change">;
def Weft_CopiesIfNeeded
    : Weft_PythonParameter<"copy", "builtins.bool | None", "None", "False: an error where elements have to be copied", "check_no_copy">;
def Weft_OnDevice : Weft_PythonParameter<"device", "str | None", "None", "'cpu', the only one that there is", "check_device">;

/// What every function says that users call, whatever it is made of: for docstrings, the reference,
/// and the tests of all of them.
class Weft_Callable {
  /// In words, for docstrings and the reference: the shape of each operand ("of any shape"), shape
  /// and dtype of the result where there is one, and the errors besides those for a dtype that an
  /// operand does not admit and for what no op takes. The build fails where they are missing.
  list<string> operandShapes = ?;
  string resultShape = ?;
  string resultDType = ?;
  list<Raises> raises = ?;
  /// What happens to dtypes of a C++ call before the op: none, common (array API promotion),
  /// floating (the same, and integers and bools become f32), number (the same, and bool becomes i64), sum (the same, and
  /// then the dtype of sums), truth (bool: whether it is not 0).
  string promotion = "none";
  /// Calls on which every test of every op is run: eager against compiled, against NumPy, against
  /// finite differences. Some are of rank 0, some without elements, some on views.
  list<Sample> samples = ?;
  /// What the result is in NumPy, over the names of operands and attributes and the functions of
  /// test/Oracle/every-op.py.
  string numpy = ?;
  /// How far off each element may be, in the words of the same file: ulps(n) of the result, or
  /// sums(n), n roundings of what the expression is of absolute values. Where it is not 0, NumPy computes
  /// in a wider dtype.
  string tolerance = "0";
  /// Whether a zero has NumPy's sign.
  bit signedZeros = 1;
  /// Where it is differentiated by finite differences: any, positive, regular or definite, of matrices with larger
  /// numbers on the diagonal, which the latter makes symmetric, or nowhere, of an op whose derivative holds
  /// only as part of the functions that it is there for, which have their own tests.
  string domain = "any";
  /// "call -> value", printed in the reference and run as a test, in Python too; [..] are tensors.
  string example = "";
  /// Whether tensors have it as a method in Python, and what NumPy calls it besides.
  bit method = 0;
  list<Np> names = [];
  /// What Python takes besides.
  list<Weft_PythonParameter> pythonParameters = [];
}

/// One op of the library. weft-tblgen makes from it the C++ function, the row of the op table, the
/// scalar code, the derivative for tape and pass, the list of precompiled kernels, the conversions
/// between IR and calls, the generated tests and the page in docs/ops.
class Weft_Op<string mnemonic, list<Trait> traits = []> : Op<Weft_Dialect, mnemonic, traits>, Weft_Callable {
  /// Name of the C++ function (and enumerator); differs from the mnemonic only where C++ forces it, or where
  /// a composite has the name, which checks more.
  string cppName = mnemonic;
  /// Its name in Python; empty: it is not there.
  string pythonName = mnemonic;
  /// What the compiler must know: elementwise (scalar `body` on broadcast operands), reduction
  /// (`body` combines $acc and $x), cumulative (the same, but every step is a result), structural
  /// (code of its own), routine (a function template of the library computes it, eagerly and for compiled code),
  /// effect, collective (one that all ranks of a group have together, with a result and a derivative), ir (exists only
  /// in IR).
  string kind = "structural";
  /// Function of namespace weft::eager that executes it; empty: that of its kind (elementwise,
  /// reduction, cumulative), or one of the C++ name.
  string eagerFunction = "";
  /// Name of the shape function in lib/OpDefs, which checks operands and infers the result.
  string shapeFunction = ?;
  /// The C++ struct of its attributes by name; empty: the class name with Attrs for Op.
  string attrStruct = "";
  /// Scalar code over the vocabulary of scalar functions.
  dag body = (absent);
  /// How it is computed on complex numbers; the build stops at an op that admits them and does not say it.
  OnComplex onComplex = no_complex;
  /// For reductions and cumulative ops: the neutral element: zero, one, lowest, highest, no, yes.
  string init = "";
  /// One dag per operand over ops and saved values ($operand, $result, cotangent $d<result>).
  list<dag> vjp = [];
  /// Tangent of the result; `(from_vjp)`: each vjp dag with the operand's tangent in place of the
  /// cotangent, summed (right for elementwise ops); `(linear)`: the op itself on the tangents;
  /// `(bilinear)`: the sum over operands of the op with one operand replaced by its tangent.
  dag jvp = (from_vjp);
  /// The rule by which it is done on batches (lib/Autodiff/BatchRules.cpp); empty: once per member.
  string batching = "";
  /// For ops that compute (OpDefs/Widening.h): floats, of which 16-bit ones are computed in f32. Where the code is
  /// written by hand or large, for the large dtypes alone, also how integers of other dtypes are computed in these:
  /// ring, which wraps, order, or value; product is ring, but of bf16 the library's own. None for what takes elements as they are.
  string widening = "none";
  /// If not empty, the op has no derivative, and this says why.
  string inactive = "";
  /// Scalar operations per element of the result, a rough measure for threads; of an op with a body
  /// what the compiler's table says of it (Conversion/Cost.cpp), which cost tests see to.
  int cost = 1;
  /// Whether a call may say in which dtype it is computed, to which the operand is cast first, in place of
  /// promotion; the option `dtype`, which no op in the IR has.
  bit takesDType = 0;
  /// The user's words when the C++ signature is written by hand (variadic or effect ops).
  bit handwrittenApi = 0;
  /// Of an op with several results, a routine, what each is, in words, in place of `resultShape` and `resultDType`.
  /// If any of them has a derivative, the first has. Its rules are told a cotangent of each, zeros where there is
  /// none, and `jvp` is a rule that gives a tangent of each.
  list<string> resultWords = [];
}

/// An op without effects whose result type follows from its operands and attributes. It is not
/// computed ahead of time where it may stop the call.
class Weft_PureOp<string mnemonic, list<Trait> traits = []>
    : Weft_Op<mnemonic, traits # [NoMemoryEffect, DeclareOpInterfaceMethods<InferTypeOpInterface>,
                                  DeclareOpInterfaceMethods<ConditionallySpeculatable>]> {
  let extraClassDeclaration = [{
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual);
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *context, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      return inferResultTypes($cppClass::getOperationName(), context, location, operands,
                              attributesOf<$cppClass>(context, attributes, properties), inferred);
    }
    bool $cppClass::isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange actual) {
      return areCompatible(inferred, actual);
    }
    ::mlir::Speculation::Speculatability $cppClass::getSpeculatability() {
      return speculatabilityOf(*this);
    }
  }];
}

/// An op that a routine of the library computes: `template <class T> void NAME(const RoutineCall &)` in
/// weft::kernels::routines (lib/Kernels/Routine.h), where T is the type of the first operand's elements and NAME
/// the C++ name. The eager function, the symbols that compiled code calls, how the call is bufferized and how a
/// weft.call_into of the name is verified follow from the record. Attributes are given to the routine as integers
/// in their order; its operands may be views, and its results are written whole.
class Weft_RoutineOp<string mnemonic, list<Trait> traits = []> : Weft_PureOp<mnemonic, traits> {
  let kind = "routine";
  let widening = "floats";
}

#endif // WEFT_IR_BASE
