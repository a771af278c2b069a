#include "actors/wiring/registry.hpp"
#include "cli/command.hpp"
#include "cli/output.hpp"
#include "graphs/check/load_run.hpp"

#include <fmt/format.h>

#include <fstream>

namespace kvloom::cli {

int graph(const graph_options& options) {
  actors::node_registry nodes;
  actors::register_builtin_nodes(nodes);
  auto plan
      = graphs::load_run({options.file, options.set, kvloom_environment()},
                         actors::kinds_of(nodes));
  if (!plan) return report_error(configs::to_error(plan.error()));
  const auto& wiring = plan->wiring;
  const auto picture = options.format == "svg"   ? graphs::draw_svg(wiring)
                       : options.format == "dot" ? graphs::draw_dot(wiring)
                                                 : graphs::draw_text(wiring);
  if (options.out.empty()) {
    put_text(picture);
    return 0;
  }
  std::ofstream out(options.out, std::ios::binary);
  out << picture;
  out.close();
  if (!out) {
    return report_error({errc::environment,
                         "cannot be written; name a file in a folder that "
                         "exists and may be written",
                         options.out});
  }
  return 0;
}

} // namespace kvloom::cli
