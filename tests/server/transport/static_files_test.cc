// Files of the program over HTTP, and whose requests are answered at all.

#include "server/transport/http/static_files.h"

#include <string>

#include "gtest/gtest.h"
#include "server/transport/http/host_check.h"
#include "zlib.h"

namespace epsledger::transport {
namespace {

std::string Packed(const std::string& text) {
  std::string packed(256 + text.size(), '\0');
  z_stream stream{};
  EXPECT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

std::string HeaderOf(const HttpResponse& response, const std::string& name) {
  for (const auto& [key, value] : response.headers) {
    if (key == name) return value;
  }
  return "";
}

class StaticFilesTest : public ::testing::Test {
 protected:
  HttpResponse Get(const std::string& path, HttpHeaders headers = {}) {
    return files_.Answer(
        {.method = "GET", .path = path, .query = "", .body = "", .headers = headers});
  }

  const std::string page_ = Packed("<!doctype html><p>page");
  const std::string script_ = Packed(std::string(100'000, 'x'));
  const std::string broken_ = "not gzip";
  const StaticFiles files_{{{"index.html", page_}, {"assets/a-1.js", script_}, {"b.css", broken_}}};
};

TEST_F(StaticFilesTest, OnlyExactPathsAreFiles) {
  for (const char* path : {"/", "/index.html", "/assets/a-1.js"})
    EXPECT_TRUE(files_.Has(path)) << path;
  for (const char* path : {"", "index.html", "/assets", "/assets/", "/assets/../index.html",
                           "//index.html", "/assets/a-1.js/", "/assets/a-1.js.gz", "/INDEX.HTML"}) {
    EXPECT_FALSE(files_.Has(path)) << path;
  }
}

TEST_F(StaticFilesTest, AreSentAsTheClientTakesThem) {
  const HttpResponse plain = Get("/assets/a-1.js");
  EXPECT_EQ(plain.body, std::string(100'000, 'x'));
  EXPECT_EQ(HeaderOf(plain, "content-encoding"), "");
  EXPECT_EQ(plain.content_type, "text/javascript; charset=utf-8");
  EXPECT_EQ(HeaderOf(plain, "cache-control"), "public, max-age=31536000, immutable");
  for (const char* accepts : {"gzip", "br, gzip", "deflate,gzip;q=0.5"}) {
    const HttpResponse packed = Get("/assets/a-1.js", {{"accept-encoding", accepts}});
    EXPECT_EQ(packed.body, script_) << accepts;
    EXPECT_EQ(HeaderOf(packed, "content-encoding"), "gzip");
  }
  EXPECT_EQ(Get("/assets/a-1.js", {{"accept-encoding", "gzip;q=0, br"}}).body.size(), 100'000u);
  EXPECT_EQ(Get("/b.css").status, 500);
}

TEST_F(StaticFilesTest, ThePageIsAskedForAgainAndNotSentAgain) {
  const HttpResponse page = Get("/");
  EXPECT_EQ(page.body, "<!doctype html><p>page");
  EXPECT_EQ(HeaderOf(page, "cache-control"), "no-cache");
  EXPECT_NE(HeaderOf(page, "content-security-policy").find("default-src 'none'"),
            std::string::npos);
  EXPECT_EQ(HeaderOf(page, "content-security-policy").find("unsafe"), std::string::npos);
  const std::string tag = HeaderOf(page, "etag");
  for (const std::string& known : {tag, "W/" + tag, "\"other\", " + tag, std::string("*")}) {
    const HttpResponse same = Get("/", {{"if-none-match", known}});
    EXPECT_EQ(same.status, 304) << known;
    EXPECT_EQ(same.body, "");
    EXPECT_EQ(HeaderOf(same, "etag"), tag);
  }
  EXPECT_EQ(Get("/", {{"if-none-match", "\"other\""}}).status, 200);
  EXPECT_NE(tag, HeaderOf(Get("/assets/a-1.js"), "etag"));
}

TEST_F(StaticFilesTest, AreOnlyRead) {
  EXPECT_EQ(
      files_.Answer({.method = "POST", .path = "/", .query = "", .body = "", .headers = {}}).status,
      405);
}

bool IsAnswered(const std::string& host, bool tls = false) {
  HttpRequest request{
      .method = "GET", .path = "/v1/budgets", .query = "", .body = "", .headers = {}};
  request.tls = tls;
  if (!host.empty()) request.headers.emplace_back("host", host);
  return IsMeantForUs(request, {"ledger.example.org"});
}

TEST(HostCheck, NamesThatOthersCanPointHereAreRefusedOverPlaintext) {
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "10.1.2.3:80", "[::1]:8080",
                           "localhost:8080", "LOCALHOST", "epsledgerd:8080", "ledger.example.org",
                           "Ledger.Example.org:8080", "ledger.example.org.", ""}) {
    EXPECT_TRUE(IsAnswered(host)) << host;
  }
  for (const char* host : {"evil.example.com", "evil.example.com:8080", "127.0.0.1.evil.com",
                           "localhost.evil.com", "1.2.3.com", "1.2.3", "1.2.3.4.5", "256.0.0.1",
                           "notledger.example.org", "127.0.0.1x.com"}) {
    EXPECT_FALSE(IsAnswered(host)) << host;
    EXPECT_TRUE(IsAnswered(host, /*tls=*/true)) << host;
  }
}

}  // namespace
}  // namespace epsledger::transport
