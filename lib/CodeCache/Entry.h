// One compiled program as bytes: a header that tells damage and strangers, the key, what a call
// needs to know, the object code.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "CodeCache/Key.h"
#include "Program/CompilerBackend.h"
#include "Support/Fault.h"
#include <weft/phase.h>

namespace weft::cache {

/// What the cache keeps of a compile.
struct Entry {
  Key key;
  Digest module{};          ///< of the text of phase `trace`, for `weft-cache explain`
  std::string function;     ///< the name of the function that was compiled first
  std::int64_t created = 0; ///< seconds since 1970
  double compile_ms = 0;
  std::string symbol; ///< of the entry, in the object code
  std::uint64_t arena_bytes = 0;
  std::vector<std::uint64_t> variables; ///< CompiledCode::variables
  std::vector<SavedValue> saved;        ///< CompiledCode::saved
  std::vector<MemoryNote> memory;       ///< CompileReport::memory
  std::vector<SavedNote> saved_notes;   ///< CompileReport::saved
  std::string object;                   ///< an ELF object file
};

std::string encode(const Entry &entry);
/// Bytes at the start of an entry that tell how many follow.
inline constexpr std::size_t kEntryHeader = 8 + 4 + 8 + sizeof(Digest);
/// What is wrong with a file of that many bytes that starts with these, kEntryHeader or all it has;
/// as of `decode`.
Check check_size(std::string_view start, std::uint64_t file_bytes);
/// The fault's message continues "the cache entry 3f9c... ".
Result<Entry> decode(std::string_view bytes);

/// Why code with this key may not run here, as above; nothing if it may.
Check check_key(const Key &found, const Key &wanted);

} // namespace weft::cache
