// The one file that knows which version of CAF this is; nothing else tests it.
// Interfaces are written in the form of 0.18 and later.
#pragma once

#include <caf/actor_system_config.hpp>
#include <caf/config.hpp>
#include <caf/replies_to.hpp>
#include <caf/result.hpp>
#include <caf/typed_actor.hpp>

#include <string>

#if CAF_VERSION >= 1800
  #error "port this file to CAF 0.18: see the comments beside each alias"
#endif

namespace kvloom::actors {

/// result<R>(A...) to replies_to/reacts_to. From 0.18 on: the type itself.
template <class Signature>
struct signature_of;

template <class R, class... A>
struct signature_of<caf::result<R>(A...)> {
  using type = typename caf::replies_to<A...>::template with<R>;
};

template <class... A>
struct signature_of<caf::result<void>(A...)> {
  using type = caf::reacts_to<A...>;
};

/// A typed interface. From 0.18 on: caf::typed_actor<Signatures...>.
template <class... Signatures>
using typed_interface
    = caf::typed_actor<typename signature_of<Signatures>::type...>;

/// The union of interfaces.
template <class First, class... More>
using joined_interface = typename First::template extend_with<More...>;

/// `scheduler.max-threads` as this version spells it (from 0.18 on with
/// `caf.` in front; 0.17 ignores that spelling with no error).
inline std::string config_key(const std::string& name) {
  return name;
}

} // namespace kvloom::actors
