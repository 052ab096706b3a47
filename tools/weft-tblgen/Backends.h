// The generators, one function each; main.cpp names them on the command line.
#pragma once

#include "Records.h"

namespace weft::tblgen {

/// WEFT_OP(name) per op: the enumerators of OpCode.
void emitOpCodes(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The rows of lib/OpDefs/OpInfo.h.
void emitOpTable(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Who executes each op eagerly: declarations, and tables by OpCode of calls without and with
/// complex numbers.
void emitEagerTable(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The cases of planar::Formulas, one per elementwise op with a formula for complex numbers.
void emitComplexFormulas(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The cases of the pass weft-expand-complex, of ops with a function of their own for it.
void emitComplexExpansions(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// A struct of references per list of attributes.
void emitAttrStructs(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Declarations of the shape functions.
void emitShapeFunctions(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The ops that routines of the library compute: eager table and symbols for compiled code.
void emitRoutineAttrs(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
void emitRoutines(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The routines that compiled code calls for cumulative ops, one per op and dtype.
void emitCumulativeRoutines(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// How each op is done on batches: declarations, and the table by OpCode.
void emitBatchRules(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
void emitCollectives(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The functions that lower structural ops to linalg: declarations, and the cases of a TypeSwitch.
void emitLowerings(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Declarations of the public C++ functions.
void emitApiHeader(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Their definitions.
void emitApiSource(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Methods of an emitter, one per op that a rule may emit.
void emitEmitterOps(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Reverse and forward rules as templates over an emitter.
void emitDerivatives(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Builders of scalar code for the compiler.
void emitScalarBodies(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The op reference.
void emitDocs(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The examples of the records as GoogleTests.
void emitExampleTests(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Calls of the public C++ functions with drawn arguments.
void emitCallTable(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The sample calls of every op, in the words of the records.
void emitSampleTable(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The ops whose derivatives are tested on positive numbers.
void emitDomains(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The sample calls with what NumPy computes in their place.
void emitSampleJson(const llvm::RecordKeeper &records, llvm::raw_ostream &os);

/// The ops as C functions of Python, with their docstrings.
void emitPythonOps(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// What type checkers and editors read of them.

/// Declarations of the public C++ functions that are composites.
void emitUsingDeclarations(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
void emitCompositeHeader(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Their definitions.
void emitCompositeSource(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Declarations of the functions in weft::composites that compute those without a body.
void emitCompositeBodies(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// Those that have one kernel: WEFT_FUSED(name, operands, (call), dtypes..) each.
void emitFusedTable(const llvm::RecordKeeper &records, llvm::raw_ostream &os);
/// The sample calls of composites with what NumPy computes in their place.
void emitCompositeJson(const llvm::RecordKeeper &records, llvm::raw_ostream &os);

/// "ClipOptions".
std::string optionsName(const Callable &op);
bool hasOptions(const Callable &op);
/// The parameter list of the C++ function; `declaration` adds default arguments. A variadic operand
/// is a list of operands written in the call, or a span of tensors.
std::string parametersInCpp(const Callable &op, bool declaration, bool asSpan);
/// The options struct, if there are options, the docstring and the declaration.
void emitDeclaration(const Callable &op, llvm::raw_ostream &os);
/// The text of a record with its words as Python has them, dtypes behind `prefix`.
std::string inPython(llvm::StringRef text, llvm::StringRef prefix);
/// The example of a record as a doctest: the call, and below it what Python prints.
std::string pythonExample(const Callable &op);

/// The first lines of every generated file.
void emitHeader(llvm::raw_ostream &os, llvm::StringRef what);

} // namespace weft::tblgen
