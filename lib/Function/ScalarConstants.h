// Programs of one function that differ in scalar constants alone share code, which takes those as
// captured tensors.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "Program/Program.h"
#include "Support/Digest.h"

namespace weft {

/// The scalar constants of a function's traces. A callable that is given a number of C++ or Python
/// is traced anew for each value of it; compiling each such program would cost thousands of times
/// what tracing does.
class ScalarConstants {
public:
  /// To be called with each program but a function's first. From the second on that equals an
  /// earlier one but for constants of one element, those which have differed so far become captured
  /// tensors: such programs have equal keys (cache::hash), and are compiled once.
  void share(Program &program);

private:
  /// Programs that are equal but for constants of one element.
  struct Family {
    std::vector<std::string> first; ///< the bytes of each constant in the first of them
    std::vector<bool> varies;       ///< whether a later one had another value there
  };
  std::map<Digest, Family> families_;
};

} // namespace weft
