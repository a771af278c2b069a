#include "configs/read/yaml_reader.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

namespace kvloom::configs {
namespace {

std::string problems_of(std::string_view text) {
  std::string out;
  for (const diagnostic& one : read_yaml(text, "t.yaml").problems)
    out += to_string(one) + '\n';
  return out;
}

testing::AssertionResult refused(std::string_view text,
                                 const std::string& words) {
  const std::string out = problems_of(text);
  if (out.find(words) != std::string::npos) return testing::AssertionSuccess();
  return testing::AssertionFailure()
         << "wanted `" << words << "` in `" << out << '`';
}

const yaml_node& at(const yaml_document& document, const std::string& key) {
  return *document.root->find(key)->value;
}

TEST(read_yaml, gives_plain_values_with_places) {
  const auto document = read_yaml("a: 1\nb:\n  - \"x\"\n  - {c: d}\n", "t");
  ASSERT_TRUE(document.problems.empty());
  EXPECT_EQ(document.root->kind, yaml_kind::mapping);
  EXPECT_EQ(at(document, "a").text, "1");
  EXPECT_FALSE(at(document, "a").quoted);
  const auto& list = at(document, "b");
  ASSERT_EQ(list.items.size(), 2U);
  EXPECT_TRUE(list.items[0]->quoted);
  EXPECT_EQ(to_string(list.items[0]->place), "t:3:5");
  const auto* inner = list.items[1]->find("c");
  EXPECT_EQ(to_string(inner->key_place), "t:4:6");
  EXPECT_EQ(to_string(inner->value->place), "t:4:9");
}

TEST(read_yaml, keeps_the_letters_of_scalars) {
  for (const char* text : {"no", "1_1_1", "007", "1e3", "0x1f", "12:30", "1.",
                           "2024-01-01", "Off", ".5", "=", "a b"}) {
    const auto document = read_yaml(std::string("k: ") + text, "t");
    ASSERT_TRUE(document.problems.empty()) << text;
    EXPECT_EQ(at(document, "k").text, text);
    EXPECT_FALSE(at(document, "k").quoted);
  }
  const auto block = read_yaml("k: |\n  a\n  b\n", "t");
  EXPECT_EQ(at(block, "k").text, "a\nb\n");
  EXPECT_TRUE(at(block, "k").quoted);
}

TEST(read_yaml, knows_nulls) {
  for (const char* text : {"k:", "k: ~", "k: null", "k: NULL", "a: 1\nk"}) {
    const auto document = read_yaml(text, "t");
    ASSERT_TRUE(document.problems.empty()) << text;
    EXPECT_EQ(at(document, "k").kind, yaml_kind::null) << text;
    EXPECT_GT(at(document, "k").place.line, 0) << text;
  }
  EXPECT_EQ(at(read_yaml("k: \"null\"", "t"), "k").kind, yaml_kind::scalar);
}

TEST(read_yaml, columns_count_characters) {
  const auto document
      = read_yaml("k: {\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\": x}", "t");
  const auto& entry = at(document, "k").entries.at(0);
  EXPECT_EQ(entry.key_place.column, 5);
  EXPECT_EQ(entry.value->place.column, 12);
}

// Y01: a key given twice is an error with both places, never a silent winner.
TEST(read_yaml, refuses_duplicate_keys_with_both_places) {
  EXPECT_EQ(problems_of("recompute_ratio: 0.15\nx: 1\nrecompute_ratio: 0.5\n"),
            "t.yaml:3:1: duplicate key `recompute_ratio`, first given at "
            "t.yaml:1:1; keep one of them\n");
  EXPECT_EQ(problems_of("a: [{b: {k: 1, 'k': 2}}]"),
            "t.yaml:1:16: a[0].b: duplicate key `k`, first given at "
            "t.yaml:1:10; keep one of them\n");
  EXPECT_EQ(problems_of("a: 1\na: 2\na: 3\nb: 1\nb: 2"),
            "t.yaml:2:1: duplicate key `a`, first given at t.yaml:1:1; keep "
            "one of them\n"
            "t.yaml:3:1: duplicate key `a`, first given at t.yaml:1:1; keep "
            "one of them\n"
            "t.yaml:5:1: duplicate key `b`, first given at t.yaml:4:1; keep "
            "one of them\n");
}

TEST(read_yaml, refuses_merge_keys_by_name) {
  EXPECT_TRUE(refused("a: &x {k: 1}\nb:\n  <<: *x\n",
                      "t.yaml:3:3: b: merge keys (`<<`)"));
  EXPECT_EQ(problems_of("\"<<\": 1"), "");
}

TEST(read_yaml, anchors_and_aliases_share_a_value) {
  const auto document = read_yaml("a: &x [1, 2]\nb: *x\n", "t");
  ASSERT_TRUE(document.problems.empty());
  EXPECT_EQ(at(document, "b").items.size(), 2U);
  EXPECT_EQ(at(document, "b").items[1]->text, "2");
}

TEST(read_yaml, refuses_aliases_that_cannot_be) {
  EXPECT_TRUE(refused("a: *nowhere", "t.yaml:1:4"));
  EXPECT_TRUE(refused("a: &x [1, *x]", "inside the node that it names"));
}

TEST(read_yaml, refuses_an_alias_bomb_at_once) {
  std::string text = "a0: &a0 [x, x]\n";
  for (int i = 1; i < 60; ++i) {
    const std::string n = std::to_string(i), before = std::to_string(i - 1);
    text += 'a' + n + ": &a" + n + " [*a" + before + ", *a" + before + "]\n";
  }
  EXPECT_TRUE(refused(text, "aliases unfolded"));
}

TEST(read_yaml, refuses_tags) {
  for (const char* text :
       {"a: !!int 3", "a: !mine x", "a: ! x", "a: &b ! x",
        "a: !!binary aGk=", "! {a: 1}", "a: !!python/x []", "!!map {a: 1}"})
    EXPECT_TRUE(refused(text, "the tag `")) << text;
  EXPECT_TRUE(refused("a: [1, {b: !t x}]", "t.yaml:1:12: a[1].b: the tag"));
  EXPECT_EQ(problems_of("a: \"!x\"\nb: '!'\nc: &d \"!\"\n"), "");
}

TEST(read_yaml, refuses_keys_that_are_no_text) {
  EXPECT_TRUE(refused("[a]: 1", "a key must be a text, found a list"));
  EXPECT_TRUE(refused("~: 1", "a key must be a text, found nothing"));
  EXPECT_TRUE(refused("? {a: b}\n: 1", "a key must be a text"));
}

TEST(read_yaml, refuses_a_second_document) {
  EXPECT_TRUE(refused("a: 1\n---\nb: 2\n", "t.yaml:2:1: a second document"));
  EXPECT_TRUE(refused("{a: 1}\n...\nb: 2\n", "a second document"));
  EXPECT_EQ(problems_of("---\na: 1\n...\n"), "");
  EXPECT_EQ(problems_of("%YAML 1.2\n---\na: 1\n"), "");
}

TEST(read_yaml, refuses_bytes_that_no_text_holds) {
  EXPECT_TRUE(refused(std::string_view("a: \0b", 5), "t.yaml:1:4: control"));
  EXPECT_TRUE(refused("a: \x1b[1m", "control character `\\x1b`"));
  EXPECT_TRUE(refused("a: \x7f", "control character"));
  EXPECT_TRUE(refused("a: \xff\xfe", "t.yaml:1:4: not UTF-8"));
  EXPECT_TRUE(refused("a: \xc0\x80", "not UTF-8"));
  EXPECT_TRUE(refused(std::string_view("\xff\xfe"
                                       "a\0",
                                       4),
                      "UTF-16"));
}

TEST(read_yaml, skips_a_byte_order_mark) {
  const auto document = read_yaml("\xef\xbb\xbf"
                                  "a: 1",
                                  "t");
  ASSERT_TRUE(document.problems.empty());
  EXPECT_EQ(document.root->entries.at(0).key, "a");
  EXPECT_EQ(document.root->entries.at(0).key_place.column, 1);
}

TEST(read_yaml, takes_windows_line_ends) {
  const auto document = read_yaml("a: 1\r\nb: [x,\r\n  y]\r\n", "t");
  ASSERT_TRUE(document.problems.empty());
  EXPECT_EQ(at(document, "a").text, "1");
  EXPECT_EQ(to_string(at(document, "b").items[1]->place), "t:3:3");
}

TEST(read_yaml, refuses_tabs_that_indent) {
  EXPECT_TRUE(refused("a:\n\tb: 1\n", "t.yaml:2:"));
  EXPECT_TRUE(refused("a:\n  b: 1\n\tc: 2\n", "t.yaml:3:"));
}

TEST(read_yaml, text_that_is_no_yaml_has_a_place_and_a_remedy) {
  EXPECT_TRUE(refused("actors: {a: [}\n", "t.yaml:1:"));
  EXPECT_TRUE(refused("a: {b: 1", "a `{` lacks its `}`"));
  EXPECT_TRUE(refused("a: [b", "a `[` lacks its `]`"));
  EXPECT_TRUE(refused("a: b: c", "in quotes"));
  EXPECT_TRUE(refused("a: \"b", "quote is not closed"));
  EXPECT_TRUE(refused("a: 1\n b: 2\n", "t.yaml:2:"));
  EXPECT_TRUE(refused("a: @x", "t.yaml:1:"));
  EXPECT_TRUE(refused("a: 'x' y", "t.yaml:1:"));
}

TEST(read_yaml, empty_text_is_named) {
  for (const char* text : {"", "\n\n", "# only words\n", "   "})
    EXPECT_TRUE(refused(text, "empty")) << '`' << text << '`';
}

TEST(read_yaml, refuses_deep_nesting) {
  for (const char* open : {"[", "{a: ", "- ", "? "}) {
    std::string text;
    for (int i = 0; i < 100000; ++i) text += open;
    EXPECT_FALSE(read_yaml(text, "t").problems.empty()) << open;
  }
  const std::string fine = std::string(60, '[') + std::string(60, ']');
  EXPECT_EQ(problems_of(fine), "");
  EXPECT_TRUE(refused(std::string(65, '[') + std::string(65, ']'),
                      "nested deeper than 64"));
}

TEST(read_yaml, refuses_what_is_too_large) {
  EXPECT_TRUE(refused(std::string((4U << 20) + 1, 'a'), "larger than 4 MiB"));
  std::string text;
  for (int i = 0; i < 100001; ++i) text += "- x\n";
  EXPECT_TRUE(refused(text, "more than 100000 values"));
}

class files : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir())
              / ("kvloom_yaml_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string problem(const std::filesystem::path& path) {
    const auto document = read_yaml_file(path);
    return document.problems.empty() ? ""
                                     : to_string(document.problems.front());
  }

  std::filesystem::path folder_;
};

TEST_F(files, are_read_whole) {
  const auto path = folder_ / "a.yaml";
  std::ofstream(path) << "a: 1\n";
  const auto document = read_yaml_file(path);
  ASSERT_TRUE(document.root);
  EXPECT_EQ(document.root->place.file, path.string());
}

TEST_F(files, that_cannot_be_read_are_named) {
  EXPECT_NE(problem(folder_ / "none.yaml").find("no such file"),
            std::string::npos);
  EXPECT_NE(problem(folder_).find("is a folder"), std::string::npos);
  EXPECT_NE(problem(folder_ / std::string(5000, 'x')), "");
  EXPECT_NE(problem(""), "");
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(problem(pipe).find("no regular file"), std::string::npos);
  EXPECT_NE(problem("/dev/zero").find("no regular file"), std::string::npos);
}

TEST_F(files, above_the_limit_are_refused) {
  const auto path = folder_ / "large.yaml";
  std::ofstream(path) << std::string(5U << 20, '#');
  EXPECT_NE(problem(path).find("larger than 4 MiB"), std::string::npos);
}

} // namespace
} // namespace kvloom::configs
