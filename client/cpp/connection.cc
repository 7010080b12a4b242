#include "client/cpp/connection.h"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cpp/address.h"

namespace epsledger {
namespace {

// A server that restarts is found again within this; gRPC's own default is up to two minutes.
constexpr int kInitialReconnectMs = 100;
constexpr int kMaxReconnectMs = 2'000;
// gRPC's "minimum backoff" is how long one attempt to connect may take: a server that has just been
// started, or is busy, takes a while to answer.
constexpr int kConnectTimeoutMs = 10'000;
constexpr int kKeepaliveMs = 60'000;
constexpr int kKeepaliveTimeoutMs = 20'000;

// Waits; with a channel that is not connected, at most until it is. A thread that merely slept
// would leave the channel to gRPC's own poller, which looks every five seconds.
void WaitOrConnect(grpc::Channel& channel, std::chrono::nanoseconds wait) {
  if (channel.GetState(/*try_to_connect=*/true) == GRPC_CHANNEL_READY) {
    std::this_thread::sleep_for(wait);
  } else {
    channel.WaitForConnected(std::chrono::system_clock::now() + wait);
  }
}

absl::StatusOr<std::string> ReadPem(const char* option, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  if (!file) {
    return absl::NotFoundError(
        absl::StrCat("tls.", option, ": cannot read ", path, ": ", std::strerror(errno)));
  }
  return text.str();
}

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
    absl::StatusOr<std::string> pem = ReadPem("ca_file", tls.ca_file);
    if (!pem.ok()) return pem.status();
    files.pem_root_certs = *std::move(pem);
  }
  if (!tls.certificate_file.empty()) {
    absl::StatusOr<std::string> certificate = ReadPem("certificate_file", tls.certificate_file);
    if (!certificate.ok()) return certificate.status();
    absl::StatusOr<std::string> key = ReadPem("key_file", tls.key_file);
    if (!key.ok()) return key.status();
    files.pem_cert_chain = *std::move(certificate);
    files.pem_private_key = *std::move(key);
  }
  return grpc::SslCredentials(files);
}

}  // namespace

Connection::Connection(const std::shared_ptr<grpc::Channel>& channel, RetryOptions retry)
    : retry_(std::move(retry)),
      budgets_(v1::BudgetService::NewStub(channel)),
      sessions_(v1::SessionService::NewStub(channel)),
      charges_(v1::ChargeService::NewStub(channel)),
      audit_(v1::AuditService::NewStub(channel)) {}

absl::StatusOr<std::shared_ptr<Connection>> Connection::Open(const ClientOptions& options) {
  if (options.address.empty()) {
    return absl::InvalidArgumentError("address: got \"\", want \"host:port\" or \"unix:path\"");
  }
  if (absl::Status valid = ValidateRetryOptions(options.retry); !valid.ok()) return valid;
  absl::StatusOr<std::shared_ptr<grpc::ChannelCredentials>> credentials = Credentials(options);
  if (!credentials.ok()) return credentials.status();

  grpc::ChannelArguments arguments;
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kInitialReconnectMs);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kConnectTimeoutMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kMaxReconnectMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeoutMs);
  // A proxy from the environment would carry a local connection, in the clear, off the machine.
  if (!options.tls.enabled) arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  auto channel = grpc::CreateCustomChannel(options.address, *credentials, arguments);
  RetryOptions retry = options.retry;
  if (!retry.sleep) {
    retry.sleep = [channel](std::chrono::nanoseconds wait) { WaitOrConnect(*channel, wait); };
  }
  return std::shared_ptr<Connection>(new Connection(channel, std::move(retry)));
}

}  // namespace epsledger
