// TLS with certificates that openssl makes: renewed while the server runs, and as principals.

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "epsledger/v1/access_service.grpc.pb.h"
#include "gmock/gmock.h"
#include "prometheus/registry.h"
#include "server/access/access_control.h"
#include "server/access/certificate_subject.h"
#include "server/transport/http/http_routes.h"
#include "server/transport/http/http_server.h"
#include "spdlog/sinks/ostream_sink.h"
#include "spdlog/spdlog.h"
#include "tests/server/transport/test_server.h"

namespace epsledger::transport {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class Certificates : public ::testing::Test {
 protected:
  Certificates() : folder_(::testing::TempDir() + "certificates-XXXXXX") {
    EXPECT_NE(mkdtemp(folder_.data()), nullptr);
    MakeAuthority("ca");
  }
  ~Certificates() override { std::filesystem::remove_all(folder_); }

  std::string Path(const std::string& name) const { return folder_ + "/" + name; }
  static std::string Contents(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  void Run(const std::string& command) const {
    ASSERT_EQ(std::system(("cd " + folder_ + " && (" + command + ") >log 2>&1").c_str()), 0)
        << command << "\n"
        << Contents(Path("log"));
  }
  void MakeAuthority(const std::string& name) const {
    Run(absl::StrCat(
        "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ", name,
        ".key -out ", name, ".pem -days 2 -subj /CN=", name));
  }
  // `name`.pem and `name`.key with this subject, signed by the authority.
  void MakeCertificate(const std::string& name, const std::string& subject) const {
    Run(absl::StrCat("openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout ",
                     name, ".key -out ", name, ".csr -subj '", subject,
                     "' && printf 'subjectAltName=IP:127.0.0.1,DNS:localhost' > ", name,
                     ".ext && openssl x509 -req -in ", name, ".csr -CA ca.pem -CAkey ca.key ",
                     "-CAcreateserial -days 2 -extfile ", name, ".ext -out ", name, ".pem"));
  }
  void Copy(const std::string& from, const std::string& to) const {
    std::filesystem::copy_file(Path(from), Path(to),
                               std::filesystem::copy_options::overwrite_existing);
  }

  std::shared_ptr<grpc::Channel> ChannelAs(const Server& server, const std::string& client,
                                           const std::string& ca = "ca") const {
    grpc::SslCredentialsOptions tls;
    tls.pem_root_certs = Contents(Path(ca + ".pem"));
    if (!client.empty()) {
      tls.pem_cert_chain = Contents(Path(client + ".pem"));
      tls.pem_private_key = Contents(Path(client + ".key"));
    }
    // A connection of its own each time: handshakes are what is asked about.
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    return grpc::CreateCustomChannel(server.addresses()[0], grpc::SslCredentials(tls), arguments);
  }
  Reply<v1::Caller> WhoAmI(const Server& server, const std::string& client,
                           const std::string& ca = "ca", const std::string& token = "") const {
    const auto stub = v1::AccessService::NewStub(ChannelAs(server, client, ca));
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(60));
    if (!token.empty()) context.AddMetadata("authorization", "Bearer " + token);
    Reply<v1::Caller> reply;
    reply.status = stub->GetCaller(&context, v1::GetCallerRequest(), &reply.response);
    return reply;
  }

