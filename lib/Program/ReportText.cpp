// The text of reports on copies and allocations, and on what derivatives store: a summary, then a
// line for each.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string>

#include <weft/phase.h>

namespace weft {

namespace {

/// "512 B", "1.5 KiB".
std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1024) return std::to_string(bytes) + " B";
  static constexpr std::array<const char *, 4> units = {"KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  for (; value >= 1024 && unit + 1 < units.size(); ++unit) value /= 1024;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f %s", value, units[unit]);
  return text.data();
}

std::string_view kind_text(MemoryNote::Kind kind) {
  switch (kind) {
  case MemoryNote::Kind::output: return "output";
  case MemoryNote::Kind::update: return "update";
  case MemoryNote::Kind::allocation: return "allocation";
  case MemoryNote::Kind::copy: return "copy";
  }
  return "";
}

std::string counted(std::size_t count, const char *one, const char *many) {
  return std::to_string(count) + " " + (count == 1 ? one : many);
}

} // namespace

std::string MemoryNote::size_text() const {
  return bytes >= 0 ? bytes_text(bytes) : formula + " B";
}

std::size_t CompileReport::copies() const {
  return static_cast<std::size_t>(std::count_if(memory.begin(), memory.end(), [](const auto &note) {
    return note.kind == MemoryNote::Kind::copy;
  }));
}

std::string CompileReport::memory_text() const {
  std::size_t outputs = 0, in_place = 0, refused = 0, allocations = 0;
  for (const MemoryNote &note : memory) {
    outputs += note.kind == MemoryNote::Kind::output;
    allocations += note.kind == MemoryNote::Kind::allocation;
    if (note.kind == MemoryNote::Kind::update) ++(note.reason.empty() ? in_place : refused);
  }
  std::string text = counted(copies(), "copy", "copies") + ", " +
                     counted(allocations, "allocation", "allocations") + ", " +
                     counted(outputs, "output", "outputs") + "; ";
  if (in_place + refused != 0)
    text += std::to_string(in_place) + " of " +
            counted(in_place + refused, "variable", "variables") + " updated in place; ";
  text += arena_bytes == 0
              ? "no temporaries"
              : "temporaries in one block of " + bytes_text(static_cast<std::int64_t>(arena_bytes));
  text += '\n';

  // Columns: kind, size, what it is for, reason; the location comes last.
  std::vector<std::array<std::string, 4>> rows;
  std::array<std::size_t, 4> widths{};
  for (const MemoryNote &note : memory) {
    const bool is_update = note.kind == MemoryNote::Kind::update;
    rows.push_back({std::string(kind_text(note.kind)), note.size_text(), note.what,
                    is_update && note.reason.empty() ? "in place"
                    : is_update                      ? "not in place: " + note.reason
                                                     : note.reason});
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], rows.back()[i].size());
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::string line = " ";
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string padding(widths[i] - rows[row][i].size(), ' ');
      line += " " + (i == 1 ? padding + rows[row][i] : rows[row][i] + padding) + " ";
    }
    line += " " + memory[row].location;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

namespace {

std::string_view form_text(SavedNote::Form form) {
  switch (form) {
  case SavedNote::Form::value: return "value";
  case SavedNote::Form::branch: return "branch result";
  case SavedNote::Form::stack: return "stack";
  case SavedNote::Form::snapshot: return "snapshots";
  }
  return "";
}

/// Nothing if a factor is known only when the code runs.
std::optional<std::int64_t> total_of(const SavedNote &note) {
  std::int64_t total = 0;
  if (note.bytes < 0 || note.times < 0 || __builtin_mul_overflow(note.bytes, note.times, &total))
    return std::nullopt;
  return total;
}

} // namespace

std::string CompileReport::saved_text() const {
  std::string text = std::to_string(saved.size()) + (saved.size() == 1 ? " value" : " values") +
                     " stored for derivatives\n";
  // Columns: form, bytes of one, how many, what it is, its type, the function; the reason and the
  // location come last.
  constexpr std::size_t columns = 7;
  std::vector<std::array<std::string, columns>> rows;
  std::array<std::size_t, columns> widths{};
  for (const SavedNote &note : saved) {
    rows.push_back({std::string(form_text(note.form)),
                    note.bytes < 0 ? "unknown" : bytes_text(note.bytes),
                    note.times < 0    ? "x unknown"
                    : note.times == 1 ? ""
                                      : "x " + std::to_string(note.times),
                    note.what, note.type, "@" + note.function, note.reason});
    for (std::size_t i = 0; i < columns; ++i)
      widths[i] = std::max(widths[i], rows.back()[i].size());
  }
  std::int64_t total = 0;
  std::size_t open = 0;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    std::string line = " ";
    for (std::size_t i = 0; i < columns; ++i) {
      const std::string padding(widths[i] - rows[row][i].size(), ' ');
      line += " " + (i == 1 ? padding + rows[row][i] : rows[row][i] + padding) + " ";
    }
    line += " " + saved[row].location;
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
    const std::optional<std::int64_t> bytes = total_of(saved[row]);
    if (!bytes || __builtin_add_overflow(total, *bytes, &total)) ++open;
  }
  text += "  total " + bytes_text(total);
  if (open != 0)
    text += ", and " + std::to_string(open) + " of a size that is known only when it runs";
  return text + '\n';
}

} // namespace weft
