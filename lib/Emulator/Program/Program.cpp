// Modules as wholes.
#include "Emulator/Program/Program.h"

#include <charconv>

#include "Emulator/Program/Decoder.h"
#include "Emulator/Ptx/Parser.h"

namespace weft::emulator {

SourceText::SourceText(std::string text) : text_(std::move(text)) {
  begins_.push_back(0);
  for (std::size_t i = 0; i < text_.size(); ++i)
    if (text_[i] == '\n') begins_.push_back(i + 1);
}

std::string_view SourceText::line(std::uint32_t number) const {
  if (number == 0 || number > begins_.size()) return {};
  std::string_view rest = std::string_view(text_).substr(begins_[number - 1]);
  rest = rest.substr(0, rest.find('\n'));
  const std::size_t begin = rest.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return rest.substr(begin, rest.find_last_not_of(" \t\r") - begin + 1);
}

std::unique_ptr<Program> load_program(std::string_view text, const PlaceGlobal &place) {
  const auto source = std::make_shared<SourceText>(std::string(text));
  const ptx::Module module = ptx::parse(source->text());
  auto program = std::make_unique<Program>();
  program->target = module.target;
  program->version = 10 * module.major + module.minor;
  std::map<std::string_view, std::uint64_t> addresses;
  for (const ptx::Variable &variable : module.variables) {
    if (variable.space != ptx::Space::global && variable.space != ptx::Space::constant) continue;
    if (variable.external)
      throw ptx::SyntaxError(variable.line, "the variable " + std::string(variable.name) +
                                                " is in no module that is linked with this one");
    const std::uint64_t address = place(variable.size, variable.initial);
    addresses[variable.name] = address;
    program->globals[std::string(variable.name)] = {address, variable.size};
  }
  for (const ptx::Function &function : module.functions) {
    if (!function.entry) {
      if (function.declared_only) continue; // calling it is an error
      throw ptx::SyntaxError(function.line, "functions that are no kernels are not known");
    }
    if (function.declared_only)
      throw ptx::SyntaxError(function.line,
                             "the kernel " + std::string(function.name) + " has no body");
    auto kernel = std::make_unique<Kernel>(Decoder(module, function, source, addresses).decode());
    if (!program->kernels.emplace(kernel->name, std::move(kernel)).second)
      throw ptx::SyntaxError(function.line,
                             "the kernel " + std::string(function.name) + " stands twice");
  }
  return program;
}

bool can_run(int chip, std::string_view target) {
  if (!target.starts_with("sm_")) return false;
  target.remove_prefix(3);
  int wanted = 0;
  const auto [end, error] = std::from_chars(target.begin(), target.end(), wanted);
  if (error != std::errc()) return false;
  const std::string_view suffix(end, static_cast<std::size_t>(target.end() - end));
  if (suffix.empty()) return wanted <= chip;
  // sm_90a is for that chip alone, sm_100f for its family.
  if (suffix == "a") return wanted == chip;
  return suffix == "f" && wanted <= chip && wanted / 10 == chip / 10;
}

} // namespace weft::emulator
