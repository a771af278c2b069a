#include "engine/tokenizer/regex.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include "engine/tokenizer/regex_dialect.hpp"
#include "engine/tokenizer/unicode.hpp"

#include <pcre2.h>

namespace kvloom::engine {

namespace {

/// Bounds of one match; backtracking beyond them is an error, not a hang.
constexpr std::uint32_t match_limit = 50'000'000;
constexpr std::uint32_t heap_limit_kib = 256 * 1024;

/// What a thread needs to match, made once a thread.
struct match_room {
  pcre2_match_data* found = pcre2_match_data_create(16, nullptr);
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack
      = pcre2_jit_stack_create(32 * 1024, 1024 * 1024, nullptr);

  match_room() {
    if (context == nullptr) return;
    pcre2_set_match_limit(context, match_limit);
    pcre2_set_heap_limit(context, heap_limit_kib);
    if (stack != nullptr) pcre2_jit_stack_assign(context, nullptr, stack);
  }
  match_room(const match_room&) = delete;
  match_room& operator=(const match_room&) = delete;
  ~match_room() {
    pcre2_match_data_free(found);
    pcre2_match_context_free(context);
    pcre2_jit_stack_free(stack);
  }
};

std::string message_of(int code) {
  PCRE2_UCHAR buffer[160] = {};
  pcre2_get_error_message(code, buffer, sizeof buffer);
  return reinterpret_cast<const char*>(buffer);
}

} // namespace

struct regex::code {
  pcre2_code* compiled = nullptr;
  std::string source;
  bool jit = false;

  code() = default;
  code(const code&) = delete;
  code& operator=(const code&) = delete;
  ~code() { pcre2_code_free(compiled); }
};

regex::regex(std::shared_ptr<const code> compiled)
    : code_(std::move(compiled)) {}

result<regex> regex::compile(std::string_view pattern) {
  auto translated = to_pcre2(pattern);
  if (!translated) return pass_on(translated);
  auto made = std::make_shared<code>();
  made->source = std::string(pattern);
  auto* settings = pcre2_compile_context_create(nullptr);
  if (settings != nullptr) pcre2_set_newline(settings, PCRE2_NEWLINE_LF);
  int why = 0;
  PCRE2_SIZE offset = 0;
  made->compiled = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(translated->data()), translated->size(),
      PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &why,
      &offset, settings);
  pcre2_compile_context_free(settings);
  if (made->compiled == nullptr)
    return fail(errc::bad_input,
                "regular expression `" + made->source + "` cannot be compiled: "
                    + message_of(why) + " (at offset " + std::to_string(offset)
                    + " of `" + *translated + "`)");
  made->jit = pcre2_jit_compile(made->compiled, PCRE2_JIT_COMPLETE) == 0;
  return regex(std::move(made));
}

result<bool> regex::next(std::string_view text, std::size_t from,
                         byte_range& found) const {
  thread_local match_room room;
  if (room.found == nullptr || room.context == nullptr)
    return fail(errc::environment, "no memory left to match a text");
  const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int count = PCRE2_ERROR_JIT_STACKLIMIT;
  if (code_->jit)
    count = pcre2_jit_match(code_->compiled, subject, text.size(), from, 0,
                            room.found, room.context);
  // The interpreter keeps its backtracking on the heap and so goes further.
  if (count == PCRE2_ERROR_JIT_STACKLIMIT)
    count = pcre2_match(code_->compiled, subject, text.size(), from,
                        PCRE2_NO_UTF_CHECK | PCRE2_NO_JIT, room.found,
                        room.context);
  if (count == PCRE2_ERROR_NOMATCH) return false;
  if (count < 0)
    return fail(errc::bad_input, "regular expression `" + code_->source
                                     + "` gave up at byte "
                                     + std::to_string(from)
                                     + " of the text: " + message_of(count));
  const auto* ends = pcre2_get_ovector_pointer(room.found);
  found = {ends[0], ends[1]};
  return true;
}

result<void> regex::find_all(std::string_view text,
                             std::vector<byte_range>& found) const {
  found.clear();
  std::size_t from = 0;
  std::size_t last_end = std::string_view::npos;
  while (from <= text.size()) {
    byte_range match;
    auto hit = next(text, from, match);
    if (!hit) return pass_on(hit);
    if (!*hit) break;
    if (match.begin >= match.end && match.end == last_end) {
      if (from >= text.size()) break;
      from += utf8_length(static_cast<unsigned char>(text[from]));
      continue;
    }
    from = last_end = match.end;
    found.push_back(match);
  }
  return {};
}

bool regex::matches(std::string_view text) const {
  byte_range match;
  auto hit = next(text, 0, match);
  return hit && *hit;
}

} // namespace kvloom::engine
