#include "graphs/model/kind.hpp"

#include <utility>

namespace kvloom::graphs {

bool kind_catalogue::add(actor_kind kind) {
  std::string name = kind.name;
  return kinds_.emplace(std::move(name), std::move(kind)).second;
}

const actor_kind* kind_catalogue::find(const std::string& name) const {
  const auto found = kinds_.find(name);
  return found == kinds_.end() ? nullptr : &found->second;
}

} // namespace kvloom::graphs
