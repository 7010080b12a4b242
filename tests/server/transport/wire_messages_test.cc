// gRPC's messages, headers and resets as bytes of a client.

#include "gtest/gtest.h"

#include <chrono>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "gmock/gmock.h"
#include "server/transport/wire/call_headers.h"
#include "server/transport/wire/idle_reset_filter.h"
#include "server/transport/wire/limits.h"
#include "server/transport/wire/message_reader.h"
#include "tests/fuzz/http2_frames.h"

namespace epsledger::transport::wire {
namespace {

using fuzz::Http2Frame;
using fuzz::WriteHttp2;
using std::chrono::nanoseconds;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// The bytes in pieces of random sizes, most of them small.
std::vector<std::string> Pieces(const std::string& bytes, std::minstd_rand& random) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < bytes.size();) {
    const size_t count = 1 + random() % (random() % 4 == 0 ? 64 : 5);
    pieces.push_back(bytes.substr(at, count));
    at += pieces.back().size();
  }
  return pieces;
}

std::string Framed(const std::string& message) { return PrefixOf(message.size()) + message; }

TEST(MessageReader, MessagesAreTheSameHoweverTheyArrive) {
  const std::vector<std::string> messages = {
      "", "a", std::string(300, 'b'), "", std::string(70'000, 'c'), "d"};
  std::string bytes;
  for (const std::string& message : messages) bytes += Framed(message);
  std::minstd_rand random(7);
  for (int round = 0; round < 50; ++round) {
    MessageReader reader(70'000);
    std::vector<std::string> read;
    for (const std::string& piece : Pieces(bytes, random)) {
      ASSERT_TRUE(reader.Take(piece, &read).ok());
    }
    EXPECT_EQ(read, messages);
    EXPECT_EQ(reader.unfinished_bytes(), 0u);
  }
}

TEST(MessageReader, WhatIsNotWholeIsCounted) {
  MessageReader reader(100);
  std::vector<std::string> read;
  ASSERT_TRUE(reader.Take(Framed("whole") + PrefixOf(100).substr(0, 3), &read).ok());
  EXPECT_THAT(read, ElementsAre("whole"));
  EXPECT_EQ(reader.unfinished_bytes(), 3u);
  ASSERT_TRUE(reader.Take(PrefixOf(100).substr(3) + "1234", &read).ok());
  EXPECT_EQ(reader.unfinished_bytes(), 4u);
}

TEST(MessageReader, WhatIsTooLongOrCompressedIsRefusedByItsFirstBytes) {
  const auto code_of = [](const std::string& bytes) {
    MessageReader reader(100);
    std::vector<std::string> read;
    const grpc::Status status = reader.Take(bytes, &read);
    EXPECT_TRUE(read.empty());
    return status.error_code();
  };
  EXPECT_EQ(code_of(PrefixOf(101)), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(code_of(std::string("\0\xff\xff\xff\xff", 5)), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_EQ(code_of(std::string("\1\0\0\0\1", 5)), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_EQ(code_of(std::string("\2\0\0\0\1", 5)), grpc::StatusCode::INTERNAL);
  EXPECT_EQ(code_of(PrefixOf(100)), grpc::StatusCode::OK);
}

CallHeaders Good() {
  CallHeaders headers;
  headers.Add(":method", "POST");
  headers.Add(":path", "/epsledger.v1.BudgetService/GetBudget");
  headers.Add("content-type", "application/grpc");
  return headers;
}

TEST(CallHeaders, OnlyWhatMeansSomethingIsKept) {
  CallHeaders headers = Good();
  headers.Add("epsledger-in-process-pass", "guessed");
  headers.Add("grpc-timeout", "250m");
  EXPECT_EQ(headers.http_status(), 200);
  EXPECT_TRUE(headers.Check().ok());
  EXPECT_EQ(headers.path(), "/epsledger.v1.BudgetService/GetBudget");
  EXPECT_EQ(headers.timeout(), std::chrono::milliseconds(250));
  EXPECT_EQ(headers.authorization(), std::nullopt);
  headers.Add("authorization", "Bearer a");
  EXPECT_EQ(headers.authorization(), "Bearer a");
  headers.Add("authorization", "Bearer b");
  EXPECT_EQ(headers.authorization(), "Bearer a,Bearer b");
}

TEST(CallHeaders, EveryByteOfACredentialIsTakenOrRefused) {
  for (int byte = 0; byte < 256; ++byte) {
    CallHeaders headers = Good();
    headers.Add("authorization", std::string("Bearer ") + static_cast<char>(byte) + "x");
    const bool is_text = byte >= 0x20 && byte <= 0x7e;
    EXPECT_EQ(headers.Check().ok(), is_text) << byte;
    EXPECT_THAT(headers.Check().error_message(), ::testing::Not(HasSubstr("Bearer"))) << byte;
  }
}

TEST(CallHeaders, WhatIsNoCallIsSaid) {
  for (const auto& [method, type, status] :
       {std::tuple("GET", "application/grpc", 405), std::tuple("POST", "application/json", 415),
        std::tuple("POST", "application/grpc+json", 415), std::tuple("POST", "", 415),
        std::tuple("POST", "application/grpc-web", 415),
        std::tuple("POST", "application/grpc+proto", 200),
        std::tuple("POST", "application/grpc;charset=utf-8", 200)}) {
    CallHeaders headers;
    headers.Add(":method", method);
    headers.Add("content-type", type);
    EXPECT_EQ(headers.http_status(), status) << method << " " << type;
  }
  CallHeaders encoded = Good();
  encoded.Add("grpc-encoding", "gzip");
  EXPECT_EQ(encoded.Check().error_code(), grpc::StatusCode::UNIMPLEMENTED);
  EXPECT_THAT(encoded.Check().error_message(), HasSubstr("gzip"));
  CallHeaders identity = Good();
  identity.Add("grpc-encoding", "identity");
  EXPECT_TRUE(identity.Check().ok());
}

TEST(CallHeaders, TooManyAreRefusedAndNotKept) {
  CallHeaders headers = Good();
  const std::string kilobyte(1000, 'x');
  int taken = 0;
  while (headers.Add("authorization", kilobyte)) ++taken;
  EXPECT_LT(taken * 1000, static_cast<int>(kMaxHeaderBytes));
  EXPECT_GT(taken, 10);
  EXPECT_FALSE(headers.Add("x", ""));
  EXPECT_EQ(headers.Check().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  EXPECT_LE(headers.authorization()->size(), kMaxHeaderBytes);
}

TEST(CallHeaders, ATimeoutIsDigitsAndAUnit) {
  EXPECT_EQ(ReadTimeout("1H"), std::chrono::hours(1));
  EXPECT_EQ(ReadTimeout("2M"), std::chrono::minutes(2));
  EXPECT_EQ(ReadTimeout("3S"), std::chrono::seconds(3));
  EXPECT_EQ(ReadTimeout("99999999u"), std::chrono::microseconds(99'999'999));
  EXPECT_EQ(ReadTimeout("0n"), nanoseconds(0));
  // A year stands for what nobody waits for, and no arithmetic overflows.
  EXPECT_EQ(ReadTimeout("99999999H"), std::chrono::hours(24 * 365));
  EXPECT_EQ(ReadTimeout("99999999M"), std::chrono::hours(24 * 365));
  for (const char* wrong : {"", "1", "S", "-1S", "+1S", "1s", "1 S", "123456789S", "1.5S", "1SS"}) {
    EXPECT_EQ(ReadTimeout(wrong), std::nullopt) << wrong;
  }
}

TEST(CallHeaders, TrailersSayTheStatusInVisibleText) {
  EXPECT_THAT(TrailersOf(grpc::Status::OK), ElementsAre(Pair("grpc-status", "0")));
  const std::string details("\0\xff\x10", 3);
  EXPECT_THAT(TrailersOf({grpc::StatusCode::NOT_FOUND, "100% of \"\xc3\xa9\"\n", details}),
              ElementsAre(Pair("grpc-status", "5"), Pair("grpc-message", "100%25 of \"%C3%A9\"%0A"),
                          Pair("grpc-status-details-bin", "AP8Q")));
}

constexpr uint8_t kResetFrame = 3;

std::string FilteredInPieces(const std::string& bytes, std::minstd_rand& random) {
  IdleResetFilter filter;
  std::string passed;
  for (const std::string& piece : Pieces(bytes, random)) {
    EXPECT_TRUE(filter.Take(piece, [&](std::string_view part) {
      passed += part;
      return true;
    }));
  }
  return passed;
}

TEST(IdleResetFilter, LeavesOutResetsOfStreamsThatWereNotBegunAndNothingElse) {
  const std::string code("\0\0\0\x08", 4);
  const Http2Frame headers1{fuzz::kHeadersFrame, fuzz::kEndHeaders, 1, "block"};
  const Http2Frame headers5{fuzz::kHeadersFrame, fuzz::kEndHeaders, 5, std::string(300, 'h')};
  const Http2Frame reset1{kResetFrame, 0, 1, code};
  const Http2Frame reset3{kResetFrame, 0, 3, code};
  const Http2Frame reset5{kResetFrame, 0, 5, code};
  const Http2Frame reset7{kResetFrame, 0, 7, code};
  const Http2Frame data{fuzz::kDataFrame, 0, 5, std::string(1000, 'd')};
  // What is wrong in another way is for nghttp2 to say.
  const Http2Frame long_reset{kResetFrame, 0, 9, code + "x"};
  const Http2Frame even_reset{kResetFrame, 0, 8, code};
  const Http2Frame reset0{kResetFrame, 0, 0, code};
  const std::string bytes =
      WriteHttp2({reset1, headers1, reset3, reset1, headers5, reset3, reset7, data, reset5, reset7,
                  long_reset, even_reset, reset0, reset7});
  const std::string wanted = WriteHttp2(
      {headers1, reset1, headers5, reset3, data, reset5, long_reset, even_reset, reset0});
  std::minstd_rand random(11);
  for (int round = 0; round < 200; ++round) EXPECT_EQ(FilteredInPieces(bytes, random), wanted);
}

TEST(IdleResetFilter, StopsWhereItIsTold) {
  IdleResetFilter filter;
  int count = 0;
  EXPECT_FALSE(filter.Take(WriteHttp2({{fuzz::kDataFrame, 0, 1, "x"}}), [&](std::string_view) {
    ++count;
    return false;
  }));
  EXPECT_EQ(count, 1);
}

}  // namespace
}  // namespace epsledger::transport::wire
