#include "core/base/result.hpp"

namespace kvloom {

std::string to_string(const error& what) {
  if (what.place.empty()) return what.message;
  return what.place + ": " + what.message;
}

const char* to_string(errc code) {
  switch (code) {
  case errc::bad_input:
    return "bad_input";
  case errc::environment:
    return "environment";
  case errc::request_failed:
    return "request_failed";
  case errc::deadline:
    return "deadline";
  case errc::cancelled:
    return "cancelled";
  case errc::internal:
    return "internal";
  }
  return "internal";
}

int exit_code(errc code) {
  switch (code) {
  case errc::bad_input:
    return 2;
  case errc::request_failed:
  case errc::deadline:
  case errc::cancelled:
    return 1;
  case errc::environment:
  case errc::internal:
    return 3;
  }
  return 3;
}

} // namespace kvloom
