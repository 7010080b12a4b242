#include "server/flags.h"

#include "CLI/CLI.hpp"

namespace epsledger {
namespace {

// Whether environment variables set flags that are missing. Commands that work on a ledger without
// a server ignore them: the server's variables would interfere.
enum class Variables { kRead, kIgnored };

CLI::Option* AddDataDir(CLI::App& app, std::string& data_dir, const char* help,
                        Variables variables) {
  CLI::Option* option = app.add_option("--data-dir", data_dir, help);
  return variables == Variables::kRead ? option->envname("EPSLEDGERD_DATA_DIR") : option;
}

CLI::Option* AddPostgres(CLI::App& app, StorePlace& place, Variables variables) {
  CLI::Option* postgres =
      app.add_option("--postgres", place.postgres,
                     "For many servers: a PostgreSQL 15 or later, as libpq's connection string "
                     "(postgresql://user@host:5432/epsledger)");
  CLI::Option* password_file =
      app.add_option("--postgres-password-file", place.postgres_password_file,
                     "A file whose first line is the password of --postgres")
          ->needs(postgres);
  CLI::Option* without_standby =
      app.add_flag("--postgres-without-standby", place.postgres_without_standby,
                   "Take a PostgreSQL without a synchronous standby: losing its machine then loses "
                   "charges that were acknowledged");
  CLI::Option* untested_engine =
      app.add_flag("--postgres-untested-engine", place.postgres_untested_engine,
                   "Take CockroachDB or YugabyteDB, on which the store was never run "
                   "(server/storage/README.md)");
  if (variables == Variables::kRead) {
    postgres->envname("EPSLEDGERD_POSTGRES");
    password_file->envname("EPSLEDGERD_POSTGRES_PASSWORD_FILE");
    without_standby->envname("EPSLEDGERD_POSTGRES_WITHOUT_STANDBY");
    untested_engine->envname("EPSLEDGERD_POSTGRES_UNTESTED_ENGINE");
  }
  return postgres;
}

// Adds both places, which exclude each other.
void AddPlace(CLI::App& app, StorePlace& place, const char* data_dir_help, Variables variables) {
  CLI::Option* data_dir = AddDataDir(app, place.data_dir, data_dir_help, variables);
  AddPostgres(app, place, variables)->excludes(data_dir);
}

// What --http-listen says for no address at all.
constexpr char kNoAddress[] = "none";
// Where the dashboard is if neither --listen nor --http-listen is said.
constexpr char kDefaultHttpAddress[] = "127.0.0.1:8080";

void AddStatementFlags(CLI::App& app, Flags& flags) {
  app.add_option("--statement-key", flags.statement_key_file,
                 "The key that signs privacy statements, PEM; made if missing. If not said, "
                 "statement.key in the data directory; servers of one PostgreSQL share one")
      ->envname("EPSLEDGERD_STATEMENT_KEY");
  app.add_option("--statement-key-before", flags.server.former_statement_key_files,
                 "A key that signed before this one: what it signed is still the server's. May be "
                 "repeated")
      ->envname("EPSLEDGERD_STATEMENT_KEY_BEFORE")
      ->delimiter(',');
  app.add_option("--server-name", flags.server.name,
                 "What statements call this server, as https://privacy.example.org")
      ->envname("EPSLEDGERD_SERVER_NAME");
}

void AddHeadFlags(CLI::App& app, Flags& flags) {
  app.add_option("--publish-heads", flags.publish_heads_file,
                 "A file on another disk that gets the signed heads of all ledgers, a line at a "
                 "time; at the start the ledgers must hold what it says")
      ->envname("EPSLEDGERD_PUBLISH_HEADS");
  app.add_option("--publish-heads-url", flags.publish_heads_url,
                 "Gets the same lines, each by a POST (http or https)")
      ->envname("EPSLEDGERD_PUBLISH_HEADS_URL");
  app.add_option("--publish-heads-interval", flags.publish_heads_seconds,
                 "Seconds between two looks at whether they have changed")
      ->envname("EPSLEDGERD_PUBLISH_HEADS_INTERVAL")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
}

void AddAddressFlags(CLI::App& app, Flags& flags) {
  app.add_option("--listen", flags.server.addresses,
                 "Addresses: host:port (port 0 takes any free one) or unix:path")
      ->envname("EPSLEDGERD_LISTEN")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option(
         "--http-listen", flags.http_addresses,
         "Addresses of the HTTP API, the dashboard, /healthz and /readyz: host:port (port 0 takes "
         "any free one), or none. If neither this nor --listen is said, 127.0.0.1:8080 unless it "
         "is "
         "taken; if --listen is said, none. TLS with --tls-cert and --tls-key")
      ->envname("EPSLEDGERD_HTTP_LISTEN")
      ->delimiter(',');
  app.add_option(
         "--operations-listen", flags.operations_addresses,
         "Addresses for operators alone: /metrics of all tenants, /healthz and /readyz, without "
         "access control. host:port. None by default. TLS as with --http-listen")
      ->envname("EPSLEDGERD_OPERATIONS_LISTEN")
      ->delimiter(',');
  app.add_option("--http-host", flags.http_host_names,
                 "Names by which browsers reach the HTTP API over plaintext, beside IP addresses, "
                 "localhost and names without a dot: a page of another name is refused")
      ->envname("EPSLEDGERD_HTTP_HOST")
      ->delimiter(',');
}

void AddLogFlags(CLI::App& app, Flags& flags) {
  app.add_flag("--json-log", flags.json_log, "Write the log as one JSON object a line")
      ->envname("EPSLEDGERD_JSON_LOG");
  app.add_option(
         "--access-log", flags.access_log_file,
         "File of one JSON line a call: who, from where, what about, and what became of it; "
         "- is the standard output. None by default")
      ->envname("EPSLEDGERD_ACCESS_LOG");
  app.add_option(
         "--access-log-sample", flags.access_log_sample,
         "One in so many of the accepted single charges gets a line; every other call gets one")
      ->envname("EPSLEDGERD_ACCESS_LOG_SAMPLE")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
}

void AddQuotaFlags(CLI::App& app, Flags& flags) {
  app.add_option(
         "--max-queue", flags.max_queue,
         "Requests of one tenant that may wait for the ledger, of all together twice as many; what "
         "comes beyond them is refused at once, "
         "with UNAVAILABLE")
      ->envname("EPSLEDGERD_MAX_QUEUE")
      ->check(CLI::Range(1, 10'000'000))
      ->capture_default_str();
  app.add_option("--tenant-sessions", flags.server.quotas.sessions_of_tenant,
                 "Sessions that one tenant may have in all")
      ->envname("EPSLEDGERD_TENANT_SESSIONS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--tenant-budgets", flags.server.quotas.budgets_of_tenant,
                 "Budgets that one tenant may have in all")
      ->envname("EPSLEDGERD_TENANT_BUDGETS")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option(
         "--tenant-changes-per-second", flags.server.quotas.changes_per_second_of_tenant,
         "Charges and other changes to the ledger of one tenant in the long run, as many at "
         "once as in ten seconds; 0: no bound")
      ->envname("EPSLEDGERD_TENANT_CHANGES_PER_SECOND")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--caller-changes-per-second", flags.server.quotas.changes_per_second_of_caller,
                 "The same of one token, certificate or subject of an issuer")
      ->envname("EPSLEDGERD_CALLER_CHANGES_PER_SECOND")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--tenant-read-bytes-per-second",
                 flags.server.quotas.read_bytes_per_second_of_tenant,
                 "Bytes of answers to reads, watches and exports of one tenant in the long run, as "
                 "many at once as in a second; a read of one answer counts for 1,024 more; 0: no "
                 "bound")
      ->envname("EPSLEDGERD_TENANT_READ_BYTES_PER_SECOND")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_option("--peer-connections-per-second", flags.server.peer_connections_per_second,
                 "Connections that one address may open to a port in the long run, as many at once "
                 "as in ten seconds, 1,024 at least; 0: 100 with TLS, 1,000 without")
      ->envname("EPSLEDGERD_PEER_CONNECTIONS_PER_SECOND")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

void AddTlsFlags(CLI::App& app, Flags& flags) {
  app.add_option("--tls-cert", flags.server.tls_certificate_file, "Certificate chain, PEM")
      ->envname("EPSLEDGERD_TLS_CERT");
  app.add_option("--tls-key", flags.server.tls_key_file, "Private key, PEM")
      ->envname("EPSLEDGERD_TLS_KEY");
  app.add_option("--tls-client-ca", flags.server.tls_client_ca_file,
                 "Clients must show a certificate signed by this one, PEM")
      ->envname("EPSLEDGERD_TLS_CLIENT_CA");
  app.add_flag("--insecure-plaintext", flags.server.insecure_plaintext,
               "Take plaintext on addresses that other machines can reach")
      ->envname("EPSLEDGERD_INSECURE_PLAINTEXT");
}

void AddIssuerFlags(CLI::App& app, Flags& flags) {
  app.add_option("--oidc-issuer", flags.oidc.issuer,
                 "Know callers by the tokens of this OpenID Connect issuer too: the claim iss")
      ->envname("EPSLEDGERD_OIDC_ISSUER");
  app.add_option("--oidc-audience", flags.oidc.audience,
                 "What its tokens must be for: in the claim aud")
      ->envname("EPSLEDGERD_OIDC_AUDIENCE");
  app.add_option("--oidc-keys", flags.oidc.keys,
                 "Its public keys, a JWK set: a file or an https URL, read again and again")
      ->envname("EPSLEDGERD_OIDC_KEYS");
  app.add_option("--oidc-rules", flags.oidc.rules_file,
                 "Which claims give which tenant, role and grants: a JSON file (server/oidc)")
      ->envname("EPSLEDGERD_OIDC_RULES");
}

void AddAccessFlags(CLI::App& app, Flags& flags) {
  app.add_flag("--require-tokens", flags.server.require_tokens,
               "Know every caller by a token or certificate, also on this machine alone")
      ->envname("EPSLEDGERD_REQUIRE_TOKENS");
  app.add_flag("--insecure-no-access-control", flags.server.insecure_no_access_control,
               "Let everybody who reaches the server do everything, whatever tokens there are")
      ->envname("EPSLEDGERD_INSECURE_NO_ACCESS_CONTROL");
  app.add_flag_function(
         "--reflection,!--no-reflection",
         [&flags](int64_t count) { flags.server.reflection = count > 0; },
         "Tell everybody, known or not, what services there are (gRPC reflection); if not said, "
         "only "
         "while access control is off at the start")
      ->envname("EPSLEDGERD_REFLECTION");
}

// `--help` shows the flags in this order.
void AddFlags(CLI::App& app, Flags& flags) {
  AddPlace(app, flags.store, "For one server: where the ledgers are kept; created if missing",
           Variables::kRead);
  AddStatementFlags(app, flags);
  AddHeadFlags(app, flags);
  AddAddressFlags(app, flags);
  AddLogFlags(app, flags);
  app.add_option("--address-file", flags.address_file,
                 "Written with the addresses, one a line, once the server is ready; without the "
                 "default of --http-listen")
      ->envname("EPSLEDGERD_ADDRESS_FILE");
  AddQuotaFlags(app, flags);
  AddTlsFlags(app, flags);
  AddIssuerFlags(app, flags);
  AddAccessFlags(app, flags);
  app.add_option("--log-level", flags.log_level, "trace, debug, info, warn, error or off")
      ->envname("EPSLEDGERD_LOG_LEVEL")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error", "off"}))
      ->capture_default_str();
}

CLI::App* AddHealthcheck(CLI::App& app, Flags& flags) {
  CLI::App* command = app.add_subcommand("healthcheck", "Exits with 0 if a server is SERVING");
  command->add_option("--server", flags.probe.address, "Its address")
      ->envname("EPSLEDGER_SERVER")
      ->capture_default_str();
  command->add_option("--tls-ca", flags.probe.tls_ca_file, "CA of the server's certificate, PEM")
      ->envname("EPSLEDGER_TLS_CA");
  command->add_option("--tls-cert", flags.probe.tls_certificate_file, "Own certificate, PEM")
      ->envname("EPSLEDGER_TLS_CERT");
  command->add_option("--tls-key", flags.probe.tls_key_file, "Own key, PEM")
      ->envname("EPSLEDGER_TLS_KEY");
  return command;
}

void AddToken(CLI::App& app, Flags& flags) {
  CLI::App* token =
      app.add_subcommand("token", "Tokens of a ledger, without a server: for the first one");
  token->require_subcommand(1);
  const auto add = [&](const char* name, const char* what, TokenTask task) {
    CLI::App* command = token->add_subcommand(name, what);
    AddPlace(*command, flags.store, "Where a server that is stopped keeps its ledgers",
             Variables::kRead);
    command->add_option("--tenant", flags.token.tenant,
                        "Whose; if not said, of the tenant without a name");
    command->callback([&flags, task] { flags.token_task = task; });
    return command;
  };
  CLI::App* create = add("create", "Prints a new secret, once", TokenTask::kCreate);
  create->add_option("--role", flags.token.role, "viewer, trainer or admin")
      ->required()
      ->check(CLI::IsMember({"viewer", "trainer", "admin"}, CLI::ignore_case));
  create->add_option("--days", flags.token.days, "How long it is valid")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  create->add_option("--description", flags.token.description, "For people");
  add("list", "Lists the tokens, without their secrets", TokenTask::kList);
  add("revoke", "Ends a token for good", TokenTask::kRevoke)
      ->add_option("token", flags.token.name, "tokens/TOKEN")
      ->required();
}

void AddBackup(CLI::App& app, BackupCommand& flags) {
  using Verb = BackupCommand::Verb;
  CLI::App* backup = app.add_subcommand(
      "backup", "Copies the ledgers of a data directory, also while a server serves from it");
  AddDataDir(*backup, flags.data_dir, "Where the ledgers are kept", Variables::kRead)->required();
  backup->add_option("--to", flags.to, "The folder of backups: each is a new folder in it")
      ->required();
  backup->callback([&flags] { flags.verb = Verb::kBackUp; });
  CLI::App* restore = app.add_subcommand(
      "restore", "Makes the ledgers of a data directory that has none from a backup");
  restore->add_option("--from", flags.backup, "A backup, as `epsledgerd backup` prints its name")
      ->required();
  CLI::Option* data_dir =
      AddDataDir(*restore, flags.data_dir, "That holds no ledger yet", Variables::kIgnored);
  restore
      ->add_flag("--drill", flags.drill,
                 "Restores into a folder beside the backup, verifies, opens and removes it")
      ->excludes(data_dir);
  restore->callback([&flags] { flags.verb = Verb::kRestore; });
}

void AddLedger(CLI::App& app, LedgerCommand& flags) {
  using Verb = LedgerCommand::Verb;
  CLI::App* ledger = app.add_subcommand("ledger", "Works on ledgers that no server holds");
  ledger->require_subcommand(1);
  const auto add = [&](const char* name, const char* help, Verb verb) {
    CLI::App* command = ledger->add_subcommand(name, help);
    command->callback([&flags, verb] { flags.verb = verb; });
    return command;
  };
  CLI::App* verify =
      add("verify",
          "Replays an export file, or every ledger of a data directory or a PostgreSQL, and names "
          "the first entry that is wrong",
          Verb::kVerify);
  verify->add_option("file", flags.file, "An export file");
  verify->add_flag("--prices", flags.prices,
                   "Proves the prices in units again, too: up to a tenth of a second each");
  verify->add_option("--heads", flags.heads_file,
                     "A file of --publish-heads: the ledgers must hold what it says");
  verify->add_option(
      "--public-key", flags.public_keys,
      "With --heads: the 64 digits of the key that signed it, as `epsctl server info` "
      "shows it, and of those before it; otherwise statement.key in the data directory");
  AddPlace(*verify, flags.place, "The data directory of a server that is stopped",
           Variables::kIgnored);

  CLI::App* import =
      add("import", "Makes a new data directory from an export file, verifying it", Verb::kImport);
  import->add_option("file", flags.file, "An export file")->required();
  AddDataDir(*import, flags.place.data_dir, "That holds no ledger yet", Variables::kIgnored)
      ->required();

  CLI::App* to_file = add("export", "Writes a ledger to a file that checks itself", Verb::kExport);
  to_file->add_option("budget", flags.budget, "The root budget")->required();
  to_file->add_option("file", flags.file, "What to write")->required();
  AddPlace(*to_file, flags.place, "The data directory of a server that is stopped",
           Variables::kIgnored);

  CLI::App* accept =
      add("accept-loss",
          "Lets a server start on a database that has lost commits, from what is left of it. Its "
          "charges are forgotten and were spent all the same: see OPERATIONS.md first",
          Verb::kAcceptLoss);
  accept->add_option("--reason", flags.reason, "What happened, for the auditor; kept in it")
      ->required();
  AddDataDir(*accept, flags.place.data_dir, "The data directory of a server that is stopped",
             Variables::kIgnored)
      ->required();

  CLI::App* migrate = add("migrate",
                          "Moves every ledger between a data directory and a PostgreSQL, entry for "
                          "entry; interrupted, the same command goes on. The place that they leave "
                          "takes no charges any more",
                          Verb::kMigrate);
  migrate->add_option("--to", flags.to, "postgres or sqlite")
      ->required()
      ->check(CLI::IsMember({"postgres", "sqlite"}));
  AddDataDir(*migrate, flags.place.data_dir,
             "The data directory of a server that is stopped, or that holds no ledger yet",
             Variables::kIgnored)
      ->required();
  AddPostgres(*migrate, flags.place, Variables::kIgnored)->required();

  CLI::App* prepare = add("prepare",
                          "Makes the tables of a PostgreSQL as the role of --postgres, for servers "
                          "that log in as another role and can only append; also updates them",
                          Verb::kPrepare);
  prepare->add_option("--writer", flags.writer, "The role of the servers, which exists")
      ->required();
  AddPostgres(*prepare, flags.place, Variables::kIgnored)->required();
}

// Decides where the dashboard is. Whoever says --listen says who may reach the server: a default
// beside it would open another way in.
void SetHttpAddresses(const CLI::App& app, Flags& flags) {
  if (app.count("--http-listen") > 0) {
    std::erase(flags.http_addresses, kNoAddress);
  } else if (app.count("--listen") == 0) {
    flags.http_addresses = {kDefaultHttpAddress};
    flags.http_addresses_are_default = true;
  }
}

}  // namespace

std::optional<int> ReadFlags(int argc, char** argv, Flags* flags) {
  CLI::App app("epsledgerd: a ledger of privacy budgets that charges before the noise is drawn");
  app.set_version_flag("--version", "epsledgerd " EPSLEDGER_VERSION " (API epsledger.v1)",
                       "Print the version and exit");
  AddFlags(app, *flags);
  const CLI::App* healthcheck = AddHealthcheck(app, *flags);
  AddToken(app, *flags);
  AddLedger(app, flags->ledger_command);
  AddBackup(app, flags->backup);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error);
  }
  SetHttpAddresses(app, *flags);
  flags->healthcheck = healthcheck->parsed();
  return std::nullopt;
}

}  // namespace epsledger
