// Reads checkpoint budgets.
#include "Support/Checkpoint.h"

#include <cctype>
#include <charconv>
#include <string>
#include <utility>

namespace weft {

namespace {

Fault fault(std::string_view text, const std::string &why) {
  return {ErrorKind::value, "the checkpoint budget \"" + std::string(text) + "\" " + why};
}

/// What stands between the brackets, a whole number from 1 on.
Result<CheckpointBudget> with_number(CheckpointBudget::Kind kind, std::string_view text,
                                     std::string_view number) {
  // What a double that is no finite number is printed as.
  std::string word(number.substr(number.starts_with('-') || number.starts_with('+') ? 1 : 0));
  for (char &letter : word)
    letter = static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  if (word == "inf" || word == "infinity" || word == "nan")
    return fault(text, "is no finite number; to keep everything, say none");
  CheckpointBudget checkpoint{kind, 0};
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), checkpoint.number);
  if (error == std::errc::result_out_of_range)
    return fault(text, "does not fit 64 bits; to keep everything, say none");
  if (error != std::errc() || end != number.data() + number.size())
    return fault(text, "needs a whole number between < and >");
  if (checkpoint.number < 1) return fault(text, "must be at least 1");
  return checkpoint;
}

} // namespace

Result<CheckpointBudget> parse_checkpoint(std::string_view text) {
  if (text.empty() || text == "none") return CheckpointBudget{};
  if (text == "sqrt") return CheckpointBudget{CheckpointBudget::Kind::sqrt, 0};
  for (const auto &[prefix, kind] : {std::pair<std::string_view, CheckpointBudget::Kind>(
                                         "binomial<", CheckpointBudget::Kind::binomial),
                                     std::pair<std::string_view, CheckpointBudget::Kind>(
                                         "bytes<", CheckpointBudget::Kind::bytes)})
    if (text.starts_with(prefix) && text.ends_with('>'))
      return with_number(kind, text, text.substr(prefix.size(), text.size() - prefix.size() - 1));
  return fault(text, "is unknown: there are none, sqrt, binomial<k> and bytes<n>");
}

} // namespace weft
