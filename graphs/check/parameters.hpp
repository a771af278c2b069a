// The layers of values merged: default < graph < experiment < environment <
// command line, each value with its origin.
#pragma once

#include "configs/read/override_text.hpp"
#include "configs/read/yaml_tree.hpp"
#include "configs/schema/diagnostic.hpp"
#include "configs/schema/param.hpp"
#include "graphs/check/experiment_file.hpp"

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace kvloom::graphs {

/// Whoever has parameters: an actor, `model`, `prompt`, or the run itself
/// (empty name).
struct parameter_owner {
  std::string name;
  std::string key_path;        ///< actors.retriever.params
  configs::source_place place; ///< where a missing parameter is reported
  const std::vector<configs::param_spec>* specs = nullptr; ///< null: unknown
};

/// Collects values layer by layer; call the layers in their order. Paths
/// become absolute: against `folder`, the place of whoever names them.
class parameter_book {
public:
  explicit parameter_book(configs::diagnostics& problems)
      : problems_(problems) {}

  /// Adds an owner with its defaults. Without specs (its type is unknown,
  /// which is reported elsewhere) settings for it are passed over.
  void declare(parameter_owner owner);

  /// A mapping of parameters of one owner; keys that only `owner` knows are
  /// taken, all others are reported unless `partial`.
  void apply_mapping(const std::string& owner, const configs::yaml_node& node,
                     configs::origin_layer layer,
                     const std::filesystem::path& folder, bool partial = false);

  void apply_setting(const written_setting& setting,
                     const std::filesystem::path& folder);

  void apply_text(const configs::override_text& given,
                  configs::origin_layer layer,
                  const std::filesystem::path& folder);

  /// Reports every parameter that must be given and was not.
  void check_missing();

  /// `owner.name` of every parameter; `name` for the run's own.
  std::vector<std::string> targets() const;

  configs::resolved_params& of(const std::string& owner);

private:
  struct ledger {
    parameter_owner owner;
    configs::resolved_params values;
    std::set<std::string> tried; ///< given, rightly or not
  };

  /// The declaration of a target, or null with the problem reported.
  const configs::param_spec* find(const std::string& owner,
                                  const std::string& name,
                                  const configs::source_place& place,
                                  const std::string& key_path);
  void store(ledger& to, const configs::param_spec& spec,
             configs::param_value value, configs::origin_layer layer,
             std::string place, const std::filesystem::path& folder);

  configs::diagnostics& problems_;
  std::map<std::string, ledger> accounts_;
};

} // namespace kvloom::graphs
