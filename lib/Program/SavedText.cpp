// The text of a report on what derivatives store: a summary, a line for each value, and the total.
#include <algorithm>
#include <array>
#include <optional>

#include "Program/BytesText.h"
#include <weft/phase.h>

namespace weft {

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
  // place come last.
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
    line += " " + saved[row].place;
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
