// Counts the forks that lead to this process.
#include "Support/Fork.h"

#include <pthread.h>

namespace weft::forks {

namespace {

std::atomic<std::uint32_t> count{0};
alignas(std::mutex) unsigned char renewals[sizeof(std::mutex)];

std::mutex &mutex() { return *std::launder(reinterpret_cast<std::mutex *>(&renewals)); }

[[maybe_unused]] const bool registered = [] {
  new (&renewals) std::mutex;
  pthread_atfork(nullptr, nullptr, [] {
    new (&renewals) std::mutex; // the parent's may have been held
    count.fetch_add(1);
  });
  return true;
}();

} // namespace

std::uint32_t generation() noexcept { return count.load(std::memory_order_relaxed); }
void lock_renewals() { mutex().lock(); }
void unlock_renewals() { mutex().unlock(); }

} // namespace weft::forks
