// Embeddings: their table and their call.
#include <weft/nn/embedding.h>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include <weft/ops.h>

namespace weft::nn {

Embedding::Embedding(std::int64_t rows, std::int64_t size, const EmbeddingOptions &options,
                     std::source_location where)
    : Embedding(VariableMaker("Embedding", options.name), rows, size, options, where) {}

Embedding::Embedding(const VariableMaker &make, std::int64_t rows, std::int64_t size,
                     const EmbeddingOptions &options, const std::source_location &where)
    : embeddings(make("embeddings", options.dtype, options.initializer)),
      name_("Embedding", options.name) {
  const LayerCall site(name_, where);
  check_at_least_one(name_, "row", rows);
  check_size(name_, "size", size);
  check_variable(name_, "table", {rows, size});
  embeddings.initialize({rows, size});
}

Tensor Embedding::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = x.materialize();
  if (!is_integer(value.dtype()))
    throw DTypeError(site.prefix() + "x must be integers, but is " +
                     to_string(detail::type_of(value)));
  return site.result(gather(site.weight(embeddings), value));
}

} // namespace weft::nn
