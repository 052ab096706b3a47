// Compiles such code, and names what its numbers stand for.
#include "Function/ProfiledCode.h"

#include <algorithm>
#include <charconv>

#include "Support/CallSite.h"

namespace weft {

namespace {
/// Ops that a loop is called by; those beyond are dots.
constexpr std::size_t kMostNames = 8;
} // namespace

const CompiledCode *ProfiledCode::code(const CompiledCode &plain) {
  if (plain.profiled == nullptr) return nullptr;
  const forks::Delay whole;
  std::call_once(compiled_, [&] {
    const profile::Scope scope(profile::Kind::compile,
                               std::string_view("for the profile: " + program_->name));
    sites_.emplace(*program_);
    code_ = plain.profiled(*program_);
  });
  return &*code_;
}

profile::Label ProfiledCode::label(std::string_view sites) const {
  const std::lock_guard lock(mutex_);
  const auto [found, fresh] = labels_.try_emplace(sites.data());
  profile::Label &label = found->second;
  if (!fresh) return label;
  std::vector<std::string_view> names;
  for (const char *at = sites.data(), *end = at + sites.size(); at < end;) {
    std::size_t number = 0;
    at = std::from_chars(at, end, number).ptr + 1; // and the blank
    if (number >= sites_->all().size()) continue;
    const Site &site = sites_->all()[number];
    if (std::ranges::find(names, site.name()) == names.end()) names.push_back(site.name());
    const SourceLocation location = site.location();
    if (label.file != nullptr || !location.known()) continue;
    label.file = profile::kept(location.file);
    label.line = location.line;
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i)
    text += (i == 0 ? "" : " ") + std::string(names[i]);
  if (names.size() > kMostNames) text += " ..";
  label.name = profile::kept(text.empty() ? "loop" : text);
  return label;
}

} // namespace weft
