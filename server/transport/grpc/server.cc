#include "server/transport/grpc/server.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/stubs/logging.h"
#include "grpcpp/ext/proto_server_reflection_plugin.h"
#include "grpcpp/health_check_service_interface.h"
#include "grpcpp/impl/server_builder_option.h"
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
#include "server/transport/wire/limits.h"
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

// grpc.health.v1.Health.Check without gRPC, whose calls are dear: strangers may ask as often as
// they like. A HealthCheckRequest is the name of a service in field 1, or nothing.
void CheckHealth(const wire::UnaryRequest& request, bool serving) {
  const absl::string_view bytes = request.message;
  const bool is_named = bytes.size() >= 2 && bytes[0] == 0x0a &&
                        static_cast<size_t>(static_cast<uint8_t>(bytes[1])) == bytes.size() - 2 &&
                        bytes.size() - 2 < 0x80;
  const absl::string_view service = is_named ? bytes.substr(2) : absl::string_view();
  if (!is_named && !bytes.empty()) {
    return request.responder->Respond({grpc::StatusCode::INVALID_ARGUMENT,
                                       "request: not a message grpc.health.v1.HealthCheckRequest"},
                                      "");
  }
  const bool is_known =
      service.empty() || std::any_of(std::begin(kServiceNames), std::end(kServiceNames),
                                     [&](const char* name) { return service == name; });
  if (!is_known) return request.responder->Respond({grpc::StatusCode::NOT_FOUND, ""}, "");
  request.responder->Respond(grpc::Status::OK, serving ? "\x08\x01" : "\x08\x02");
}

// The methods whose answers tell of one charge or attempt.
bool IsOfOneRow(absl::string_view full_name) {
  for (const char* name :
       {"ChargeService.Charge", "ChargeService.PreviewCharge", "ChargeService.GetCharge",
        "ChargeService.AcquireLease", "ChargeService.SettleLease", "SessionService.OpenAttempt"}) {
    if (absl::EndsWith(full_name, name)) return true;
  }
  return false;
}

// Every method of the services, and those that strangers may call.
std::map<std::string, wire::Method, std::less<>> Methods(const UnaryMethods& unary_methods,
                                                         bool reflection) {
  std::map<std::string, wire::Method, std::less<>> methods;
  const auto add = [&](const std::string& service, const std::string& name, bool takes_stream,
                       bool is_open) {
    const std::string full_name = absl::StrCat(service, ".", name);
    const UnaryMethods::Method* unary = unary_methods.Find(full_name);
    methods[absl::StrCat("/", service, "/", name)] = {
        .full_name = full_name,
        .unary = unary == nullptr ? nullptr : *unary,
        .takes_stream = takes_stream,
        .is_open = is_open,
        .max_request_bytes = is_open ? wire::kMaxOpenRequestBytes : kMaxRequestBytes,
        .usual_answer_bytes = IsOfOneRow(full_name) ? kMaxRowBytes : kMaxPageBytes};
  };
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  for (const char* name : kServiceNames) {
    const google::protobuf::ServiceDescriptor* service = pool->FindServiceByName(name);
    for (int m = 0; m < service->method_count(); ++m) {
      add(name, service->method(m)->name(), service->method(m)->client_streaming(), false);
    }
  }
  add("grpc.health.v1.Health", "Check", false, true);
  add("grpc.health.v1.Health", "Watch", false, true);
  if (reflection) {
    add("grpc.reflection.v1alpha.ServerReflection", "ServerReflectionInfo", true, true);
  }
  return methods;
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
  services_.push_back(MakeAccessService(context, unary_methods_));
  services_.push_back(MakeBudgetService(context, unary_methods_));
  services_.push_back(MakeSessionService(context, unary_methods_));
  services_.push_back(MakeChargeService(context, unary_methods_));
  services_.push_back(MakeAccountingService(context, unary_methods_));
  services_.push_back(
      MakeAuditService(context, std::make_shared<const statement::SigningKey>(*std::move(key)),
                       EPSLEDGER_VERSION, unary_methods_));
  services_.push_back(MakeServerService(context, std::move(facts), unary_methods_));

  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(kMaxRequestBytes);
  builder.SetOption(
      std::make_unique<ReflectionOption>(options.reflection.value_or(!access_.IsOn())));
  for (const auto& service : services_) builder.RegisterService(service.get());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::UnavailableError("gRPC could not start");
  serving_ = ledger_.Health().ok();
  SetHealth(*server_, serving_);
  return ListenOnWire(options);
}

absl::Status Server::ListenOnWire(const ServerOptions& options) {
  auto methods = Methods(unary_methods_, options.reflection.value_or(!access_.IsOn()));
  methods["/grpc.health.v1.Health/Check"].unary = [this](const wire::UnaryRequest& request) {
    CheckHealth(request, serving_);
  };
  wire::Services services{
      .methods = std::move(methods),
      .admit =
          [this](const wire::Method& method, const wire::CallOrigin& origin) {
            const absl::Status status = admission_.Admit(origin, method.full_name).status();
            return status.ok() ? grpc::Status::OK : ToGrpcStatus(status);
          },
      .new_channel = [this] { return NewChannel(); },
      .introduce = [this](const wire::Peer& peer) { return admission_.Introduce(peer); }};
  auto wire = wire::WireServer::Start(
      {.addresses = options.addresses,
       .tls = {.certificate = options.tls_certificate_file,
               .key = options.tls_key_file,
               .client_ca = options.tls_client_ca_file},
       .on_reload =
           [&failures = reload_failures_](const absl::Status& status) {
             if (status.ok()) return spdlog::info("the TLS files were read anew");
             failures.Increment();
             const std::string why(status.message());
             spdlog::error(
                 "the TLS files have changed and are left alone, the certificate before stays in "
                 "use: {}",
                 why);
           }},
      std::move(services));
  if (!wire.ok()) return wire.status();
  wire_ = *std::move(wire);
  return absl::OkStatus();
}

InProcess Server::in_process() {
  return {.unary_methods = unary_methods_,
          .channel = NewChannel(),
          .introduce = [this](const wire::Peer& peer) { return admission_.Introduce(peer); },
          .probe_wire =
              [this](absl::AnyInvocable<void(const absl::Status&) &&> done) {
                wire_->Probe(std::move(done));
              }};
}

std::shared_ptr<grpc::Channel> Server::NewChannel() {
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
  serving_ = false;
  SetHealth(*server_, false);
  if (wire_ != nullptr) {
    wire_->GoAway();
    // The housekeeper ends what is still open after `patience`.
    const int64_t left = wire_->AwaitEnded(patience + kLastWordsPatience);
    if (left > 0) spdlog::warn("stopping while {} calls have not ended", left);
  }
  // Returns when every call is over: the housekeeper answers those that remain.
  server_->Shutdown(absl::ToChronoTime(absl::Now() + patience));
  server_->Wait();
  if (wire_ != nullptr) wire_->AwaitTaken(std::min(patience, kLastWordsPatience));
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
    open_calls_.KeepHouse(now);
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
    serving_ = healthy;
  }
}

}  // namespace epsledger::transport
