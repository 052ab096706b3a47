// Counts the layers and optimizers of each kind.
#include "NN/Names.h"

#include <map>
#include <mutex>

#include "Support/Fork.h"

namespace weft {

std::string own_name_of(const std::string &kind) {
  static forks::Mutex<std::mutex> mutex;
  static auto &counts = *new std::map<std::string, int>;
  const std::lock_guard lock(mutex);
  const int before = counts[kind]++;
  return before == 0 ? kind : kind + "_" + std::to_string(before);
}

} // namespace weft
