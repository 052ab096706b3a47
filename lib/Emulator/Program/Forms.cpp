// The forms by name, and the choice of the machine code that this processor runs.
#include "Emulator/Program/Forms.h"

#include <utility>

#include "Emulator/Instructions/Families.h"

namespace weft::emulator {

void FormTable::add(std::initializer_list<std::string_view> parts, Handler run,
                    std::string_view signature, std::uint32_t mode) {
  std::string name;
  for (const std::string_view part : parts) {
    if (part.empty()) continue;
    if (!name.empty()) name += '.';
    name += part;
  }
  forms_.insert_or_assign(std::move(name), Form{run, signature, mode});
}

const Form *FormTable::find(std::string_view opcode) const {
  const auto found = forms_.find(opcode);
  return found == forms_.end() ? nullptr : &found->second;
}

const FormTable &forms() {
  static const FormTable &table = *[] {
    auto *made = new FormTable;
    __builtin_cpu_init();
    if (__builtin_cpu_supports("x86-64-v4")) v4::add_all(*made);
    else if (__builtin_cpu_supports("x86-64-v3")) v3::add_all(*made);
    else v2::add_all(*made);
    return made;
  }();
  return table;
}

} // namespace weft::emulator
