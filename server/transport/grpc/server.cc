#include "server/transport/grpc/server.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "accounting/event/printable.h"
#include "accounting/event/status_macros.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/stubs/logging.h"
#include "prometheus/counter.h"
#include "server/access/method_rules.h"
#include "server/statement/signing_key.h"
#include "server/transport/grpc/calls/call_record.h"
#include "server/transport/grpc/handlers/service_handlers.h"
#include "server/transport/grpc/ledger_services.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/standard/reflection_service.h"
#include "server/transport/grpc/status/status_mapping.h"
#include "server/transport/wire/limits.h"
#include "spdlog/spdlog.h"

namespace epsledger::transport {
namespace {

std::vector<std::string> ServiceNames() {
  std::vector<std::string> names;
  for (const google::protobuf::ServiceDescriptor* service : LedgerServices()) {
    names.push_back(service->full_name());
  }
  return names;
}

// How often a stop checks whether calls have ended.
constexpr absl::Duration kEndedInterval = absl::Milliseconds(2);

// The purpose of the secret that tags heads. It must never change: clients hold tags.
constexpr char kHeadPurpose[] = "epsledger.v1.LedgerHead.tag";
constexpr size_t kMaxNameBytes = 128;

// Leaves one core to gRPC and the ledger; but one slow computation must not block all others.
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
  if (options.identity_provider != nullptr && options.insecure_no_access_control) {
    return absl::InvalidArgumentError(
        "callers are known by an issuer's tokens and access control is off: say one");
  }
  if (options.name.size() > kMaxNameBytes || !accounting::IsPrintable(options.name)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--server-name: want at most ", kMaxNameBytes, " bytes of printable text"));
  }
  for (const std::string& address : options.addresses) {
    if (address.empty()) {
      return absl::InvalidArgumentError("--listen: got \"\", want HOST:PORT or unix:PATH");
    }
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

// Returns every method of the services, and those that strangers may call.
std::map<std::string, wire::Method, std::less<>> WireMethods(const ServiceMethods& methods,
                                                             bool reflection) {
  std::map<std::string, wire::Method, std::less<>> found;
  const auto* pool = google::protobuf::DescriptorPool::generated_pool();
  // `described_as`: the service whose methods this one has.
  const auto add = [&](const std::string& name, const std::string& described_as, bool is_open) {
    const google::protobuf::ServiceDescriptor* service = pool->FindServiceByName(described_as);
    for (int m = 0; m < service->method_count(); ++m) {
      const google::protobuf::MethodDescriptor& method = *service->method(m);
      const std::string full_name = absl::StrCat(name, ".", method.name());
      const access::MethodRule* rule = access::FindMethodRule(full_name);
      found[absl::StrCat("/", name, "/", method.name())] = {
          .full_name = full_name,
          .unary = methods.FindUnary(full_name),
          .stream = methods.FindStream(full_name),
          .takes_stream = method.client_streaming(),
          .is_open = is_open,
          .max_request_bytes = is_open ? wire::kMaxOpenRequestBytes : kMaxRequestBytes,
          .usual_answer_bytes =
              rule != nullptr && rule->is_of_one_row ? kMaxRowBytes : kMaxPageBytes};
    }
  };
  for (const std::string& name : ServiceNames()) add(name, name, false);
  add(kHealthService, kHealthService, true);
  if (reflection) {
    for (const char* name : kReflectionServices) add(name, kReflectionServices[0], true);
  }
  return found;
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
                       .insecure_off = options.insecure_no_access_control,
                       .identity_provider = options.identity_provider}),
      admission_(access_, !options.tls_client_ca_file.empty()),
      access_log_(options.access_log),
      registry_(options.registry ? options.registry : std::make_shared<prometheus::Registry>()),
      metrics_(std::make_shared<metrics::RpcMetrics>(registry_)),
      reload_failures_(
          prometheus::BuildCounter()
              .Name("epsledger_certificate_reload_failures_total")
              .Help("Changes of TLS files that were left alone: the certificate before stays.")
              .Register(*registry_)
              .Add({})),
      read_rate_(std::make_shared<ReadRate>(options.quotas.read_bytes_per_second_of_tenant)),
      refusal_rate_(std::make_shared<RefusalRate>()),
      open_calls_(admission_, metrics_, read_rate_, refusal_rate_, kMaxOpenCalls,
                  kMaxOpenRequestBytes, access_log_),
      open_streams_(std::make_shared<OpenCalls>(admission_, metrics_, read_rate_, refusal_rate_,
                                                kMaxOpenStreams, std::numeric_limits<size_t>::max(),
                                                access_log_)),
      computations_(
          std::make_shared<ComputationPool>(ComputationThreads(), kMaxQueuedComputations)),
      priced_ledger_(ledger, computations_),
      quota_ledger_(priced_ledger_, options.quotas),
      health_(std::make_shared<HealthService>(ServiceNames())) {}

Server::~Server() {
  Drain(absl::ZeroDuration());
  if (housekeeper_.joinable()) housekeeper_.join();
}

absl::Status Server::Listen(const ServerOptions& options) {
  ASSIGN_OR_RETURN(statement::SigningKey key,
                   options.statement_key_file.empty()
                       ? statement::SigningKey::Generate()
                       : statement::SigningKey::LoadOrCreate(options.statement_key_file));
  std::vector<std::string> former_public_keys;
  std::vector<std::string> former_secrets;
  for (const std::string& file : options.former_statement_key_files) {
    ASSIGN_OR_RETURN(const statement::SigningKey former, statement::SigningKey::Load(file));
    ASSIGN_OR_RETURN(std::string secret, former.SecretFor(kHeadPurpose));
    former_public_keys.push_back(former.public_key());
    former_secrets.push_back(std::move(secret));
  }
  ServerFacts facts{.version = EPSLEDGER_VERSION,
                    .name = options.name,
                    .storage = options.storage,
                    .quotas = options.quotas,
                    .start_time = absl::Now(),
                    .statement_public_key = key.public_key(),
                    .former_statement_public_keys = std::move(former_public_keys)};
  // protobuf logs a line for every request whose text is not UTF-8; here the client gets an error
  // instead.
  google::protobuf::SetLogHandler(nullptr);

  ASSIGN_OR_RETURN(std::string head_secret, key.SecretFor(kHeadPurpose));
  const HandlerContext context{quota_ledger_,
                               open_calls_,
                               open_streams_,
                               std::make_shared<WatchTurns>(kMaxWatchReads),
                               computations_,
                               access_,
                               std::make_shared<const HeadKey>(
                                   std::move(head_secret), ledger_.Incarnations(), former_secrets)};
  AddAccessService(context, methods_);
  AddProposalService(context, methods_);
  AddBudgetService(context, methods_);
  AddSessionService(context, methods_);
  AddChargeService(context, methods_);
  AddAccountingService(context, methods_);
  AddAuditService(context, std::make_shared<const statement::SigningKey>(std::move(key)), facts,
                  methods_);
  AddServerService(context, std::move(facts), methods_);
  HealthService::AddTo(methods_, health_);
  std::vector<std::string> shown = ServiceNames();
  shown.insert(shown.end(), {kHealthService, kReflectionServices[0]});
  AddReflectionService(shown, methods_);
  health_->SetServing(ledger_.Health().ok());
  return ListenOnWire(options);
}

absl::Status Server::ListenOnWire(const ServerOptions& options) {
  wire::Services services{
      .methods = WireMethods(methods_, options.reflection.value_or(!access_.IsOn())),
      .admit = [this](const wire::Method& method, const wire::CallOrigin& origin) {
        access::Caller caller;
        const absl::Status status = admission_.Admit(origin, method.full_name, &caller).status();
        if (status.ok()) return grpc::Status::OK;
        grpc::Status denied = ToGrpcStatus(status);
        // No service will see the call, so record it here.
        Record(access_log_, method.full_name, origin, std::move(caller), "", SteadyNow(), denied);
        return denied;
      }};
  ASSIGN_OR_RETURN(
      auto wire,
      wire::WireServer::Start({.addresses = options.addresses,
                               .tls = {.certificate = options.tls_certificate_file,
                                       .key = options.tls_key_file,
                                       .client_ca = options.tls_client_ca_file},
                               .on_reload =
                                   [&failures = reload_failures_](const absl::Status& status) {
                                     if (status.ok())
                                       return spdlog::info("the TLS files were read anew");
                                     failures.Increment();
                                     const std::string why(status.message());
                                     spdlog::error(
                                         "the TLS files have changed and are left alone, the "
                                         "certificate before stays in "
                                         "use: {}",
                                         why);
                                   },
                               .peer_connections_per_second = options.peer_connections_per_second},
                              std::move(services)));
  wire_ = std::move(wire);
  return absl::OkStatus();
}

InProcess Server::in_process() {
  return {.methods = methods_,
          .probe_wire = [this](absl::AnyInvocable<void(const absl::Status&) &&> done) {
            wire_->Probe(std::move(done));
          }};
}

void Server::Drain(absl::Duration patience) {
  if (wire_ == nullptr) return;
  bool first = false;
  {
    absl::MutexLock lock(&mutex_);
    give_up_ = std::min(give_up_, SteadyNow() + patience);
    first = !std::exchange(draining_, true);
  }
  if (!first) return when_drained_.wait();
  health_->SetServing(false);
  wire_->GoAway();
  // After `patience` the housekeeper ends the calls that are still open: all of the wire, and
  // streams of HTTP.
  const SteadyTime give_up = SteadyNow() + patience + kLastWordsPatience;
  const int64_t left_on_wire = wire_->AwaitEnded(give_up - SteadyNow());
  const auto open = [this] { return open_calls_.size() + open_streams_->size(); };
  while (open() > 0 && SteadyNow() < give_up) absl::SleepFor(kEndedInterval);
  const int64_t left = std::max(left_on_wire, static_cast<int64_t>(open()));
  if (left > 0) spdlog::warn("stopping while {} calls have not ended", left);
  wire_->AwaitTaken(std::min(patience, kLastWordsPatience));
  access_.RecordAllDenials();
  drained_.set_value();
}

void Server::KeepHouse() {
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
    health_->SetServing(ledger_.Health().ok());
  }
}

}  // namespace epsledger::transport
