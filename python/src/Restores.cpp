// Which variables and parts of models have been looked for in restores that wait, and when again.
#include "Restores.h"
#include "Define.h"
#include "EmptyVisitor.h"

#include "Parts.h"
#include "Saved.h"

#include <bit>
#include <unordered_map>

#include <weft/detail/staging.h>

namespace weft::python {

namespace {

/// How often an object is looked for before it is looked for at the powers of two alone.
constexpr std::uint32_t kLooks = 8;
constexpr std::uint32_t kAttached = ~0U;

/// How often a variable was looked for, or that it is attached. Under the lock of Python.
std::unordered_map<const VariableState *, std::uint32_t> &looks() {
  static auto &looks = *new std::unordered_map<const VariableState *, std::uint32_t>;
  return looks;
}

/// Whether this thread is looking, and visits the objects that it looks for.
thread_local bool looking = false;

bool is_due(std::uint32_t &count) {
  if (looking || count == kAttached) return false;
  ++count;
  return count <= kLooks || std::has_single_bit(count);
}

/// Notes the variables of a structure as attached, and whether there are others than before.
struct Marker final : EmptyVisitor {
  bool others = false;

  void variable(Variable &variable) override {
    std::uint32_t &count = looks()[variable.state().get()];
    others = others || count != kAttached;
    count = kAttached;
  }
};

/// Whether parts hold variables that no restore has seen attached; these are noted.
bool hold_others(const nb::list &parts) {
  Marker marker;
  for (const nb::handle part : parts) {
    const PythonParts visited(part);
    visited.weft_visit(marker);
  }
  return marker.others;
}

/// Restores into parts what they have come to hold; whether the file has more.
bool restore_more(nb::handle_t<BoundStatus> status, nb::handle_t<SavedParts> saved) {
  auto &of = nb::cast<BoundStatus &>(status);
  auto &parts = nb::cast<SavedParts &>(saved);
  weft::detail::run_eagerly([&] { of.restore_into(parts.parts()); });
  parts.write_back();
  return !of.unused().empty();
}

/// Looks for what is attached by now; `all` of it, or only if variables are that were not.
void look(bool all) {
  if (waiting_restores == 0 || looking) return;
  struct Scope {
    Scope() { looking = true; }
    ~Scope() { looking = false; }
  } const scope;
  nb::module_::import_("weft._restores").attr("look")(all);
}

} // namespace

void restore_attached() { look(/*all=*/true); }

void look_for(const Variable &variable) {
  if (is_due(looks()[variable.state().get()])) look(/*all=*/false);
}

void look_for(Visitable &part) {
  if (part.restore_seen != waiting_restores) {
    part.restore_seen = waiting_restores;
    part.restore_looks = 0;
  }
  if (is_due(part.restore_looks)) look(/*all=*/false);
}

void mark_attached(Visitable &part) {
  if (!looking) return;
  part.restore_seen = waiting_restores;
  part.restore_looks = kAttached;
}

void forget_restored(const VariableState *variable) { looks().erase(variable); }

void define_restores(nb::module_ &module) {
  // `count` is how many restores were begun to wait, or 0 if none does any more.
  define(module, "internal_set_waiting_restores(count)", [](std::uint32_t count) {
    waiting_restores = count;
    looks().clear();
  });
  define(module, "internal_restore_attached", [] { restore_attached(); });
  define<hold_others>(module, "internal_hold_others(parts)");
  define<restore_more>(module, "internal_restore_more(status, saved)");
  define(module, "internal_share_status(of)",
         [](const BoundStatus &of) { return BoundStatus(of.shared()); });
}

} // namespace weft::python
