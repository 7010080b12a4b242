#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>

#include <CLI/CLI.hpp>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "client/alerts/alert_log.h"
#include "client/alerts/alert_service.h"
#include "client/alerts/delivery/sender.h"
#include "client/alerts/settings.h"

namespace {

using epsledger::alerts::Alert;
using epsledger::alerts::AlertKind;
using epsledger::alerts::AlertLog;
using epsledger::alerts::AlertService;
using epsledger::alerts::Destination;
using epsledger::alerts::Settings;

constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

constexpr char kFooter[] =
    "A configuration is one JSON file; client/alerts/README.md describes it.\n"
    "Examples:\n"
    "  epsledger-alerts --config alerts.json --check\n"
    "  epsledger-alerts --config alerts.json --test officer\n"
    "  epsledger-alerts --config alerts.json --dry-run\n"
    "  epsledger-alerts --config alerts.json --json-log\n"
    "Exit codes: 0 stopped by SIGTERM or SIGINT, or done; 1 failed; 2 wrong flag or configuration.";

struct Flags {
  std::string config;
  std::string test;
  bool check = false;
  bool dry_run = false;
  bool json_log = false;
};

int Complain(const absl::Status& status, int code) {
  std::cerr << "epsledger-alerts: " << status.message() << "\n";
  return code;
}

int SendTest(const Settings& settings, const std::string& name) {
  for (const Destination& destination : settings.destinations) {
    if (destination.name != name) continue;
    const int64_t now = absl::ToUnixMicros(absl::Now());
    const Alert alert{
        .id = epsledger::alerts::AlertId({"test", name, absl::StrCat(now)}),
        .kind = AlertKind::kTest,
        .time_micros = now,
        .title = "a test alert",
        .text = absl::StrCat("This is a test of the destination ", name, ". Nothing happened.")};
    const absl::Status status = epsledger::alerts::Send(alert, destination, settings.dashboard, [] {
                                  return false;
                                }).status;
    if (!status.ok()) return Complain(status, kFailed);
    std::cout << "delivered to " << name << ", alert " << alert.id << "\n";
    return 0;
  }
  return Complain(absl::InvalidArgumentError(
                      absl::StrCat("--test: got ", name, ", want the name of a destination")),
                  kWrongUsage);
}

int Serve(Settings settings, const Flags& flags, const sigset_t& stop_signals) {
  AlertLog log(std::cerr, flags.json_log);
  AlertService service(std::move(settings), log, std::cout, flags.dry_run);
  absl::Status status;
  std::thread thread([&] {
    status = service.Run();
    kill(getpid(), SIGTERM);  // if it ended by itself: wakes sigwait up
  });
  int signal = 0;
  sigwait(&stop_signals, &signal);
  service.Stop();
  thread.join();
  return status.ok() ? 0 : Complain(status, kFailed);
}

}  // namespace

int main(int argc, char** argv) {
#ifdef NDEBUG
  absl::SetMutexDeadlockDetectionMode(absl::OnDeadlockCycle::kIgnore);
#endif
  // gRPC would write lines of its own to standard error.
  setenv("GRPC_VERBOSITY", "NONE", /*overwrite=*/0);
  // All threads inherit this, and the signals wait for sigwait.
  sigset_t stop_signals;
  sigemptyset(&stop_signals);
  sigaddset(&stop_signals, SIGTERM);
  sigaddset(&stop_signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &stop_signals, nullptr);

  Flags flags;
  CLI::App app(
      "Watches the ledgers of an epsledger server and sends alerts: by webhook and mail, "
      "when a share of a cap is spent, at refusals and quarantines, and for proposals "
      "that wait for approval.");
  app.name("epsledger-alerts");
  app.set_version_flag("--version", std::string("epsledger-alerts ") + EPSLEDGER_VERSION);
  app.add_option("--config", flags.config, "The configuration file")
      ->envname("EPSLEDGER_ALERTS_CONFIG")
      ->required();
  CLI::Option* const check =
      app.add_flag("--check", flags.check, "Read the configuration, and end");
  CLI::Option* const test = app.add_option(
      "--test", flags.test, "Send a test alert to this destination once, without a server");
  app.add_flag("--dry-run", flags.dry_run,
               "Print alerts as JSON lines; send nothing and write no state")
      ->excludes(test)
      ->excludes(check);
  app.add_flag("--json-log", flags.json_log, "Write the log as one JSON object a line")
      ->envname("EPSLEDGER_ALERTS_JSON_LOG");
  app.footer(kFooter);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kWrongUsage;
  }

  absl::StatusOr<Settings> settings = epsledger::alerts::ReadSettings(flags.config);
  if (!settings.ok()) return Complain(settings.status(), kWrongUsage);
  epsledger::alerts::PrepareSending();
  if (!flags.test.empty()) return SendTest(*settings, flags.test);
  if (flags.check) {
    std::cout << flags.config << ": " << settings->destinations.size() << " destinations, "
              << settings->rules.size() << " rules\n";
    return 0;
  }
  return Serve(*std::move(settings), flags, stop_signals);
}
