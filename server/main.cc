// epsledgerd: the privacy accounting server. It contains only wiring: flags, the ledger, its
// transport, and an orderly stop.

#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "client/dashboard/packed_dashboard.h"
#include "prometheus/registry.h"
#include "server/access_log/access_log.h"
#include "server/await_ledger.h"
#include "server/flags.h"
#include "server/heads/head_publisher.h"
#include "server/heads/heads_file.h"
#include "server/json_log.h"
#include "server/metrics/observed_ledger.h"
#include "server/oidc/oidc_provider.h"
#include "server/open_store.h"
#include "server/printable.h"
#include "server/statement/signing_key.h"
#include "server/storage/data_directory.h"
#include "server/token_task.h"
#include "server/transport/grpc/health_probe.h"
#include "server/transport/grpc/server.h"
#include "server/transport/http/http_routes.h"
#include "server/transport/http/http_server.h"
#include "server/transport/http/operations_routes.h"
#include "spdlog/sinks/stdout_sinks.h"
#include "spdlog/spdlog.h"

namespace {

using epsledger::Flags;
using epsledger::ReadFlags;
using epsledger::TokenTask;
using epsledger::access_log::AccessLog;
using epsledger::heads::HeadPublisher;
using epsledger::heads::HeadsFile;
using epsledger::metrics::ObservedLedger;
using epsledger::oidc::OidcProvider;
using epsledger::statement::SigningKey;
using epsledger::transport::HttpRoutes;
using epsledger::transport::HttpServer;
using epsledger::transport::IsLocalAddress;
using epsledger::transport::OperationsRoutes;
using epsledger::transport::ProbeHealth;
using epsledger::transport::Server;
using epsledger::transport::StaticFile;

using NamedEntries = std::vector<epsledger::core::NamedEntry>;

// Enough for the maximum of HTTP connections and a few thousand of gRPC.
constexpr rlim_t kEnoughDescriptors = 4096;
// How long a stop waits for calls that are being answered.
constexpr absl::Duration kDrainPatience = absl::Seconds(10);

// Readers see the complete file or none.
absl::Status WriteAddressFile(const std::string& path, const std::vector<std::string>& addresses) {
  const std::string unfinished = path + ".unfinished";
  std::ofstream(unfinished) << absl::StrJoin(addresses, "\n") << "\n";
  std::error_code error;
  std::filesystem::rename(unfinished, path, error);
  if (error) return absl::UnavailableError(path + ": cannot be written: " + error.message());
  return absl::OkStatus();
}

void WarnOfWhatIsOff(const Flags& flags) {
  if (flags.server.insecure_no_access_control) {
    spdlog::warn(
        "--insecure-no-access-control: everybody who reaches the server may do everything");
  }
  if (flags.server.insecure_plaintext) {
    spdlog::warn("--insecure-plaintext: whoever is on the way can read and change calls");
  }
}

// Every connection needs a file descriptor. The soft limit exists for programs that use select(),
// which this one does not.
void RaiseDescriptorLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  limit.rlim_cur = limit.rlim_max;
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_max < kEnoughDescriptors) {
    spdlog::warn(
        "the process may open {} files, connections among them, want {} or more: raise its hard "
        "limit (LimitNOFILE, ulimits), or so many connections stop it from taking others",
        limit.rlim_max, kEnoughDescriptors);
  }
}

// All servers of one database sign with the same key.
absl::StatusOr<std::string> StatementKeyFile(const Flags& flags) {
  if (!flags.statement_key_file.empty()) return flags.statement_key_file;
  if (!flags.store.postgres.empty()) {
    return absl::InvalidArgumentError(
        "--statement-key is missing: with --postgres, all servers of one database sign privacy "
        "statements with the same key; give each of them the same file");
  }
  return flags.store.data_dir + "/statement.key";
}

absl::StatusOr<SigningKey> LoadKey(const Flags& flags, const std::string& file) {
  if (flags.store.postgres.empty()) {
    RETURN_IF_ERROR(epsledger::storage::MakeDataDirectory(flags.store.data_dir));
  }
  return SigningKey::LoadOrCreate(file);
}

