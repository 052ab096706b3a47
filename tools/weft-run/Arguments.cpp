// Converts the text of an argument of weft-run into a tensor: a literal, a file, or generated
// values.
#include "Arguments.h"

#include "Import/TextLimits.h"
#include "Weft/IR/Bridge.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include <weft/io.h>
#include <weft/ops.h>
#include <weft/random.h>

namespace mlir::weft {

namespace {

[[noreturn]] void refuse(StringRef text, const std::string &why) {
  constexpr size_t shown = 100;
  throw ::weft::ValueError(
      ("argument '" + text.take_front(shown) + (text.size() > shown ? "...': " : "': ")).str() +
      why);
}

/// Keeps what the parser says of one argument, so that the error that is thrown is the only one.
class Diagnostics {
public:
  explicit Diagnostics(MLIRContext &context)
      : handler_(&context, [this](Diagnostic &diagnostic) {
          if (first_.empty()) first_ = diagnostic.str();
        }) {}
  /// The first thing said, or `otherwise` if nothing was.
  std::string orElse(const std::string &otherwise) const {
    return first_.empty() ? otherwise : first_;
  }

private:
  std::string first_;
  ScopedDiagnosticHandler handler_;
};

RankedTensorType parseTensorType(StringRef whole, StringRef text, MLIRContext &context) {
  const Diagnostics diagnostics(context);
  Type type = parseType(text.trim(), &context);
  if (!type || !isWeftTensor(type) || !cast<RankedTensorType>(type).hasStaticShape())
    refuse(whole, "after ':' stands a tensor type of known sizes, such as tensor<4x8xf32>");
  return cast<RankedTensorType>(type);
}

::weft::Tensor generate(StringRef whole, StringRef generator, RankedTensorType type) {
  const ::weft::TensorType wanted = tensorTypeOf(type);
  const ::weft::Ints shape(wanted.shape.begin(), wanted.shape.end());
  if (generator == "iota") {
    const std::int64_t count = type.getNumElements();
    return ::weft::reshape(::weft::arange(count, ::weft::i64).astype(wanted.dtype), shape);
  }
  uint64_t seed = 0;
  if (!generator.consume_front("random<") || !generator.consume_back(">") ||
      generator.getAsInteger(10, seed))
    refuse(whole, "it is no .npy file, dense<..>, random<SEED> or iota");
  const bool floating = ::weft::is_floating(wanted.dtype);
  const ::weft::Tensor values =
      ::weft::random::uniform(wanted.shape, {.seed = seed,
                                             .low = 0,
                                             .high = floating ? 1.0 : 10.0,
                                             .dtype = floating ? wanted.dtype : ::weft::f64});
  if (wanted.dtype == ::weft::boolean) return values > 5.0;
  return values.astype(wanted.dtype);
}

} // namespace

::weft::Tensor parseArgument(StringRef text, MLIRContext &context) {
  if (text.ends_with(".npy")) return ::weft::load_npy(text.str());
  if (const auto fault = faultIn(text)) refuse(text, fault->message);
  if (text.starts_with("dense")) {
    const Diagnostics diagnostics(context);
    Attribute attribute = parseAttribute(text, &context);
    auto elements = dyn_cast_or_null<DenseElementsAttr>(attribute);
    if (!elements || !isWeftTensor(elements.getType()))
      refuse(text, diagnostics.orElse("it is no literal of a tensor of " + dtypesInWords()));
    // One element may stand for more than there is memory for, which this says in Weft's words.
    if (elements.isSplat()) {
      const ::weft::TensorType type = tensorTypeOf(elements.getType());
      (void)::weft::zeros(type.shape, type.dtype);
    }
    ::weft::ConstantRef constant = constantOf(elements);
    return ::weft::visit_dtype(constant->type.dtype, [&]<class T>() {
      return ::weft::tensor(std::span<const T>(static_cast<const T *>(constant->bytes),
                                               static_cast<size_t>(elements.getNumElements())),
                            constant->type.shape);
    });
  }
  auto [generator, type] = text.split(" : ");
  if (type.empty()) {
    if (llvm::sys::fs::exists(text)) return ::weft::load_npy(text.str());
    refuse(text, "there is no such file, and it is no 'literal : type'");
  }
  return generate(text, generator.trim(), parseTensorType(text, type, context));
}

} // namespace mlir::weft