  std::string folder_;
  const std::unique_ptr<core::DurableLedger> ledger_ = *storage::GroupCommitLedger::Open(
      std::make_unique<storage::MemoryStore>(), storage::GroupCommitLedger::Options());
};

TEST_F(Certificates, AClientCertificateSaysWhoCalls) {
  MakeCertificate("server", "/CN=server");
  MakeCertificate("trainer", "/O=acme/OU=trainer/CN=run 7");
  MakeCertificate("roleless", "/O=acme/CN=somebody");
  MakeCertificate("twice", "/O=acme/OU=viewer/OU=admin/CN=somebody");
  MakeCertificate("odd", "/O=Acme Ltd/OU=admin/CN=somebody");
  MakeCertificate("tenantless", "/OU=admin/CN=somebody");
  MakeCertificate("token", "/O=acme/OU=admin/CN=tokens\\/0123456789abcdef");
  MakeCertificate("anybody", "/O=acme/OU=admin/CN=anybody on this machine");
  auto server = Server::Start({.addresses = {"127.0.0.1:0"},
                               .tls_certificate_file = Path("server.pem"),
                               .tls_key_file = Path("server.key"),
                               .tls_client_ca_file = Path("ca.pem"),
                               .require_tokens = true},
                              *ledger_);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto trainer = WhoAmI(**server, "trainer");
  ASSERT_TRUE(trainer.ok()) << trainer.status.error_message();
  EXPECT_EQ(trainer.response.tenant(), "acme");
  EXPECT_EQ(trainer.response.role(), v1::Role::TRAINER);
  EXPECT_EQ(trainer.response.principal(), "run 7");
  for (const char* client : {"roleless", "twice", "odd", "tenantless", "token", "anybody"}) {
    const auto reply = WhoAmI(**server, client);
    EXPECT_EQ(reply.code(), grpc::StatusCode::UNAUTHENTICATED) << client;
    EXPECT_THAT(reply.status.error_message(), HasSubstr("names no tenant, role and name"));
  }
  EXPECT_EQ(WhoAmI(**server, "").code(), grpc::StatusCode::UNAVAILABLE);  // no handshake
}

// The certificate in PEM of a subject that is valid until then; self-signed.
std::string MadeCertificate(const std::string& name, absl::Duration life) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  X509_NAME* subject = X509_get_subject_name(made.get());
  for (const auto& [field, value] :
       {std::pair<const char*, std::string>{"O", "acme"}, {"OU", "admin"}, {"CN", name}}) {
    X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
                               reinterpret_cast<const unsigned char*>(value.data()),
                               static_cast<int>(value.size()), -1, 0);
  }
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), absl::ToInt64Seconds(life));
  X509_set_pubkey(made.get(), key.get());
  X509_sign(made.get(), key.get(), EVP_sha256());
  const std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_X509(bio.get(), made.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &bytes);
  return {bytes, static_cast<size_t>(size)};
}