// Returns the public keys of the key and of the former keys.
absl::StatusOr<std::vector<std::string>> PublicKeys(const Flags& flags, const SigningKey& key) {
  std::vector<std::string> keys = {key.public_key()};
  for (const std::string& file : flags.server.former_statement_key_files) {
    ASSIGN_OR_RETURN(const SigningKey former, SigningKey::Load(file));
    keys.push_back(former.public_key());
  }
  return keys;
}

HeadPublisher::Options PublisherOptions(const Flags& flags) {
  return {.file = flags.publish_heads_file,
          .url = flags.publish_heads_url,
          .interval = absl::Seconds(flags.publish_heads_seconds)};
}

// Rejects a file that has the name of a ledger file: writing it would destroy the ledger.
absl::Status CheckIsNoFileOfTheLedger(const Flags& flags, const char* flag,
                                      const std::string& file) {
  if (flags.store.data_dir.empty() || file.empty()) return absl::OkStatus();
  std::error_code error;
  const std::filesystem::path path = std::filesystem::weakly_canonical(file, error);
  const std::filesystem::path folder =
      std::filesystem::weakly_canonical(flags.store.data_dir, error);
  if (path.parent_path() != folder || path.filename().string().rfind("ledger.", 0) != 0) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(flag, ": got ", file, ", which is a file of the ledger; want another name"));
}

// Returns whether other machines can reach one of these HTTP addresses, which then must not speak
// plaintext.
absl::StatusOr<bool> OthersCanReach(const Flags& flags, const char* flag,
                                    const std::vector<std::string>& addresses) {
  bool others = false;
  for (const std::string& address : addresses) {
    if (address.empty()) {
      return absl::InvalidArgumentError(absl::StrCat(flag, ": got \"\", want HOST:PORT"));
    }
    if (IsLocalAddress(address)) continue;
    others = true;
    if (!flags.server.tls_certificate_file.empty() || flags.server.insecure_plaintext) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(flag, ": ", address,
                     " can be reached by others and would speak plaintext: give a TLS certificate "
                     "and key, listen on 127.0.0.1, or insist with --insecure-plaintext"));
  }
  return others;
}

std::vector<StaticFile> Dashboard() {
  std::vector<StaticFile> files;
  for (const epsledger::PackedFile& file : epsledger::PackedDashboard()) {
    files.push_back({.path = file.path, .content = file.compressed});
  }
  return files;
}

absl::Status CheckFiles(const Flags& flags) {
  for (const auto& [flag, file] : {std::pair("--publish-heads", flags.publish_heads_file),
                                   std::pair("--address-file", flags.address_file),
                                   std::pair("--access-log", flags.access_log_file)}) {
    RETURN_IF_ERROR(CheckIsNoFileOfTheLedger(flags, flag, file));
  }
  return absl::OkStatus();
}

// What publishing heads needs before the ledger is opened.
struct Publishing {
  SigningKey key;
  NamedEntries published;  // so far: the ledger must hold them
};

// Returns nullopt if no heads are published.
absl::StatusOr<std::optional<Publishing>> PreparePublishing(const Flags& flags,
                                                            const std::string& key_file) {
  if (flags.publish_heads_file.empty() && flags.publish_heads_url.empty()) return std::nullopt;
  RETURN_IF_ERROR(HeadPublisher::Check(PublisherOptions(flags)));
  ASSIGN_OR_RETURN(SigningKey key, LoadKey(flags, key_file));
  Publishing publishing{.key = std::move(key), .published = {}};
  if (flags.publish_heads_file.empty()) return publishing;
  ASSIGN_OR_RETURN(const std::vector<std::string> public_keys, PublicKeys(flags, publishing.key));
  ASSIGN_OR_RETURN(auto content, HeadsFile(flags.publish_heads_file).Read(public_keys));
  if (content.is_cut_off) {
    spdlog::warn("{}: ends in the middle of a line, which is not compared with anything",
                 flags.publish_heads_file);
  }
  publishing.published = std::move(content.entries);
  return publishing;
}

