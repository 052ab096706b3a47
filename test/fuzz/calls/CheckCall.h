// One drawn call, run eagerly and in compiled functions or on a device, and what must agree.
#pragma once

#include <cstdint>
#include <set>
#include <string>

namespace weft::fuzz {

struct CallVerdict {
  std::string fault;    ///< empty if all is well: what kind of thing went wrong, without numbers
  std::string call;     ///< "sum(x = tensor(...), axes = (0,))"
  std::string detail;   ///< what each way gave
  int arguments = 0;    ///< how many were drawn
  bool refused = false; ///< whether the call was wrong, and every way said so
};

/// Makes call `seed` of all entries, or of those whose name has `only` in it. Throws nothing; may
/// crash or hang, which is what is looked for. With a `device` the call and its gradients are
/// compared with the same there, else with compiled ones.
CallVerdict check_call(std::uint64_t seed, const std::string &only, const std::set<int> &plain,
                       const std::string &device);

/// The call alone, run nowhere.
std::string call_name(std::uint64_t seed, const std::string &only);

} // namespace weft::fuzz
