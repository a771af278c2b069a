#include "actors/support/errors.hpp"

#include <caf/exit_reason.hpp>
#include <caf/sec.hpp>
#include <gtest/gtest.h>

#include <stdexcept>

using namespace kvloom;
using namespace kvloom::actors;

TEST(errors, survive_a_reply) {
  for (const auto code :
       {errc::bad_input, errc::environment, errc::request_failed,
        errc::deadline, errc::cancelled, errc::internal}) {
    const auto back = from_caf(to_caf({code, "what, and the remedy", "x:1:2"}));
    EXPECT_EQ(back.code, code);
    EXPECT_EQ(back.message, "what, and the remedy");
    EXPECT_EQ(back.place, "x:1:2");
  }
}

TEST(errors, of_the_library_have_words) {
  EXPECT_EQ(from_caf(caf::sec::request_timeout).code, errc::deadline);
  EXPECT_EQ(from_caf(caf::exit_reason::user_shutdown).code, errc::cancelled);
  for (const auto& one : {caf::error{caf::sec::request_receiver_down},
                          caf::error{caf::sec::unexpected_message},
                          caf::error{caf::exit_reason::kill}, caf::error{}}) {
    EXPECT_EQ(from_caf(one).code, errc::internal);
    EXPECT_FALSE(from_caf(one).message.empty());
  }
}

TEST(errors, come_of_exceptions) {
  const auto thrown
      = guarded([]() -> result<int> { throw std::runtime_error("no luck"); });
  ASSERT_FALSE(thrown);
  EXPECT_NE(thrown.error().message.find("no luck"), std::string::npos);
  const auto odd = guarded([]() -> result<int> { throw 7; });
  ASSERT_FALSE(odd);
  EXPECT_EQ(odd.error().code, errc::internal);
  EXPECT_EQ(guarded([]() -> result<int> { return 3; }).value(), 3);
}
