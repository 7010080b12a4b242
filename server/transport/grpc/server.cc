#include "server/transport/grpc/server.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/protobuf/stubs/logging.h"
#include "grpc/compression.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/impl/server_builder_option.h"
#include "grpcpp/security/server_credentials.h"
#include "grpcpp/server_builder.h"
#include "grpcpp/support/channel_arguments.h"
#include "prometheus/counter.h"
#include "server/access/secret.h"
#include "server/statement/signing_key.h"
#include "server/transport/grpc/handlers/access_handlers.h"
#include "server/transport/grpc/handlers/accounting_handlers.h"
#include "server/transport/grpc/handlers/audit_handlers.h"
#include "server/transport/grpc/handlers/budget_handlers.h"
#include "server/transport/grpc/handlers/charge_handlers.h"
#include "server/transport/grpc/handlers/server_handlers.h"
#include "server/transport/grpc/handlers/session_handlers.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/status_mapping.h"
#include "spdlog/spdlog.h"

namespace epsledger::transport {
namespace {

constexpr const char* kServiceNames[] = {
    "epsledger.v1.BudgetService",     "epsledger.v1.SessionService", "epsledger.v1.ChargeService",
    "epsledger.v1.AccountingService", "epsledger.v1.AuditService",   "epsledger.v1.AccessService",
    "epsledger.v1.ServerService"};

// One core is left to gRPC and the ledger; but one slow computation must not hold up all others.
size_t ComputationThreads() {
  return std::clamp<size_t>(std::thread::hardware_concurrency(), 3, 9) - 1;
}

absl::Status CheckOptions(const ServerOptions& options) {
  if (options.addresses.empty()) {
    return absl::InvalidArgumentError("no address to listen on, want at least one");
  }
  if (options.require_tokens && options.insecure_no_access_control) {
    return absl::InvalidArgumentError("tokens are required and access control is off: say one");
  }
  if (options.tls_certificate_file.empty() != options.tls_key_file.empty()) {
    return absl::InvalidArgumentError("a TLS certificate and its key go together: give both");
  }
  if (!options.tls_certificate_file.empty()) return absl::OkStatus();
  if (!options.tls_client_ca_file.empty()) {
    return absl::InvalidArgumentError(
        "a TLS client CA needs the server's own certificate and key too");
  }
  for (const std::string& address : options.addresses) {
    if (!options.insecure_plaintext && !IsLocalAddress(address)) {
      return absl::InvalidArgumentError(
          absl::StrCat(address,
                       " can be reached from other machines and would speak plaintext, in which "
                       "anybody on the way can read and change charges: give a TLS certificate and "
                       "key, listen on 127.0.0.1 or a unix socket, or say --insecure-plaintext"));
    }
  }
  return absl::OkStatus();
}

bool OthersCanReach(const ServerOptions& options) {
  return options.others_can_reach ||
         !std::all_of(options.addresses.begin(), options.addresses.end(), IsLocalAddress);
}

void SetLimits(grpc::ServerBuilder* builder) {
  const auto milliseconds = [](absl::Duration duration) {
    return static_cast<int>(absl::ToInt64Milliseconds(duration));
  };
  builder->SetMaxReceiveMessageSize(kMaxRequestBytes);
  // A compressed message is refused by its headers. gRPC knows how large it is only once it is
  // unpacked, and 100 kB may be 100 MB; without the filter nothing is unpacked in any case.
  builder->AddChannelArgument(GRPC_COMPRESSION_CHANNEL_ENABLED_ALGORITHMS_BITSET,
                              1 << GRPC_COMPRESS_NONE);
  builder->AddChannelArgument(GRPC_ARG_ENABLE_PER_MESSAGE_DECOMPRESSION, 0);
  builder->AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxConcurrentStreams);
  builder->AddChannelArgument(GRPC_ARG_MAX_METADATA_SIZE, kMaxMetadataBytes);
  builder->AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS,
                              milliseconds(kHandshakeTimeout));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_MS, milliseconds(kMaxConnectionAge));
  builder->AddChannelArgument(GRPC_ARG_MAX_CONNECTION_AGE_GRACE_MS,
                              milliseconds(kMaxConnectionAgeGrace));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(kKeepaliveTime));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(kKeepaliveTimeout));
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS,
                              milliseconds(kMinClientPingInterval));
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Otherwise a second server takes the same port without a word, and calls go to either.
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
}

// Whoever links gRPC's reflection has it in every server: this leaves it in or takes it out.
class ReflectionOption final : public grpc::ServerBuilderOption {
 public:
  explicit ReflectionOption(bool on) : on_(on) {}

