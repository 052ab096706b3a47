// Checkpoints without a manager: save, write, restore, and the latest of a folder.
#include <weft/checkpoint.h>

#include "Checkpoint/Folder.h"
#include "Checkpoint/Restore.h"
#include "Checkpoint/Snapshot.h"
#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Log.h"

namespace weft {

std::string Checkpoint::save(const std::string &folder, std::source_location where) const {
  const CallSite site(where);
  check_path("Checkpoint::save", folder);
  return write_numbered(folder, take_snapshot("Checkpoint::save", *this, {})).path;
}

void Checkpoint::write(const std::string &path, std::source_location where) const {
  const CallSite site(where);
  check_path("Checkpoint::write", path);
  Snapshot snapshot = take_snapshot("Checkpoint::write", *this, {});
  AtomicFile file(path);
  write_safetensors(file, std::move(snapshot.items), std::move(snapshot.texts));
  file.commit();
}

RestoreStatus Checkpoint::restore(const std::optional<std::string> &path,
                                  std::source_location where) const {
  const CallSite site(where);
  auto state = std::make_shared<detail::RestoreState>();
  if (path) {
    check_path("Checkpoint::restore", *path);
    state->file.emplace(*path);
    static_cast<void>(info_of(*state->file, 0));
    state->parts = parts_;
    restore_parts(*state, {.function = "Checkpoint::restore"});
  }
  return RestoreStatus(std::move(state));
}

std::optional<std::string> latest_checkpoint(const std::string &folder,
                                             std::source_location where) {
  const CallSite site(where);
  check_path("latest_checkpoint", folder);
  const std::vector<NumberedFile> files = numbered_files(folder);
  for (auto file = files.rbegin(); file != files.rend(); ++file) {
    try {
      static_cast<void>(info_of(SafetensorsFile(file->path), file->number));
      return file->path;
    } catch (const IOError &error) {
      warn_line("latest_checkpoint: passed over a broken file: " + std::string(error.message()));
    }
  }
  return std::nullopt;
}

} // namespace weft
