// Sites: the op calls of a program by number. Compiled code names them so, because code may come
// from a cache that knows nothing of the user's source.
#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "Program/Program.h"
#include "Runtime/CallContext.h"

namespace weft {

/// One op call, or use of control flow.
struct Site {
  const Program *program;
  const ProgramNode *node;

  /// The op's name, or "cond", "call", ...
  std::string_view name() const;
  SourceLocation location() const;
  /// The function that the user called there, if it is not the op; null if it is.
  const char *function() const { return node->location.function; }
};

/// The op calls of a program, in their order, and then those of the programs that it calls, each
/// once. Equal programs (cache::hash) have equal numbers, wherever their calls stand in the source.
class Sites {
public:
  explicit Sites(const Program &program);

  const std::vector<Site> &all() const { return sites_; }
  /// The number of a program's first node; a construct comes before what is inside.
  std::size_t first(const Program &program) const { return first_.at(&program); }

private:
  void add(const Program &program, const std::vector<ProgramNode> &nodes);

  std::vector<Site> sites_;
  std::unordered_map<const Program *, std::size_t> first_;
  std::vector<const Program *> called_; ///< programs in the order of their first call
};

/// What finds the user's line when a program's code fails.
std::shared_ptr<const LocationTable> locations_of(std::shared_ptr<const Program> program);

} // namespace weft