absl::StatusOr<std::unique_ptr<AccessLog>> OpenAccessLog(const Flags& flags) {
  if (flags.access_log_file.empty()) return nullptr;
  return AccessLog::Open(flags.access_log_file, flags.access_log_sample);
}

absl::StatusOr<std::unique_ptr<OidcProvider>> StartIssuer(const Flags& flags) {
  if (!flags.oidc.IsSaid()) return nullptr;
  return OidcProvider::Start(flags.oidc);
}

absl::StatusOr<std::unique_ptr<HttpServer>> StartHttp(const Flags& flags, HttpRoutes& routes) {
  epsledger::transport::HttpServerOptions options = {
      .addresses = flags.http_addresses,
      .tls_certificate_file = flags.server.tls_certificate_file,
      .tls_key_file = flags.server.tls_key_file,
      .tls_client_ca_file = flags.server.tls_client_ca_file,
      .peer_connections_per_second = flags.server.peer_connections_per_second};
  absl::StatusOr<std::unique_ptr<HttpServer>> http = HttpServer::Start(options, routes.handler());
  if (!absl::IsUnavailable(http.status()) || !flags.http_addresses_are_default) return http;
  // Perhaps another server has the address: nobody asked for a dashboard here.
  spdlog::warn("without a dashboard ({}): --http-listen says another address, or none",
               epsledger::Printable(http.status().message()));
  options.addresses.clear();
  return HttpServer::Start(options, routes.handler());
}

absl::StatusOr<std::unique_ptr<HttpServer>> StartOperations(
    const Flags& flags, ObservedLedger& ledger,
    const std::shared_ptr<prometheus::Registry>& registry, Server& server) {
  return HttpServer::Start({.addresses = flags.operations_addresses,
                            .tls_certificate_file = flags.server.tls_certificate_file,
                            .tls_key_file = flags.server.tls_key_file},
                           OperationsRoutes(ledger, registry, server.in_process().probe_wire));
}

std::vector<std::string> UrlsOf(const Flags& flags, const HttpServer& http) {
  const char* const scheme = flags.server.tls_certificate_file.empty() ? "http://" : "https://";
  std::vector<std::string> urls;
  for (const std::string& address : http.addresses()) urls.push_back(scheme + address);
  return urls;
}

// Writes the addresses of --address-file: those of gRPC, then of HTTP if somebody asked for them,
// then of the operators.
absl::Status WriteAddresses(const Flags& flags, const Server& server, const HttpServer& http,
                            const HttpServer& operations) {
  if (flags.address_file.empty()) return absl::OkStatus();
  std::vector<std::string> addresses = server.addresses();
  if (!flags.http_addresses_are_default) {
    for (std::string& url : UrlsOf(flags, http)) addresses.push_back(std::move(url));
  }
  for (std::string& url : UrlsOf(flags, operations)) addresses.push_back(std::move(url));
  return WriteAddressFile(flags.address_file, addresses);
}