  void UpdateArguments(grpc::ChannelArguments*) override {}
  void UpdatePlugins(std::vector<std::unique_ptr<grpc::ServerBuilderPlugin>>* plugins) override {
    auto reflection = std::make_unique<grpc::reflection::ProtoServerReflectionPlugin>();
    plugins->erase(std::remove_if(plugins->begin(), plugins->end(),
                                  [name = reflection->name()](const auto& plugin) {
                                    return plugin->name() == name;
                                  }),
                   plugins->end());
    if (on_) plugins->push_back(std::move(reflection));
  }

 private:
  const bool on_;
};

// The address with the port that was chosen.
std::string WithPort(const std::string& address, int port) {
  if (absl::StartsWith(address, "unix:")) return address;
  return absl::StrCat(address.substr(0, address.rfind(':')), ":", port);
}

void SetHealth(grpc::Server& server, bool serving) {
  grpc::HealthCheckServiceInterface* health = server.GetHealthCheckService();
  health->SetServingStatus("", serving);
  for (const char* name : kServiceNames) health->SetServingStatus(name, serving);
}

}  // namespace

bool IsLocalAddress(const std::string& address) {
  if (absl::StartsWith(address, "unix:")) return true;
  const std::string host = address.substr(0, address.rfind(':'));
  if (host == "localhost" || host == "[::1]") return true;
  // 127.a.b.c in digits: a name like 127.example.org may lead anywhere.
  return absl::StartsWith(host, "127.") && std::count(host.begin(), host.end(), '.') == 3 &&
         host.find_first_not_of("0123456789.") == host.npos;
}

absl::StatusOr<std::unique_ptr<Server>> Server::Start(const ServerOptions& options,
                                                      core::DurableLedger& ledger) {
  absl::Status status = CheckOptions(options);
  if (!status.ok()) return status;
  std::unique_ptr<Server> server(new Server(options, ledger));
  status = server->Listen(options);
  if (!status.ok()) return status;
  server->housekeeper_ = std::thread([raw = server.get()] { raw->KeepHouse(); });
  return server;
}

Server::Server(const ServerOptions& options, core::DurableLedger& ledger)
    : ledger_(ledger),
      access_(ledger, {.required = options.require_tokens || OthersCanReach(options),
                       .insecure_off = options.insecure_no_access_control}),
      in_process_pass_(access::MakeSecret().value_or("")),
      admission_(access_, !options.tls_client_ca_file.empty(), in_process_pass_),
      registry_(options.registry ? options.registry : std::make_shared<prometheus::Registry>()),
      metrics_(std::make_shared<metrics::RpcMetrics>(registry_)),
      reload_failures_(
          prometheus::BuildCounter()
              .Name("epsledger_certificate_reload_failures_total")
              .Help("Changes of TLS files that were left alone: the certificate before stays.")
              .Register(*registry_)
              .Add({})),
      open_calls_(admission_, metrics_, kMaxOpenCalls, kMaxOpenRequestBytes),
      open_streams_(std::make_shared<OpenCalls>(admission_, metrics_, kMaxOpenStreams)),
      computations_(
          std::make_shared<ComputationPool>(ComputationThreads(), kMaxQueuedComputations)),
      priced_ledger_(ledger, computations_) {}

Server::~Server() {
  Drain(absl::ZeroDuration());
  if (housekeeper_.joinable()) housekeeper_.join();
}

absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> Server::Credentials(
    const ServerOptions& options) {
  if (options.tls_certificate_file.empty()) return grpc::InsecureServerCredentials();
  absl::StatusOr<std::unique_ptr<CertificateFiles>> files =
      CertificateFiles::Open({.certificate = options.tls_certificate_file,
                              .key = options.tls_key_file,
                              .client_ca = options.tls_client_ca_file},
                             [&failures = reload_failures_](const absl::Status& status) {
                               if (status.ok()) return spdlog::info("the TLS files were read anew");
                               failures.Increment();
                               const std::string why(status.message());
                               spdlog::error(
                                   "the TLS files have changed and are left alone, the certificate "
                                   "before stays in use: {}",
                                   why);
                             });
  if (!files.ok()) return files.status();
  certificates_.push_back(*std::move(files));
  return certificates_.back()->Credentials();
}

