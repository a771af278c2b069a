// Tokenizers of Hugging Face folders.
#pragma once

#include "core/base/result.hpp"
#include "engine/tokenizer/tokenizer.hpp"

#include <filesystem>
#include <memory>

namespace kvloom::engine {

/// Loads a tokenizer.json and, beside it where they exist,
/// `tokenizer_config.json` (`add_bos_token` with `bos_token` overrule the
/// post-processor; `chat_template`) and `chat_template.jinja`. Truncation and
/// padding that the file declares are left out: a prompt is never cut.
/// Errors: as load_tokenizer().
result<std::shared_ptr<const tokenizer>>
load_tokenizer_json(const std::filesystem::path& path);

} // namespace kvloom::engine
