#include "graphs/check/parameters.hpp"

#include "configs/read/section.hpp"
#include "configs/read/value.hpp"
#include "configs/schema/describe.hpp"
#include "configs/schema/nearest.hpp"
#include "configs/schema/quote.hpp"

#include <system_error>
#include <utility>

namespace kvloom::graphs {

using configs::origin_layer;
using configs::param_spec;
using configs::param_value;
using configs::shown;

namespace {

std::string absolute_path(const std::string& text,
                          const std::filesystem::path& folder) {
  if (text.empty()) return text;
  std::error_code code;
  const auto whole = std::filesystem::absolute(folder / text, code);
  return code ? text : whole.lexically_normal().string();
}

} // namespace

void parameter_book::declare(parameter_owner owner) {
  ledger fresh;
  fresh.owner = std::move(owner);
  if (fresh.owner.specs != nullptr)
    for (const param_spec& spec : *fresh.owner.specs)
      if (spec.fallback)
        fresh.values.set(spec.name, {*spec.fallback, {}, spec.type});
  std::string name = fresh.owner.name;
  accounts_.emplace(std::move(name), std::move(fresh));
}

void parameter_book::store(ledger& to, const param_spec& spec,
                           param_value value, origin_layer layer,
                           std::string place,
                           const std::filesystem::path& folder) {
  if (spec.type == configs::param_type::path)
    value = absolute_path(std::get<std::string>(value), folder);
  to.values.set(spec.name,
                {std::move(value), {layer, std::move(place)}, spec.type});
}

void parameter_book::apply_mapping(const std::string& owner,
                                   const configs::yaml_node& node,
                                   origin_layer layer,
                                   const std::filesystem::path& folder,
                                   bool partial) {
  ledger& to = accounts_.at(owner);
  if (to.owner.specs == nullptr) return;
  const auto& specs = *to.owner.specs;
  if (!partial)
    configs::refuse_unknown_keys(node, to.owner.key_path,
                                 configs::names_of(specs), problems_);
  for (const configs::yaml_entry& entry : node.entries) {
    const param_spec* spec = configs::find_spec(specs, entry.key);
    if (spec == nullptr) continue;
    to.tried.insert(spec->name);
    auto value = configs::read_value(
        *spec, *entry.value, configs::join_path(to.owner.key_path, spec->name),
        problems_);
    if (value)
      store(to, *spec, std::move(*value), layer, to_string(entry.value->place),
            folder);
  }
}

const param_spec* parameter_book::find(const std::string& owner,
                                       const std::string& name,
                                       const configs::source_place& place,
                                       const std::string& key_path) {
  const auto account = accounts_.find(owner);
  if (account == accounts_.end()) {
    std::vector<std::string> known;
    for (const auto& [other, ignored] : accounts_)
      if (!other.empty()) known.push_back(other);
    problems_.push_back({place, key_path,
                         "unknown actor or section " + shown(owner)
                             + configs::hint(owner, "known", known)});
    return nullptr;
  }
  const auto* specs = account->second.owner.specs;
  if (specs == nullptr) return nullptr;
  const param_spec* spec = configs::find_spec(*specs, name);
  if (spec == nullptr)
    problems_.push_back(
        {place, key_path,
         "unknown parameter " + shown(name)
             + (owner.empty() ? std::string() : " of " + shown(owner))
             + configs::hint(name, "known parameters",
                             configs::names_of(*specs))});
  return spec;
}

void parameter_book::apply_setting(const written_setting& setting,
                                   const std::filesystem::path& folder) {
  const param_spec* spec
      = find(setting.owner, setting.name, setting.key_place, setting.key_path);
  if (spec == nullptr) return;
  ledger& to = accounts_.at(setting.owner);
  to.tried.insert(spec->name);
  auto value
      = configs::read_value(*spec, *setting.value, setting.key_path, problems_);
  if (value)
    store(to, *spec, std::move(*value), origin_layer::experiment,
          to_string(setting.value->place), folder);
}

void parameter_book::apply_text(const configs::override_text& given,
                                origin_layer layer,
                                const std::filesystem::path& folder) {
  configs::source_place place = given.place;
  const std::string path = configs::join_path(given.owner, given.name);
  place.column = 1;
  const param_spec* spec = find(given.owner, given.name, place, path);
  if (spec == nullptr) return;
  ledger& to = accounts_.at(given.owner);
  to.tried.insert(spec->name);
  auto value = configs::read_value_text(*spec, given.text);
  if (!value) {
    place.column = given.value_column + static_cast<int>(value.error().column);
    problems_.push_back({place, path, value.error().message});
    return;
  }
  store(to, *spec, std::move(*value), layer, given.place.file, folder);
}

void parameter_book::check_missing() {
  for (const auto& [name, account] : accounts_) {
    if (account.owner.specs == nullptr) continue;
    for (const param_spec& spec : *account.owner.specs) {
      const bool given = account.values.has(spec.name)
                         || account.tried.count(spec.name) != 0;
      if (given || spec.optional) continue;
      problems_.push_back(
          {account.owner.place, account.owner.key_path,
           "the parameter " + shown(spec.name) + " is missing, wanted "
               + describe(spec)
               + (spec.help.empty() ? std::string() : ": " + spec.help)});
    }
  }
}

std::vector<std::string> parameter_book::targets() const {
  std::vector<std::string> out;
  for (const auto& [name, account] : accounts_)
    if (account.owner.specs != nullptr)
      for (const param_spec& spec : *account.owner.specs)
        out.push_back(configs::join_path(name, spec.name));
  return out;
}

configs::resolved_params& parameter_book::of(const std::string& owner) {
  return accounts_.at(owner).values;
}

} // namespace kvloom::graphs
