#include "graphs/draw/labels.hpp"

#include <gtest/gtest.h>

namespace kvloom::graphs {
namespace {

TEST(shortened, keeps_both_ends) {
  EXPECT_EQ(shortened("abcdef", 6), "abcdef");
  EXPECT_EQ(shortened("abcdefghij", 7), "ab...ij");
  EXPECT_EQ(n_characters(shortened(std::string(100, 'x'), 20)), 20U);
  std::string accents;
  for (int i = 0; i < 50; ++i) accents += "\xc3\xa9";
  EXPECT_EQ(n_characters(shortened(accents, 11)), 11U);
}

TEST(n_characters, counts_characters_of_any_bytes) {
  EXPECT_EQ(n_characters(""), 0U);
  EXPECT_EQ(n_characters("a\xc3\xa9\xf0\x9f\x98\x80"), 3U);
  EXPECT_EQ(n_characters("\xff\xfe"), 2U);
}

TEST(node_details, shows_what_differs_from_defaults_in_its_unit) {
  using configs::origin_layer;
  using configs::param_type;
  graph_node node;
  node.params.set("a", {std::int64_t{1}, {}, param_type::integer});
  node.params.set("deadline", {std::int64_t{90000000000},
                               {origin_layer::graph, "g:1"},
                               param_type::duration});
  node.params.set(
      "label",
      {std::string("no"), {origin_layer::graph, "g:1"}, param_type::text});
  node.place.device = "auto";
  node.place.threads = 2;
  EXPECT_EQ(node_details(node),
            (std::vector<std::string>{"deadline = 90s", "label = \"no\"",
                                      "on auto", "threads = 2"}));
}

TEST(xml_escaped, leaves_nothing_that_xml_reads) {
  EXPECT_EQ(xml_escaped("<a b=\"c\">&\x01\xff"),
            "&lt;a b=&quot;c&quot;&gt;&amp;??");
}

} // namespace
} // namespace kvloom::graphs
