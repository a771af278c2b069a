#include "configs/read/scalar.hpp"

#include <gtest/gtest.h>

#include <clocale>
#include <locale>

namespace kvloom::configs {
namespace {

param_spec spec_of(param_type type) {
  param_spec spec;
  spec.name = "p";
  spec.type = type;
  return spec;
}

template <class T>
std::optional<T> read(param_type type, std::string_view text,
                      bool quoted = false) {
  const auto value = read_scalar(spec_of(type), text, quoted);
  if (!value) return std::nullopt;
  return std::get<T>(*value);
}

std::string problem(const param_spec& spec, std::string_view text,
                    bool quoted = false) {
  const auto value = read_scalar(spec, text, quoted);
  return value ? "" : value.error();
}

// Y06: yes and no are texts in a text field and nothing in a boolean one.
TEST(read_scalar, text_fields_keep_every_spelling) {
  for (const char* text : {"no", "NO", "yes", "on", "off", "true", "1_1_1",
                           "007", "1e3", "0x10", "1.0", "", " ", "12:30:45"})
    for (const bool quoted : {false, true})
      EXPECT_EQ(read<std::string>(param_type::text, text, quoted), text);
}

TEST(read_scalar, booleans_are_true_and_false_only) {
  EXPECT_EQ(read<bool>(param_type::boolean, "true"), true);
  EXPECT_EQ(read<bool>(param_type::boolean, "false"), false);
  for (const char* text :
       {"yes", "no", "on", "off", "True", "TRUE", "y", "1", "0", ""})
    EXPECT_FALSE(read<bool>(param_type::boolean, text)) << text;
  EXPECT_FALSE(read<bool>(param_type::boolean, "true", true));
}

TEST(read_scalar, integers_are_plain_decimals) {
  using i = std::int64_t;
  EXPECT_EQ(read<i>(param_type::integer, "0"), 0);
  EXPECT_EQ(read<i>(param_type::integer, "-12"), -12);
  EXPECT_EQ(read<i>(param_type::integer, "9223372036854775807"),
            9223372036854775807);
  for (const char* text :
       {"9223372036854775808", "1_000", "007", "1e3", "0x10", "0o7", "+1",
        "1.0", " 1", "1 ", "--1", "-", "", "1:30", "\xd9\xa1"})
    EXPECT_FALSE(read<i>(param_type::integer, text)) << text;
  EXPECT_FALSE(read<i>(param_type::integer, "1", true));
}

TEST(read_scalar, problems_name_found_wanted_and_remedy) {
  auto spec = spec_of(param_type::integer);
  spec.least = 1;
  spec.most = 64;
  spec.unit = "passages";
  EXPECT_EQ(problem(spec, "-1"),
            "found `-1`, out of range: wanted an integer from 1 to 64 "
            "(passages)");
  EXPECT_EQ(problem(spec, "many"),
            "found `many`, wanted an integer from 1 to 64 (passages)");
  EXPECT_NE(problem(spec, "007").find("leading zeros"), std::string::npos);
  EXPECT_NE(problem(spec, "7", true).find("remove the quotes"),
            std::string::npos);
  EXPECT_NE(problem(spec, "99999999999999999999").find("from 1 to 64"),
            std::string::npos);
  EXPECT_NE(problem(spec_of(param_type::integer), "-99999999999999999999")
                .find("64-bit"),
            std::string::npos);
}

TEST(read_scalar, reals_are_finite_decimals) {
  EXPECT_EQ(read<double>(param_type::real, "0.15"), 0.15);
  EXPECT_EQ(read<double>(param_type::real, "1e3"), 1000.0);
  EXPECT_EQ(read<double>(param_type::real, "-2"), -2.0);
  EXPECT_EQ(read<double>(param_type::real, ".5"), 0.5);
  for (const char* text : {"nan", ".nan", "inf", ".inf", "1e999", "0x1p3",
                           "1,5", "00.5", "1_0.5", "", "-", ".", "e3", "+1"})
    EXPECT_FALSE(read<double>(param_type::real, text)) << text;
  EXPECT_NE(problem(spec_of(param_type::real), "0,15").find("is a point"),
            std::string::npos);
}

struct comma_numbers : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

// Y05: numbers are read and written alike in every locale.
TEST(read_scalar, no_locale_matters) {
  const std::locale before = std::locale::global(
      std::locale(std::locale::classic(), new comma_numbers));
  const std::string c_before = std::setlocale(LC_ALL, nullptr);
  for (const char* name : {"fr_FR.UTF-8", "de_DE.UTF-8", "de_DE.utf8"})
    if (std::setlocale(LC_ALL, name) != nullptr) break;
  EXPECT_EQ(read<double>(param_type::real, "1.123"), 1.123);
  EXPECT_EQ(read<std::int64_t>(param_type::integer, "1234567"), 1234567);
  EXPECT_EQ(read_bytes("1.5KiB").value(), 1536);
  EXPECT_EQ(to_text(param_type::real, 1.123), "1.123");
  EXPECT_EQ(to_text(param_type::integer, std::int64_t{1234567}), "1234567");
  std::setlocale(LC_ALL, c_before.c_str());
  std::locale::global(before);
}

TEST(read_scalar, choices_name_the_nearest) {
  auto spec = spec_of(param_type::choice);
  spec.choices = {"full", "reuse", "blend"};
  EXPECT_EQ(problem(spec, "full"), "");
  EXPECT_EQ(problem(spec, "full", true), "");
  EXPECT_EQ(problem(spec, "blnd"),
            "found `blnd`, wanted one of full, reuse, blend; did you mean "
            "`blend`?");
  EXPECT_NE(problem(spec, "Full"), "");
}

TEST(read_scalar, paths_hold_something) {
  const auto spec = spec_of(param_type::path);
  EXPECT_EQ(problem(spec, "a/b"), "");
  EXPECT_NE(problem(spec, "", true), "");
  EXPECT_NE(problem(spec, std::string_view("a\0b", 3), true), "");
}

TEST(read_bytes, takes_binary_and_decimal_units) {
  EXPECT_EQ(read_bytes("4096").value(), 4096);
  EXPECT_EQ(read_bytes("512MiB").value(), 512LL << 20);
  EXPECT_EQ(read_bytes("2GB").value(), 2000000000);
  EXPECT_EQ(read_bytes("2 GiB").value(), 2LL << 30);
  EXPECT_EQ(read_bytes("1.5KiB").value(), 1536);
  for (const char* text :
       {"", "MiB", "1.5", "12Mb", "1.0001KiB", "-1", "1e3", "9999999TiB",
        "99999999999999999999", "1 000", "2G", "1..5KiB", "0.1B", "010MiB"})
    EXPECT_FALSE(read_bytes(text)) << text;
}

TEST(read_duration, wants_a_unit) {
  EXPECT_EQ(read_duration("20ms").value(), 20000000);
  EXPECT_EQ(read_duration("1.5s").value(), 1500000000);
  EXPECT_EQ(read_duration("2min").value(), 120000000000);
  EXPECT_EQ(read_duration("0ns").value(), 0);
  for (const char* text : {"20", "", "s", "2m", "1.5ns", "-1s", "99999999h"})
    EXPECT_FALSE(read_duration(text)) << text;
  EXPECT_NE(read_duration("20").error().find("without a unit"),
            std::string::npos);
}

// A double holds few of these: 8.2 * 1e9 is no whole number there.
TEST(read_duration, decimals_are_exact) {
  EXPECT_EQ(read_duration("8.2s").value(), 8200000000);
  EXPECT_EQ(read_duration("16.1s").value(), 16100000000);
  EXPECT_EQ(read_duration("2.01s").value(), 2010000000);
  EXPECT_EQ(read_duration("1.001s").value(), 1001000000);
  EXPECT_EQ(read_duration("32.05s").value(), 32050000000);
  EXPECT_EQ(read_duration("1.1min").value(), 66000000000);
  EXPECT_EQ(read_duration("4.1ms").value(), 4100000);
  EXPECT_EQ(read_duration("1.234567890s").value(), 1234567890);
  EXPECT_EQ(read_duration("0.000000001s").value(), 1);
  EXPECT_EQ(read_duration(".5s").value(), 500000000);
  EXPECT_EQ(read_duration("1.50000000000000000000000s").value(), 1500000000);
  EXPECT_EQ(read_duration("2562047.788h").value(), 9223372036800000000);
  EXPECT_EQ(read_duration("9223372036.854775807s").value(),
            9223372036854775807);
  for (int ms = 1; ms < 3000; ++ms) {
    auto text = std::to_string(1000 + ms % 1000).substr(1);
    text = std::to_string(ms / 1000) + "." + text + "s";
    EXPECT_EQ(read_duration(text).value(), ms * 1000000LL) << text;
  }
}

TEST(read_duration, nothing_is_rounded) {
  for (const char* text : {"0.5ns", "1.23456789012s", "0.0000000001s",
                           "0.00000000001min", "1.0000005ms"})
    EXPECT_NE(read_duration(text).error().find("no whole number"),
              std::string::npos)
        << text;
  EXPECT_NE(read_duration("0.0000000000000000001s").error().find("18 digits"),
            std::string::npos);
  for (const char* text : {"9223372036.854775808s", "2562047.789h",
                           "99999999999999999999.5ns", "9223372037.0s"})
    EXPECT_NE(read_duration(text).error().find("too large"), std::string::npos)
        << text;
  for (const char* text : {".s", "1.2.3s", "01.5s", "1,5s", "1.5", "1.5es"})
    EXPECT_FALSE(read_duration(text)) << text;
}

TEST(read_bytes, decimals_are_exact) {
  EXPECT_EQ(read_bytes("4.1GB").value(), 4100000000);
  EXPECT_EQ(read_bytes("1.5GiB").value(), 3LL << 29);
  EXPECT_EQ(read_bytes("0.0009765625MiB").value(), 1024);
  EXPECT_EQ(read_bytes("1.0B").value(), 1);
  EXPECT_EQ(read_bytes("8388607.75TiB").value(),
            9223372036854775807 - (1LL << 38) + 1);
  EXPECT_FALSE(read_bytes("8388608.0TiB"));
  EXPECT_FALSE(read_bytes("4.1GiB"));
}

TEST(read_scalar, sizes_and_durations_have_ranges) {
  auto spec = spec_of(param_type::bytes);
  spec.least = 1 << 20;
  EXPECT_EQ(problem(spec, "1MiB"), "");
  EXPECT_NE(problem(spec, "1KiB").find("at least 1MiB"), std::string::npos);
}

} // namespace
} // namespace kvloom::configs
