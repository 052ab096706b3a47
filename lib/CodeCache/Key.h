// What decides whether compiled code can be used again: the program, the pipeline, the build, the
// CPU's instruction sets.
#pragma once

#include <optional>
#include <string>

#include "Program/Program.h"
#include "Support/Digest.h"

namespace weft::cache {

/// The parts of a key, apart so that a miss can be explained.
struct Key {
  Digest program{};
  std::string pipeline;
  std::string build;    ///< the build ids of libweft and libweft-compiler
  std::string features; ///< comma-separated instruction sets

  Digest digest() const;
  bool operator==(const Key &) const = default;
};

/// The content of a program without what its code does not depend on: the names of the program and
/// of its variables, and where in the user's source its ops were called.
/// `scalars` says whether the values of its constants of one element count, which they do for code.
enum class Scalars : bool { any, own };
Digest hash(const Program &program, Scalars scalars = Scalars::own);

/// The build ids that this process's compiler has or would have; nothing if they are not known.
const std::optional<std::string> &build_id();

/// The key of code for this CPU; nothing if the build is not known.
std::optional<Key> key_of(const Digest &program);

} // namespace weft::cache
