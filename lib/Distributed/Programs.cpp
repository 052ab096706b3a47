// What ranks do whose programs have different schedules: they tell each other, and say where these
// begin to differ.
#include <algorithm>
#include <cstring>

#include "Distributed/Call.h"
#include "Program/Ranks.h"
#include "Support/Fault.h"

namespace weft::distributed {

void Call::compare_programs() {
  std::string own;
  if (const RanksSchedule *schedule = RanksScope::current(); schedule != nullptr)
    for (const std::string &line : schedule->lines) own += line + "\n";
  struct Size {
    std::uint64_t bytes;
  };
  auto *const sizes =
      reinterpret_cast<Size *>(room(sizeof(Size) * static_cast<std::size_t>(size())));
  const auto at = [](int rank) { return static_cast<std::size_t>(rank); };
  sizes[at(rank())] = {own.size()};
  for (const int other : others()) recv(other, &sizes[at(other)], sizeof(Size));
  for (const int other : others()) send(other, &sizes[at(rank())], sizeof(Size));
  wait_all();
  std::byte *const mine = room(own.size());
  std::memcpy(mine, own.data(), own.size());
  std::vector<std::byte *> texts(at(size()));
  texts[at(rank())] = mine;
  for (const int other : others())
    recv(other, texts[at(other)] = room(sizes[at(other)].bytes), sizes[at(other)].bytes);
  for (const int other : others()) send(other, mine, own.size());
  wait_all();
  std::vector<std::vector<std::string_view>> lines;
  for (int i = 0; i < size(); ++i) {
    std::string_view text(reinterpret_cast<const char *>(texts[at(i)]), sizes[at(i)].bytes);
    lines.emplace_back();
    for (; !text.empty(); text.remove_prefix(text.find('\n') + 1))
      lines.back().push_back(text.substr(0, text.find('\n')));
  }
  // All ranks have the same texts, and so throw the same.
  int first = 0;
  while (lines[at(first)].empty()) ++first;
  const auto line_of = [&](int rank, std::size_t i) {
    const auto &all = lines[at(rank)];
    return i < all.size() ? std::string(all[i].substr(all[i].find_first_not_of(' ')))
                          : std::string("no more");
  };
  for (int other = first + 1; other < size(); ++other) {
    if (lines[at(other)].empty()) continue;
    const std::size_t most = std::max(lines[at(first)].size(), lines[at(other)].size());
    for (std::size_t i = 0; i < most; ++i) {
      const std::string a = line_of(first, i), b = line_of(other, i);
      if (RanksSchedule::without_place(a) == RanksSchedule::without_place(b)) continue;
      raise(ErrorKind::state, std::string(function_) +
                                  ": the programs of the ranks differ: of what they do together, "
                                  "rank " +
                                  std::to_string(first) + " has " + a + " and rank " +
                                  std::to_string(other) + " " + b);
    }
  }
}

} // namespace weft::distributed
