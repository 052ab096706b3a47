// A folder of numbered checkpoints.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "Checkpoint/Snapshot.h"
#include <weft/safetensors.h>

namespace weft {

struct NumberedFile {
  std::int64_t number;
  std::string path;
};

/// The numbered files of a folder, ascending; none if there is no such folder. Throws IOError.
std::vector<NumberedFile> numbered_files(const std::string &folder);

/// Writes the file of the next free number, having made the folder, and returns it; maybe beside
/// others who want the processors, see write_safetensors. Throws IOError.
NumberedFile write_numbered(const std::string &folder, Snapshot snapshot,
                            bool beside_others = false);

/// Removes a file so that no other process finds half of it. One that is gone already is no fault.
/// Throws IOError.
void remove_numbered(const std::string &path);

/// Removes temporary files of writers that are no more, if they have been there for a minute: for
/// an hour where the disk has no locks.
void remove_leftovers(const std::string &folder);

/// What a file says of itself. Throws IOError if it is no checkpoint of a version that is known.
CheckpointInfo info_of(const SafetensorsFile &file, std::int64_t number);

} // namespace weft
