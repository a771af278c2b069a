#include "storage/identity/miss_reason.hpp"

namespace kvloom::storage {

const char* to_string(miss_reason reason) {
  switch (reason) {
  case miss_reason::none:
    return "none";
  case miss_reason::absent:
    return "absent";
  case miss_reason::damaged:
    return "damaged";
  case miss_reason::truncated:
    return "truncated";
  case miss_reason::foreign:
    return "foreign";
  case miss_reason::unknown_version:
    return "unknown_version";
  case miss_reason::wrong_identity:
    return "wrong_identity";
  case miss_reason::io_error:
    return "io_error";
  case miss_reason::too_large:
    return "too_large";
  case miss_reason::no_room:
    return "no_room";
  case miss_reason::no_memory:
    return "no_memory";
  case miss_reason::not_encodable:
    return "not_encodable";
  case miss_reason::cancelled:
    return "cancelled";
  }
  return "?";
}

} // namespace kvloom::storage