// Serves until one of `stop_signals` comes.
absl::Status Serve(const Flags& flags, const sigset_t& stop_signals) {
  WarnOfWhatIsOff(flags);
  RaiseDescriptorLimit();
  ASSIGN_OR_RETURN(const bool others_can_reach_http,
                   OthersCanReach(flags, "--http-listen", flags.http_addresses));
  RETURN_IF_ERROR(
      OthersCanReach(flags, "--operations-listen", flags.operations_addresses).status());
  ASSIGN_OR_RETURN(const std::string statement_key_file, StatementKeyFile(flags));
  RETURN_IF_ERROR(CheckFiles(flags));
  ASSIGN_OR_RETURN(std::optional<Publishing> publishing,
                   PreparePublishing(flags, statement_key_file));
  auto ledger =
      AwaitLedger(flags, publishing.has_value() ? std::move(publishing->published) : NamedEntries(),
                  stop_signals);
  if (absl::IsCancelled(ledger.status())) return absl::OkStatus();
  if (!ledger.ok()) return ledger.status();

  const auto registry = std::make_shared<prometheus::Registry>();
  ObservedLedger observed(**ledger, registry);
  ASSIGN_OR_RETURN(const auto access_log, OpenAccessLog(flags));
  ASSIGN_OR_RETURN(const auto issuer, StartIssuer(flags));
  epsledger::transport::ServerOptions options = flags.server;
  options.statement_key_file = statement_key_file;
  options.storage = flags.store.postgres.empty() ? "sqlite" : "postgresql";
  options.registry = registry;
  options.others_can_reach = others_can_reach_http;
  options.access_log = access_log.get();
  options.identity_provider = issuer.get();
  ASSIGN_OR_RETURN(auto server, Server::Start(options, observed));
  HttpRoutes routes(observed, registry, server->in_process(),
                    {.host_names = flags.http_host_names, .dashboard = Dashboard()});
  ASSIGN_OR_RETURN(const auto http, StartHttp(flags, routes));
  ASSIGN_OR_RETURN(const auto operations, StartOperations(flags, observed, registry, *server));
  RETURN_IF_ERROR(WriteAddresses(flags, *server, *http, *operations));
  std::optional<HeadPublisher> publisher;
  if (publishing.has_value()) {
    publisher.emplace(**ledger, std::move(publishing->key), PublisherOptions(flags));
  }
  for (const std::string& url : UrlsOf(flags, *http)) {
    spdlog::info("dashboard and HTTP API: {}/", url);
  }
  for (const std::string& url : UrlsOf(flags, *operations)) {
    spdlog::info("for operators: {}/metrics", url);
  }
  spdlog::info("serving on {} from {}, {} budgets and {} entries recovered",
               absl::StrJoin(server->addresses(), ", "), Describe(flags.store),
               (*ledger)->recovered_budget_count(), (*ledger)->recovered_entry_count());
  int signal = 0;
  sigwait(&stop_signals, &signal);
  spdlog::info("stopping on signal {}: no new calls, open ones are answered", signal);
  // HTTP and gRPC have half each: a long call over HTTP takes no time from calls over gRPC.
  routes.Drain(kDrainPatience / 2);
  server->Drain(kDrainPatience / 2);
  publisher.reset();  // the last heads
  RETURN_IF_ERROR((*ledger)->Health());
  spdlog::info("stopped");
  return absl::OkStatus();
}

// Manages the tokens of a data directory, without a server.
absl::Status ManageTokens(const Flags& flags) {
  ASSIGN_OR_RETURN(auto ledger, OpenLedger(flags));
  return epsledger::RunTokenTask(flags, *ledger, std::cout);
}

absl::Status Run(const Flags& flags, const sigset_t& stop_signals) {
  if (flags.healthcheck) return ProbeHealth(flags.probe);
  if (flags.token_task != TokenTask::kNone) return ManageTokens(flags);
  if (flags.ledger_command.verb != epsledger::LedgerCommand::Verb::kNone) {
    return RunLedgerCommand(flags.ledger_command);
  }
  if (flags.backup.verb != epsledger::BackupCommand::Verb::kNone) {
    return RunBackupCommand(flags.backup);
  }
  return Serve(flags, stop_signals);
}

}  // namespace

int main(int argc, char** argv) {
#ifdef NDEBUG
  // Some absl packages look for lock cycles at every lock, even in production builds.
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
  // Blocks the signals before the first thread starts, so that all threads inherit this and the
  // signals wait for sigwait.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);

  Flags flags;
  if (const std::optional<int> exit_code = ReadFlags(argc, argv, &flags)) return *exit_code;

  spdlog::set_default_logger(spdlog::stderr_logger_mt("epsledgerd"));
  if (flags.json_log) {
    spdlog::set_formatter(epsledger::MakeJsonFormatter());
  } else {
    spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e%z %l %v");
  }
  spdlog::set_level(spdlog::level::from_str(flags.log_level));

  const absl::Status status = Run(flags, stop_signals);
  if (status.ok()) return 0;
  const std::string message = epsledger::Printable(status.message());
  std::fprintf(stderr, "epsledgerd: %s\n", message.c_str());
  return 1;
}
