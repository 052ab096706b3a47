// Numbers the op calls of programs.
#include "Program/Sites.h"

namespace weft {

std::string_view Site::name() const {
  if (!node->construct) return op_info(node->op).name;
  switch (node->construct->kind) {
  case ConstructKind::branch: return "cond";
  case ConstructKind::choice: return "switch_case";
  case ConstructKind::loop: return "while_loop";
  case ConstructKind::counted: return "for_loop";
  case ConstructKind::call: return "call";
  case ConstructKind::host: return "host_call";
  case ConstructKind::record: return "call";
  case ConstructKind::pull: return "gradient";
  case ConstructKind::push: return "jvp";
  case ConstructKind::custom: return "custom_gradient";
  }
  return "?";
}

SourceLocation Site::location() const {
  const auto &[file, line, column, function] = node->location;
  if (line == 0) return {};
  return {program->files[file], line, column};
}

Sites::Sites(const Program &program) {
  called_.push_back(&program);
  first_.emplace(&program, 0);
  // NOLINTNEXTLINE(modernize-loop-convert): the list grows while it is walked
  for (std::size_t i = 0; i < called_.size(); ++i) {
    first_[called_[i]] = sites_.size();
    add(*called_[i], called_[i]->nodes);
  }
}

void Sites::add(const Program &program, const std::vector<ProgramNode> &nodes) {
  for (const ProgramNode &node : nodes) {
    sites_.push_back({&program, &node});
    if (!node.construct) continue;
    for (const ProgramRegion &region : node.construct->regions) add(program, region.nodes);
    const Program *callee = node.construct->callee.get();
    if (callee != nullptr && first_.emplace(callee, 0).second) called_.push_back(callee);
  }
}

namespace {

/// Looked at only after a failure, so nothing is kept for it but the program.
class ProgramLocations final : public LocationTable {
public:
  explicit ProgramLocations(std::shared_ptr<const Program> program)
      : program_(std::move(program)) {}

  SourceLocation location(std::int64_t site) const override {
    const Sites sites(*program_);
    return has(sites, site) ? sites.all()[static_cast<std::size_t>(site)].location()
                            : SourceLocation();
  }
  const char *function(std::int64_t site) const override {
    const Sites sites(*program_);
    return has(sites, site) ? sites.all()[static_cast<std::size_t>(site)].function() : nullptr;
  }

private:
  static bool has(const Sites &sites, std::int64_t site) {
    return site >= 0 && static_cast<std::size_t>(site) < sites.all().size();
  }

  std::shared_ptr<const Program> program_;
};

} // namespace

std::shared_ptr<const LocationTable> locations_of(std::shared_ptr<const Program> program) {
  return std::make_shared<ProgramLocations>(std::move(program));
}

} // namespace weft
