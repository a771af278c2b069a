#include "engine/files/json.hpp"

#include "engine/files/file_kind.hpp"

#include <cstdint>
#include <exception>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace kvloom::engine {

namespace {

constexpr int deepest = 64;

/// Stops the parser at once; caught where the parser is called.
struct refused {
  std::string reason;
};

/// Watches the parser: the keys of the objects that are open.
class key_watch {
public:
  void see(int depth, json::parse_event_t event, const json& parsed) {
    if (depth > deepest)
      throw refused{"it is nested deeper than " + std::to_string(deepest)};
    if (event == json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_.back().insert(key).second)
        throw refused{"the key " + in_quotes(key) + " occurs twice"};
    }
  }

private:
  std::vector<std::unordered_set<std::string>> open_;
};

} // namespace

result<json> parse_json_object(std::span<const std::byte> text,
                               const std::string& place,
                               const std::string& what) {
  const auto wrong = [&](const std::string& reason) {
    std::string message = what + " is not one valid JSON object: " + reason;
    if (const auto kind = describe_kind(text);
        !kind.empty() && !kind.starts_with("it looks like"))
      message += "; " + kind;
    return fail(errc::environment, message, place);
  };
  const std::string_view characters(reinterpret_cast<const char*>(text.data()),
                                    text.size());
  try {
    key_watch watch;
    // By reference: the parser copies its callback.
    auto parsed
        = json::parse(characters, [&watch](int depth, json::parse_event_t event,
                                           json& value) {
            watch.see(depth, event, value);
            return true;
          });
    if (!parsed.is_object()) return wrong("it is no object");
    return parsed;
  } catch (const refused& caught) {
    return wrong(caught.reason);
  } catch (const json::parse_error& caught) {
    return wrong("syntax error at byte " + std::to_string(caught.byte));
  } catch (const std::exception& caught) {
    return wrong(caught.what());
  }
}

} // namespace kvloom::engine
