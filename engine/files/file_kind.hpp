// What a file is, told from its first bytes, for messages about wrong files.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kvloom::engine {

/// A phrase for what the bytes look like and the remedy, such as "it is a
/// git-lfs pointer, not the file itself: run `git lfs pull`". Empty where
/// nothing is recognised.
std::string describe_kind(std::span<const std::byte> bytes);

/// The text in quotes with control and non-ASCII bytes escaped, cut after 80
/// bytes: names in a damaged file may hold anything.
std::string in_quotes(std::string_view text);

} // namespace kvloom::engine