// The handshake looks at the dates once, and a connection may be open for longer.
TEST_F(Certificates, OneThatHasExpiredIsDeniedOnAnOpenConnection) {
  access::AccessControl control(*ledger_, {.required = true});
  const auto ask = [&](absl::Duration life) {
    access::Caller denied;
    access::Credentials credentials;
    credentials.certificate_pem = MadeCertificate("alice", life);
    return control.Admit(credentials, "epsledger.v1.AccessService.GetCaller", &denied).status();
  };
  EXPECT_TRUE(ask(absl::Hours(1)).ok()) << ask(absl::Hours(1));
  const absl::Status expired = ask(absl::Seconds(-1));
  EXPECT_EQ(expired.code(), absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(std::string(expired.message()), HasSubstr("alice has expired"));
}

TEST_F(Certificates, ANameThatCouldBeTakenForAnotherNamesNobody) {
  for (const char* name :
       {"alice", "Alice B. Carol", "al\u00efce", "\u0410\u043b\u0438\u0441\u0430", "run-7_x.y"}) {
    const auto caller = access::CallerOf(MadeCertificate(name, absl::Hours(1)));
    ASSERT_TRUE(caller.has_value()) << name;
    EXPECT_EQ(caller->caller.principal, name);
  }
  for (const char* name :
       {"alice ", " alice", "al  ice", "alice\u200b", "ali\u0301ce", "\u202eecila", "alice\u00ad",
        "tokens/x", "Tokens/x", "OIDC/x", "\ufeffalice", "a\u2060b"}) {
    EXPECT_FALSE(access::CallerOf(MadeCertificate(name, absl::Hours(1))).has_value()) << name;
  }
}

TEST_F(Certificates, HttpsIsNoSecondDoorForThoseWithoutACertificate) {
  MakeCertificate("server", "/CN=server");
  MakeCertificate("trainer", "/O=acme/OU=trainer/CN=run 7");
  MakeAuthority("other-ca");
  auto server = Server::Start({.addresses = {"127.0.0.1:0"},
                               .tls_certificate_file = Path("server.pem"),
                               .tls_key_file = Path("server.key"),
                               .tls_client_ca_file = Path("ca.pem"),
                               .require_tokens = true},
                              *ledger_);
  ASSERT_TRUE(server.ok()) << server.status();
  HttpRoutes routes(*ledger_, std::make_shared<prometheus::Registry>(), (*server)->in_process());
  auto http = HttpServer::Start({.addresses = {"127.0.0.1:0"},
                                 .tls_certificate_file = Path("server.pem"),
                                 .tls_key_file = Path("server.key"),
                                 .tls_client_ca_file = Path("ca.pem")},
                                routes.handler());
  ASSERT_TRUE(http.ok()) << http.status();
  const auto answer = [&](const std::string& flags, const std::string& path) {
    std::ignore = std::system(
        absl::StrCat(
            "cd ", folder_, " && printf 'POST ", path,
            " HTTP/1.1\\r\\nHost: x\\r\\nContent-Type: application/json\\r\\nContent-Length: "
            "2\\r\\nConnection: close\\r\\n\\r\\n{}' | openssl s_client -quiet -connect ",
            (*http)->addresses()[0], " ", flags, " >answer 2>&1")
            .c_str());
    return Contents(Path("answer"));
  };
  const std::string who = "/epsledger.v1.AccessService/GetCaller";
  const std::string known = answer("-cert trainer.pem -key trainer.key", who);
  EXPECT_THAT(known, HasSubstr("HTTP/1.1 200"));
  EXPECT_THAT(known, HasSubstr(R"("tenant":"acme","role":"TRAINER","principal":"run 7")"));
  EXPECT_THAT(
      answer("-cert trainer.pem -key trainer.key", "/epsledger.v1.AccessService/ListTokens"),
      HasSubstr("HTTP/1.1 403"));
  for (const char* flags : {"", "-cert other-ca.pem -key other-ca.key"}) {
    EXPECT_THAT(answer(flags, who), Not(HasSubstr("HTTP/1.1"))) << flags;
  }
}

TEST_F(Certificates, HttpsTakesWhatGrpcTakes) {
  MakeCertificate("ec", "/CN=server");
  Run("openssl req -x509 -newkey rsa:2048 -nodes -keyout rsa.key -out rsa.pem -days 2 -subj "
      "/CN=server");
  for (const std::string kind : {"ec", "rsa"}) {
    auto server = HttpServer::Start({.addresses = {"127.0.0.1:0"},
                                     .tls_certificate_file = Path(kind + ".pem"),
                                     .tls_key_file = Path(kind + ".key")},
                                    [](const HttpRequest&, HttpReply reply) {
                                      std::move(reply)({200, {}, "answered"});
                                    });
    ASSERT_TRUE(server.ok()) << server.status();
    // What the server answers to a client of that flag, headers included.
    const auto answer = [&](const std::string& flag) {
      std::ignore = std::system(
          absl::StrCat(
              "cd ", folder_,
              " && printf 'GET / HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n' "
              "| openssl s_client -quiet -connect ",
              (*server)->addresses()[0], " ", flag, " >answer 2>&1")
              .c_str());
      return Contents(Path("answer"));
    };
    const std::string authentication = kind == "ec" ? "ECDSA" : "RSA";
    for (const std::string& flag :
         {std::string("-tls1_3"), "-tls1_2 -cipher ECDHE-" + authentication + "-AES128-GCM-SHA256",
          "-tls1_2 -cipher ECDHE-" + authentication + "-CHACHA20-POLY1305"}) {
      EXPECT_THAT(answer(flag), HasSubstr("answered")) << kind << " " << flag;
      EXPECT_THAT(answer(flag), HasSubstr("Strict-Transport-Security: max-age=")) << flag;
    }
    // CBC, no forward secrecy, a protocol of before.
    for (const std::string& flag :
         {"-tls1_2 -cipher ECDHE-" + authentication + "-AES128-SHA",
          std::string("-tls1_2 -cipher AES128-GCM-SHA256"), std::string("-tls1_1")}) {
      EXPECT_THAT(answer(flag), Not(HasSubstr("answered"))) << kind << " " << flag;
    }
  }
}

TEST_F(Certificates, AreRenewedWithoutARestartAndBadFilesAreLeftAlone) {
  MakeAuthority("old-ca");
  MakeAuthority("new-ca");
  for (const char* name : {"old", "new"}) {
    Copy(absl::StrCat(name, "-ca.pem"), "ca.pem");
    Copy(absl::StrCat(name, "-ca.key"), "ca.key");
    MakeCertificate(name, "/CN=server");
  }
  Copy("old.pem", "server.pem");
  Copy("old.key", "server.key");
  const auto registry = std::make_shared<prometheus::Registry>();
  std::ostringstream log;
  const auto logger_before = spdlog::default_logger();
  spdlog::set_default_logger(std::make_shared<spdlog::logger>(
      "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  auto server = Server::Start({.addresses = {"127.0.0.1:0"},
                               .tls_certificate_file = Path("server.pem"),
                               .tls_key_file = Path("server.key"),
                               .registry = registry},
                              *ledger_);
  ASSERT_TRUE(server.ok()) << server.status();
  const auto failures = [&registry] {
    double count = -1;
    for (const prometheus::MetricFamily& family : registry->Collect()) {
      if (family.name != "epsledger_certificate_reload_failures_total") continue;
      count = family.metric.at(0).counter.value;
    }
    return count;
  };
  const auto serves = [&](const std::string& name) {
    return WhoAmI(**server, "", name + "-ca").ok();
  };
  EXPECT_TRUE(serves("old"));
  EXPECT_FALSE(serves("new"));
  EXPECT_EQ(failures(), 0);

  std::ofstream(Path("server.pem")) << "no certificate";
  EXPECT_TRUE(serves("old"));
  EXPECT_EQ(failures(), 1);
  EXPECT_TRUE(serves("old"));
  EXPECT_EQ(failures(), 1);  // once for every change, however many handshakes see it
  std::filesystem::remove(Path("server.pem"));
  EXPECT_TRUE(serves("old"));
  EXPECT_EQ(failures(), 2);
  Copy("new.pem", "server.pem");  // its key is still to come
  EXPECT_TRUE(serves("old"));
  EXPECT_FALSE(serves("new"));
  EXPECT_EQ(failures(), 3);
  Copy("new.key", "server.key");
  EXPECT_TRUE(serves("new"));
  EXPECT_FALSE(serves("old"));
  EXPECT_EQ(failures(), 3);
  (*server)->Drain(absl::ZeroDuration());
  spdlog::set_default_logger(logger_before);
  EXPECT_THAT(log.str(), HasSubstr("server.pem: holds no certificate in PEM"));
  EXPECT_THAT(log.str(), HasSubstr("server.pem: cannot be read"));
  EXPECT_THAT(log.str(), HasSubstr("server.key: is not the key of"));
  EXPECT_THAT(log.str(), HasSubstr("the TLS files were read anew"));
}

TEST_F(Certificates, FilesThatDoNotFitTogetherAreRefusedAtTheStart) {
  MakeCertificate("a", "/CN=a");
  MakeCertificate("b", "/CN=b");
  EXPECT_TRUE(ReadTlsFiles({.certificate = Path("a.pem"), .key = Path("a.key")}).ok());
  const auto mixed = ReadTlsFiles({.certificate = Path("a.pem"), .key = Path("b.key")}).status();
  EXPECT_EQ(mixed.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(mixed.message()), HasSubstr("is not the key of"));
  EXPECT_EQ(ReadTlsFiles({.certificate = Path("a.key"), .key = Path("a.key")}).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(ReadTlsFiles({.certificate = Path("none.pem"), .key = Path("a.key")}).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace epsledger::transport
