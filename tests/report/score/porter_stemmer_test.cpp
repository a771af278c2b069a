#include "report/score/porter_stemmer.hpp"
#include "tests/report/golden_file.hpp"

namespace kvloom::report {
namespace {

TEST(porter_stemmer, agrees_with_nltk) {
  const auto stems = golden("golden_stems.json");
  ASSERT_GE(stems.size(), 1500U);
  for (const auto& [word, stem] : stems.items())
    EXPECT_EQ(porter_stem(word), stem.get<std::string>()) << word;
}

TEST(porter_stemmer, takes_anything) {
  EXPECT_EQ(porter_stem(""), "");
  EXPECT_EQ(porter_stem("s"), "s");
  EXPECT_EQ(porter_stem(std::string(100000, 'y')).size(), 100000U);
  EXPECT_EQ(porter_stem("\xc3\xa9t\xc3\xa9s"), "\xc3\xa9t\xc3\xa9");
}

} // namespace
} // namespace kvloom::report
