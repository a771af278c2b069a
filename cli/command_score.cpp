#include "cli/command.hpp"
#include "cli/output.hpp"
#include "report/score/score_files.hpp"

#include <fmt/format.h>

namespace kvloom::cli {

int score(const score_options& options) {
  const auto cleaning = options.cleaning == "first_line"
                            ? report::answer_cleaning::first_line
                            : report::answer_cleaning::none;
  const auto scores
      = report::score_files(options.predictions, options.golds, cleaning);
  if (!scores) return report_error(scores.error());
  if (scores->em.n == 0) {
    return report_error({errc::bad_input,
                         "no answer could be scored; the `id`s of predictions "
                         "and golds must agree",
                         options.predictions});
  }
  if (options.common.json)
    put("{}\n", scores->to_json());
  else if (!options.common.quiet)
    put("{}", scores->table());
  return 0;
}

} // namespace kvloom::cli
