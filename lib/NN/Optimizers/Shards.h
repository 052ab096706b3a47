// The state of an optimizer cut over the ranks of a group: which elements of each variable a rank
// has, and how ranks give each other what they have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <weft/distributed.h>

namespace weft::optimizers::detail {

/// A run of elements of a variable, in row-major order.
struct Piece {
  std::int64_t begin = 0, end = 0;
  std::int64_t size() const { return end - begin; }
  bool operator==(const Piece &) const = default;
};

/// All variables one behind the other, wide dtypes first, so that all elements are aligned, in runs
/// of whole variables of at least `kRunBytes`, if there are as many. Each run is cut into as many
/// parts as there are ranks, as equal as elements allow: so that all ranks have parts of each
/// layer, and none waits for all of it where layers come one after the other.
class Cut {
public:
  static constexpr std::int64_t kRunBytes = std::int64_t{1} << 18;
  struct Sized {
    std::int64_t elements;
    std::size_t item_size;
  };
  /// Of each variable a rank has equally many elements instead, and of the last ones fewer, if
  /// `each_alone`: what of it travels alone has its place without the others.
  Cut(std::vector<Sized> variables, int ranks, bool each_alone);

  /// Which elements of a variable are a rank's; maybe none.
  Piece piece(std::size_t variable, int rank) const;
  /// The numbers of the variables, in the order in which they stand.
  const std::vector<std::size_t> &order() const { return order_; }

private:
  static std::int64_t bytes_of(const Sized &variable) {
    return variable.elements * static_cast<std::int64_t>(variable.item_size);
  }
  /// Where a variable stands: in which run, and how many bytes behind its begin.
  struct Place {
    std::size_t run;
    std::int64_t begin;
  };
  std::vector<Sized> variables_;
  std::vector<std::size_t> order_;
  std::vector<Place> places_;
  std::vector<std::int64_t> runs_; ///< their bytes
  int ranks_;
  bool each_alone_;
};

/// Who has the parts of a state.
struct Shards {
  distributed::Group group;
  int rank, ranks;
  bool weights;           ///< whether these are cut too
  std::optional<Cut> cut; ///< none until all variables have values
};

/// A variable that ranks have the parts of, and this rank's part, contiguous on the host.
struct OwnPart {
  std::size_t variable; ///< its number in the cut
  DType dtype;
  Shape shape;
  Tensor part;
};

/// Gives all ranks the whole of these, in their order. All ranks have parts of the same ones.
/// Throws what collectives throw, naming `function`, which lives for ever.
std::vector<Tensor> gather_parts(const char *function, const Shards &shards,
                                 const std::vector<OwnPart> &own, const char *what,
                                 const std::source_location &where);

struct Entry;
struct OptimizerState;

/// Throws ValueError, naming it, unless parts of variables can be updated as whole ones are, of
/// whole gradients, or of parts of them.
void check_may_shard(const OptimizerState &state, bool parts_of_gradients = false);

/// Cuts the state, and weights with it if that is wanted, over the ranks of a group, by default the
/// world, also where it keeps nothing for variables. Throws StateError if it is cut over other
/// ranks.
void shard(OptimizerState &state, const distributed::Group &group, bool weights,
           const std::source_location &where);
/// Keeps a rank's part of a weight, which has a value, in place of that.
void cut_weight(const Variable &weight, const Piece &own, const Shards &over);

/// As long as it lives, gradients that the optimizer is given are this rank's parts of them, of one
/// dimension; its state is cut.
class PartsOfGradients {
public:
  explicit PartsOfGradients(OptimizerState &state);
  ~PartsOfGradients();
  PartsOfGradients(const PartsOfGradients &) = delete;
  PartsOfGradients &operator=(const PartsOfGradients &) = delete;

private:
  OptimizerState &state_;
};
/// These elements of a tensor, contiguous and of memory of their own, of one dimension.
Tensor part_of(const Tensor &whole, const Piece &piece);
/// Gives the weights the values that ranks have the parts of: `parts` are this rank's, undefined
/// for a weight that keeps its value on all ranks. Of those that are cut nothing is sent. Throws as
/// gather_parts, before anything is changed.
void assign_parts(const OptimizerState &state, const std::vector<std::shared_ptr<Entry>> &entries,
                  const std::vector<Tensor> &parts, const char *what,
                  const std::source_location &where);
/// Exchanges weights and their averages, of which ranks have parts.
void swap_parts(const OptimizerState &state, const std::vector<std::shared_ptr<Entry>> &entries,
                const std::source_location &where);
/// This rank's part of a weight, of memory of its own; of those that are cut nothing is sent.
Tensor own_part_of(const Entry &entry);
/// What `own_part_of` gives from now on, of a weight that is cut.
void keep_own_part(const Entry &entry, const Tensor &part);

} // namespace weft::optimizers::detail
