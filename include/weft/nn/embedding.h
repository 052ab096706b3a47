// Embeddings: a vector for each of many numbers.
#pragma once

#include <cstdint>
#include <string>

#include <weft/nn/initializers.h>
#include <weft/nn/layer.h>
#include <weft/options.h>
#include <weft/variable.h>

namespace weft::nn {

class VariableMaker;

/// Options of `Embedding`.
struct EmbeddingOptions {
  VariableInitializer initializer = initializers::uniform(-0.05, 0.05);
  DType dtype = DType::f32;
  std::string name = "";
};
WEFT_OPTIONS(EmbeddingOptions, initializer, dtype, name)

/// The rows of a table that integers choose: (..) to (.., size). Gradients by the table are slices
/// of the rows that were used.
class Embedding {
public:
  /// Throws ValueError unless there is at least one row, of at least one entry.
  Embedding(std::int64_t rows, std::int64_t size, const EmbeddingOptions &options = {},
            std::source_location where = WEFT_HERE);

  /// Throws DTypeError unless x is integers, IndexError for one that is no row: in a traced
  /// function when it runs.
  Tensor operator()(const Operand &x) const;

  Variable embeddings; ///< (rows, size)

  WEFT_FIELDS(Embedding, embeddings, name_)

private:
  Embedding(const VariableMaker &make, std::int64_t rows, std::int64_t size,
            const EmbeddingOptions &options, const std::source_location &where);

  LayerName name_;
};

} // namespace weft::nn
