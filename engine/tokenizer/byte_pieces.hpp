// Pieces that stand for one byte: `<0x0A>`.
#pragma once

#include "core/record/question.hpp"
#include "engine/tokenizer/vocabulary.hpp"

#include <array>
#include <optional>
#include <string_view>

namespace kvloom::engine {

inline constexpr token_id no_byte_piece = -1;

/// The id of every byte's piece.
using byte_piece_ids = std::array<token_id, 256>;

/// The byte that a piece stands for, if it is a byte piece.
std::optional<unsigned char> byte_of_piece(std::string_view piece);

/// no_byte_piece where the vocabulary lacks it.
byte_piece_ids find_byte_pieces(const vocabulary& words);

} // namespace kvloom::engine
