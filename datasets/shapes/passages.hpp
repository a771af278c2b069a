// Passages in all the forms in which data sets give them.
#pragma once

#include "core/record/question.hpp"
#include "datasets/shapes/row_context.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kvloom::datasets {

/// What a list of passages came to. Indices are places in the file's list.
struct passage_list {
  std::vector<passage> kept;
  std::vector<std::uint32_t> dropped; ///< neither title nor text nor ids
  std::vector<std::uint32_t> marked;  ///< flagged as needed for the answer
};

/// One passage: a text, an object with a text and maybe title and id, or a
/// pair of title and sentences (HotpotQA; sentences are joined as they are,
/// they carry their own spaces). Adds to `out` under the next index.
result<void> read_passage(const row_context& where, std::string_view field,
                          const json_value& value, std::uint32_t index,
                          passage_list& out);

/// The list under the field of the row that holds passages; none: an empty
/// list. Fields: ctxs, contexts, passages, chunks, contents, documents,
/// document, texts, context, paragraphs, numbers such as "0", "1", ... (from
/// any on; with chunk_num, which must agree), ordered_kv_records; ctx_ids
/// beside or in place of them. Errors: bad_input; more than one of these fields
/// is one.
result<passage_list> read_passages(const row_context& where,
                                   const json_value& row);

/// True for a row whose passages are members named by numbers: chunk_num, "0",
/// or any number that names a text or an object.
bool has_numbered_chunks(const json_value& row);

/// True for a row that has one of these fields.
bool has_passages(const json_value& row);

/// Adds the passages that `supporting_facts` names by title to `marked`.
/// Returns how many facts name no passage.
result<std::size_t> read_supporting(const row_context& where,
                                    const json_value& row, passage_list& list);

/// A list of token ids, each from 0 to 2^31 - 1.
result<std::vector<token_id>> read_token_ids(const row_context& where,
                                             std::string_view field,
                                             const json_value& value);

/// A caller's id: a text that is not blank or an integer; empty where none of
/// `names` is there.
result<std::string> read_id(const row_context& where, const json_value& object,
                            std::initializer_list<const char*> names);

} // namespace kvloom::datasets