absl::Status Server::Listen(const ServerOptions& options) {
  absl::StatusOr<statement::SigningKey> key =
      options.statement_key_file.empty()
          ? statement::SigningKey::Generate()
          : statement::SigningKey::LoadOrCreate(options.statement_key_file);
  if (!key.ok()) return key.status();
  ServerFacts facts{.version = EPSLEDGER_VERSION,
                    .storage = options.storage,
                    .start_time = absl::Now(),
                    .statement_public_key = key->public_key()};
  // protobuf writes a line for every request whose text is not UTF-8: the client is told instead.
  google::protobuf::SetLogHandler(nullptr);
  grpc::EnableDefaultHealthCheckService(true);

  absl::StatusOr<std::string> head_secret = key->SecretFor("epsledger.v1.LedgerHead.tag");
  if (!head_secret.ok()) return head_secret.status();
  const HandlerContext context{
      priced_ledger_,
      open_calls_,
      open_streams_,
      std::make_shared<WatchTurns>(kMaxWatchReads),
      computations_,
      access_,
      std::make_shared<const HeadKey>(*std::move(head_secret), ledger_.Incarnations())};
  services_.push_back(MakeAccessService(context));
  services_.push_back(MakeBudgetService(context));
  services_.push_back(MakeSessionService(context));
  services_.push_back(MakeChargeService(context));
  services_.push_back(MakeAccountingService(context));
  services_.push_back(MakeAuditService(
      context, std::make_shared<const statement::SigningKey>(*std::move(key)), EPSLEDGER_VERSION));
  services_.push_back(MakeServerService(context, std::move(facts)));

  grpc::ServerBuilder builder;
  SetLimits(&builder);
  builder.SetOption(
      std::make_unique<ReflectionOption>(options.reflection.value_or(!access_.IsOn())));
  for (const auto& service : services_) builder.RegisterService(service.get());
  std::vector<int> ports(options.addresses.size(), 0);
  for (size_t i = 0; i < ports.size(); ++i) {
    absl::StatusOr<std::shared_ptr<grpc::ServerCredentials>> credentials = Credentials(options);
    if (!credentials.ok()) return credentials.status();
    builder.AddListeningPort(options.addresses[i], *credentials, &ports[i]);
  }
  server_ = builder.BuildAndStart();
  for (size_t i = 0; i < ports.size(); ++i) {
    if (server_ == nullptr || ports[i] == 0) {
      return absl::UnavailableError(
          absl::StrCat(options.addresses[i],
                       ": cannot listen there: the address is taken, not this machine's, not "
                       "permitted, or the TLS files are not valid"));
    }
    addresses_.push_back(WithPort(options.addresses[i], ports[i]));
  }
  SetHealth(*server_, ledger_.Health().ok());
  return absl::OkStatus();
}

std::shared_ptr<grpc::Channel> Server::InProcessChannel() {
  grpc::ChannelArguments arguments;
  // A privacy statement or a page of charges is larger than what clients take unless told
  // otherwise.
  arguments.SetMaxReceiveMessageSize(-1);
  return server_->InProcessChannel(arguments);
}

void Server::Drain(absl::Duration patience) {
  if (server_ == nullptr) return;
  bool first = false;
  {
    absl::MutexLock lock(&mutex_);
    give_up_ = std::min(give_up_, SteadyNow() + patience);
    first = !std::exchange(draining_, true);
  }
  if (!first) return when_drained_.wait();
  SetHealth(*server_, false);
  // Returns when every call is over: the housekeeper answers those that remain.
  server_->Shutdown(absl::ToChronoTime(absl::Now() + patience));
  server_->Wait();
  access_.RecordAllDenials();
  drained_.set_value();
}

void Server::KeepHouse() {
  bool serving = true;
  while (when_drained_.wait_for(absl::ToChronoNanoseconds(kHousekeepingInterval)) !=
         std::future_status::ready) {
    bool draining = false;
    SteadyTime give_up;
    {
      absl::MutexLock lock(&mutex_);
      draining = draining_;
      give_up = give_up_;
    }
    const SteadyTime now = SteadyNow();
    access_.RecordDueDenials(absl::Now());
    open_calls_.FailArrivedBefore(now - kMaxCallDuration, HeldTooLong());
    open_streams_->FailArrivedBefore(now - kMaxStreamAge, StreamTooOld());
    open_streams_->KeepHouse(now);
    if (draining) {
      open_streams_->Drain();
      if (now >= give_up) {
        open_calls_.FailArrivedBefore(absl::InfiniteDuration(), Stopping());
        open_streams_->FailArrivedBefore(absl::InfiniteDuration(), Stopping());
      }
      continue;
    }
    const bool healthy = ledger_.Health().ok();
    if (healthy != serving) SetHealth(*server_, serving = healthy);
  }
}

}  // namespace epsledger::transport
