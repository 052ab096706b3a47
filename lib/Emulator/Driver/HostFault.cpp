// A handler of SIGSEGV in front of the one that was there.
#include "Emulator/Driver/HostFault.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "Emulator/Memory/AddressSpace.h"

namespace weft::emulator {
namespace {

const AddressSpace *watched = nullptr;
struct sigaction before;

void handle(int signal, siginfo_t *info, void *context) {
  const auto address = reinterpret_cast<std::uint64_t>(info->si_addr);
  if (watched->is_reserved(address)) {
    char text[128];
    const int length = std::snprintf(
        text, sizeof text, "weft-gpu-emulator: the host touches device memory at 0x%llx\n",
        static_cast<unsigned long long>(address));
    [[maybe_unused]] const ssize_t written = write(2, text, static_cast<std::size_t>(length));
  }
  if ((before.sa_flags & SA_SIGINFO) != 0 && before.sa_sigaction != nullptr)
    return before.sa_sigaction(signal, info, context);
  sigaction(signal, &before, nullptr); // the access is tried again, and has its usual end
}

} // namespace

void watch_host_faults(const AddressSpace &space) {
  if (watched != nullptr) return;
  watched = &space;
  struct sigaction action = {};
  action.sa_sigaction = &handle;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
  sigaction(SIGSEGV, &action, &before);
}

} // namespace weft::emulator
