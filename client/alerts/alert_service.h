#ifndef EPSLEDGER_CLIENT_ALERTS_ALERT_SERVICE_H_
#define EPSLEDGER_CLIENT_ALERTS_ALERT_SERVICE_H_

#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/alerts/alert_log.h"
#include "client/alerts/delivery/courier.h"
#include "client/alerts/delivery/outbox.h"
#include "client/alerts/inbox.h"
#include "client/alerts/ledger/ledger_feed.h"
#include "client/alerts/rules/alert_rules.h"
#include "client/alerts/settings.h"
#include "client/alerts/state_file.h"
#include "client/cpp/connection.h"

namespace epsledger::alerts {

// Watches ledgers, asks the rules, and has couriers deliver what they say.
//
// At least once: an alert and the position behind it are in the state file before the alert is
// sent, and the alert leaves the file after its receiver has taken it. A crash in between sends it
// again under the same id. Only one thread, that of Run, knows rules, outbox and file; watches and
// couriers send it messages, so a receiver that does not answer holds nothing up.
class AlertService {
 public:
  // `dry_run`: prints what would be sent to `out`, one JSON object a line, and sends and writes
  // nothing. REQUIRES: `log` and `out` outlive this.
  AlertService(Settings settings, AlertLog& log, std::ostream& out, bool dry_run);
  ~AlertService();
  AlertService(const AlertService&) = delete;
  AlertService& operator=(const AlertService&) = delete;

  // Returns OK after Stop, and otherwise why it cannot work: the state file belongs to another
  // process or another ledger, or the server does not accept the caller.
  absl::Status Run();
  // Ends Run. Thread-safe.
  void Stop() { inbox_.Close(); }

 private:
  absl::Status Begin();
  absl::Status RestoreState();
  absl::Status AwaitServer();
  // Waits before the next call, and looks at what couriers say meanwhile.
  void WaitForServer();
  absl::Status CheckLedger(const v1::ServerInfo& info);
  // Finds trees that are not watched yet. Returns the status of the call that failed.
  absl::Status FindTrees(bool at_start);
  absl::Status ReadTreeBudgets(const std::string& tree, bool at_start);
  void StartCouriers();

  void Handle(const Change& change);
  void Handle(const WatchEnded& ended);
  void Handle(const Tried& tried);
  void ReadCharged();
  void Poll();
  void Keep(std::vector<Alert> alerts);
  // Writes the state if it changed, then gives the new alerts to the couriers.
  void Settle(bool is_last);
  void SaveState();
  void PrintDry(const Alert& alert, const std::string& destination);

  const Settings settings_;
  AlertLog& log_;
  std::ostream& out_;
  const bool dry_run_;
  Inbox inbox_;
  AlertRules rules_;
  Outbox outbox_;
  std::optional<StateFile> file_;
  bool is_first_start_ = true;
  std::string ledger_id_;  // the first incarnation of the server's store, in hexadecimal digits
  std::shared_ptr<Connection> connection_;
  std::set<std::string> trees_;    // that are watched
  std::set<std::string> ended_;    // whose watch has ended, and begins again at the next poll
  std::set<std::string> charged_;  // budgets to read again
  std::vector<std::pair<std::string, Alert>> fresh_;  // for couriers, by destination
  bool changed_ = false;                              // more than positions
  bool moved_ = false;                                // positions
  absl::Time next_poll_ = absl::InfinitePast();
  absl::Time next_reading_ = absl::InfinitePast();
  absl::Time next_save_ = absl::InfinitePast();
  std::map<std::string, std::unique_ptr<Courier>> couriers_;
  std::unique_ptr<LedgerFeed> feed_;
};

}  // namespace epsledger::alerts

#endif  // EPSLEDGER_CLIENT_ALERTS_ALERT_SERVICE_H_
