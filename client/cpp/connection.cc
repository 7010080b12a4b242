#include "client/cpp/connection.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <grpcpp/support/client_interceptor.h>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cpp/address.h"

namespace epsledger {
namespace {

// Reconnects to a restarted server within this time; gRPC's default is up to two minutes.
constexpr int kInitialReconnectMs = 100;
constexpr int kMaxReconnectMs = 2'000;
// gRPC's "minimum backoff" is the time that one attempt to connect may take: a server that has just
// started, or is busy, takes a while to answer.
constexpr int kConnectTimeoutMs = 10'000;
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;

// Waits; if the channel is not connected, at most until it is. A thread that only slept would leave
// the channel to gRPC's own poller, which looks every five seconds.
void WaitOrConnect(grpc::Channel& channel, std::chrono::nanoseconds wait) {
  if (channel.GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY) {
    std::this_thread::sleep_for(wait);
  } else {
    channel.WaitForConnected(std::chrono::system_clock::now() + wait);
  }
}

absl::StatusOr<std::string> ReadPem(const char* option, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat("tls.", option, ": cannot read ", path, ": ", std::strerror(errno)));
  }
  std::ostringstream text;
  text << file.rdbuf();
  // gRPC takes an empty text for none: authorities that the caller did not name would be trusted.
  if (text.str().empty()) {
    return absl::NotFoundError(
        absl::StrCat("tls.", option, ": got ", path, ", want a PEM file that is not empty"));
  }
  return text.str();
}

absl::Status CheckToken(const ClientOptions& options) {
  const std::string& token = options.token;
  // The error never repeats the token: errors end up in logs.
  if (std::any_of(token.begin(), token.end(), [](char c) { return c <= 0x20 || c >= 0x7f; })) {
    return absl::InvalidArgumentError("token: want the secret of a token, without white space");
  }
  if (!token.empty() && !options.tls.enabled && !IsLocalAddress(options.address)) {
    return absl::InvalidArgumentError(
        absl::StrCat("token: would be sent in plaintext to ", options.address,
                     ", where others can read it on the way: enable TLS"));
  }
  return absl::OkStatus();
}

// Adds the token to every call of a channel. Call credentials would do this too, but gRPC refuses
// them over the plaintext of a local connection.
class TokenSender final : public grpc::experimental::Interceptor {
 public:
  explicit TokenSender(const std::string& authorization) : authorization_(authorization) {}

  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->emplace("authorization", authorization_);
    }
    methods->Proceed();
  }

 private:
  const std::string& authorization_;
};

class TokenSenderFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  explicit TokenSenderFactory(const std::string& token)
      : authorization_(absl::StrCat("Bearer ", token)) {}

  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo*) override {
    return new TokenSender(authorization_);  // gRPC owns it
  }

 private:
  const std::string authorization_;
};

absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> Credentials(
    const ClientOptions& options) {
  const TlsOptions& tls = options.tls;
  if (!tls.enabled) {
    if (!tls.ca_file.empty() || !tls.certificate_file.empty() || !tls.key_file.empty()) {
      return absl::InvalidArgumentError(
          "tls.enabled: got false with certificate files, want true: they would not be used");
    }
    if (!options.allow_insecure && !IsLocalAddress(options.address)) {
      return absl::InvalidArgumentError(
          absl::StrCat("address: got ", options.address,
                       " without TLS, want a loopback address or a unix socket: enable TLS, or "
                       "allow an insecure "
                       "connection if nobody else can reach the network in between"));
    }
    return grpc::InsecureChannelCredentials();
  }
  if (tls.certificate_file.empty() != tls.key_file.empty()) {
    return absl::InvalidArgumentError(
        "tls: got one of certificate_file and key_file, want both or neither");
  }
  grpc::SslCredentialsOptions files;
  if (!tls.ca_file.empty()) {
    ASSIGN_OR_RETURN(std::string pem, ReadPem("ca_file", tls.ca_file));
    files.pem_root_certs = std::move(pem);
  }
  if (!tls.certificate_file.empty()) {
    ASSIGN_OR_RETURN(std::string certificate, ReadPem("certificate_file", tls.certificate_file));
    ASSIGN_OR_RETURN(std::string key, ReadPem("key_file", tls.key_file));
    files.pem_cert_chain = std::move(certificate);
    files.pem_private_key = std::move(key);
  }
  return grpc::SslCredentials(files);
}

}  // namespace

absl::StatusOr<std::string> ReadTokenFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string token, more;
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat("token: cannot read ", path, ": ", std::strerror(errno)));
  }
  if (!(file >> token) || file >> more) {
    return absl::InvalidArgumentError(
        absl::StrCat("token: want one token and nothing else in ", path));
  }
  return token;
}

Connection::Connection(const std::shared_ptr<grpc::Channel>& channel, RetryOptions retry)
    : retry_(std::move(retry)),
      access_(v1::AccessService::NewStub(channel)),
      proposals_(v1::ProposalService::NewStub(channel)),
      budgets_(v1::BudgetService::NewStub(channel)),
      sessions_(v1::SessionService::NewStub(channel)),
      charges_(v1::ChargeService::NewStub(channel)),
      audit_(v1::AuditService::NewStub(channel)),
      accounting_(v1::AccountingService::NewStub(channel)),
      server_(v1::ServerService::NewStub(channel)) {}

absl::StatusOr<std::shared_ptr<Connection>> Connection::Open(const ClientOptions& options) {
  if (options.address.empty()) {
    return absl::InvalidArgumentError("address: got \"\", want \"host:port\" or \"unix:path\"");
  }
  RETURN_IF_ERROR(ValidateRetryOptions(options.retry));
  RETURN_IF_ERROR(CheckToken(options));
  ASSIGN_OR_RETURN(std::shared_ptr<grpc::ChannelCredentials> credentials, Credentials(options));

  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kInitialReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  // A proxy from the environment would carry a local connection off the machine in plaintext.
  if (!options.tls.enabled) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> interceptors;
  if (!options.token.empty()) {
    interceptors.push_back(std::make_unique<TokenSenderFactory>(options.token));
  }
  std::shared_ptr<grpc::Channel> channel = grpc::experimental::CreateCustomChannelWithInterceptors(
      options.address, credentials, arguments, std::move(interceptors));
  RetryOptions retry = options.retry;
  if (!retry.sleep) {
    retry.sleep = [channel](std::chrono::nanoseconds wait) { WaitOrConnect(*channel, wait); };
  }
  return std::shared_ptr<Connection>(new Connection(channel, std::move(retry)));
}

}  // namespace epsledger
