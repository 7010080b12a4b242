#include "client/alerts/alert_service.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "accounting/event/status_macros.h"
#include "client/alerts/delivery/alert_body.h"
#include "client/alerts/ledger/readings.h"
#include "client/cpp/rpc_status.h"

namespace epsledger::alerts {
namespace {

constexpr int kStateVersion = 1;
// Positions alone are written this often: what is read again after a crash makes no alert twice.
constexpr absl::Duration kSaveInterval = absl::Seconds(10);
// With more budgets to read, whole trees are read.
constexpr size_t kMostSingleReadings = 100;
constexpr absl::Duration kServerRetryInterval = absl::Seconds(1);

std::vector<std::string> NamesOf(const std::vector<Destination>& destinations) {
  std::vector<std::string> names;
  for (const Destination& destination : destinations) names.push_back(destination.name);
  return names;
}

int64_t NowMicros() { return absl::ToUnixMicros(absl::Now()); }

}  // namespace

AlertService::AlertService(Settings settings, AlertLog& log, std::ostream& out, bool dry_run)
    : settings_(std::move(settings)),
      log_(log),
      out_(out),
      dry_run_(dry_run),
      rules_(settings_.rules),
      outbox_(NamesOf(settings_.destinations), settings_.queue_limit) {}

AlertService::~AlertService() {
  inbox_.Close();
  feed_.reset();
  couriers_.clear();
}

absl::Status AlertService::Run() {
  RETURN_IF_ERROR(Begin());
  while (!inbox_.IsClosed()) {
    absl::Time deadline = next_poll_;
    if (!charged_.empty()) deadline = std::min(deadline, next_reading_);
    if (moved_) deadline = std::min(deadline, next_save_);
    for (const Message& message : inbox_.TakeAll(deadline)) {
      std::visit([this](const auto& one) { Handle(one); }, message);
    }
    if (inbox_.IsClosed()) break;
    if (!charged_.empty() && absl::Now() >= next_reading_) ReadCharged();
    if (absl::Now() >= next_poll_) Poll();
    Keep(rules_.OnTime(NowMicros()));
    Settle(/*is_last=*/false);
  }
  // What couriers are doing now is done again after the next start.
  feed_.reset();
  couriers_.clear();
  for (const Message& message : inbox_.TakeAll(absl::InfinitePast())) {
    if (const auto* tried = std::get_if<Tried>(&message)) Handle(*tried);
  }
  Settle(/*is_last=*/true);
  log_.Info("stopped");
  return absl::OkStatus();
}

absl::Status AlertService::Begin() {
  if (!dry_run_) {
    ASSIGN_OR_RETURN(StateFile file, StateFile::Open(settings_.state_file));
    file_.emplace(std::move(file));
    RETURN_IF_ERROR(RestoreState());
  }
  ClientOptions options = settings_.server;
  // Short, so that a stop does not wait for a server that is away.
  options.retry.overall_timeout = std::chrono::milliseconds(5'000);
  options.retry.call_timeout = options.retry.overall_timeout;
  options.retry.max_backoff = std::chrono::milliseconds(500);
  ASSIGN_OR_RETURN(connection_, Connection::Open(options));
  if (!dry_run_) StartCouriers();
  RETURN_IF_ERROR(AwaitServer());
  if (inbox_.IsClosed()) return absl::OkStatus();
  feed_ = std::make_unique<LedgerFeed>(
      connection_,
      [this](const std::string& tree, const v1::LedgerChange& change) {
        return inbox_.PutChange({.tree = tree, .change = change});
      },
      [this](const std::string& tree, const absl::Status& status) {
        inbox_.Put(WatchEnded{.tree = tree, .status = status});
      });
  absl::Status found = FindTrees(/*at_start=*/true);
  while (IsWorthRetrying(found.code()) && !inbox_.IsClosed()) {
    log_.Note("finding budgets", found);
    WaitForServer();
    found = FindTrees(/*at_start=*/true);
  }
  if (inbox_.IsClosed()) return absl::OkStatus();
  RETURN_IF_ERROR(found);
  log_.Note("finding budgets", absl::OkStatus());
  Settle(/*is_last=*/false);
  log_.Info(absl::StrCat("watching ", trees_.size(), " trees of budgets at ",
                         settings_.server.address, " for ", settings_.destinations.size(),
                         " destinations"));
  return absl::OkStatus();
}

absl::Status AlertService::RestoreState() {
  ASSIGN_OR_RETURN(const std::optional<nlohmann::ordered_json> state, file_->Read());
  if (!state.has_value()) return absl::OkStatus();
  const bool is_known = state->is_object() && state->contains("version") &&
                        (*state)["version"] == kStateVersion && state->contains("ledger") &&
                        (*state)["ledger"].is_string() && state->contains("rules") &&
                        state->contains("outbox");
  if (!is_known) {
    return absl::InvalidArgumentError(absl::StrCat("state_file: got ", settings_.state_file,
                                                   ", want one of version ", kStateVersion,
                                                   " that this program wrote"));
  }
  is_first_start_ = false;
  ledger_id_ = (*state)["ledger"].get<std::string>();
  RETURN_IF_ERROR(rules_.Restore((*state)["rules"]));
  return outbox_.Restore((*state)["outbox"]);
}

void AlertService::StartCouriers() {
  for (const Destination& destination : settings_.destinations) {
    const std::string& name = destination.name;
    auto courier = std::make_unique<Courier>(
        [this, destination](const Alert& alert, const std::function<bool()>& is_stopping) {
          return Send(alert, destination, settings_.dashboard, is_stopping);
        },
        settings_.retry,
        [this, name](const Alert& alert, const absl::Status& status, int tries,
                     absl::Duration wait) {
          inbox_.Put(Tried{.destination = name,
                           .id = alert.id,
                           .title = alert.title,
                           .status = status,
                           .tries = tries,
                           .wait = wait});
        });
    for (const Alert& alert : outbox_.Waiting(name)) courier->Give(alert);
    couriers_[name] = std::move(courier);
  }
}

absl::Status AlertService::AwaitServer() {
  while (!inbox_.IsClosed()) {
    const absl::StatusOr<v1::ServerInfo> info = ReadServerInfo(*connection_);
    if (info.ok()) {
      log_.Note("the first call to the ledger", absl::OkStatus());
      return CheckLedger(*info);
    }
    if (!IsWorthRetrying(info.status().code())) return info.status();
    log_.Note("the first call to the ledger", info.status());
    WaitForServer();
  }
  return absl::OkStatus();
}

void AlertService::WaitForServer() {
  for (const Message& message : inbox_.TakeAll(absl::Now() + kServerRetryInterval)) {
    std::visit([this](const auto& one) { Handle(one); }, message);
  }
  Settle(/*is_last=*/false);
}

absl::Status AlertService::CheckLedger(const v1::ServerInfo& info) {
  const std::string found =
      info.incarnations().empty() ? "" : absl::BytesToHexString(info.incarnations(0).id());
  if (!is_first_start_ && found != ledger_id_) {
    return absl::FailedPreconditionError(
        absl::StrCat("state_file: ", settings_.state_file, " is about the ledgers ",
                     ledger_id_.empty() ? "(without an id)" : ledger_id_, ", and ",
                     settings_.server.address, " has ", found.empty() ? "(without an id)" : found,
                     ". Name another state file, or move this one away to begin anew"));
  }
  ledger_id_ = found;
  return absl::OkStatus();
}

absl::Status AlertService::FindTrees(bool at_start) {
  std::vector<std::string> found = settings_.watch;
  if (found.empty()) {
    ASSIGN_OR_RETURN(found, ReadRoots(*connection_));
  }
  for (size_t i = 0; i < found.size(); ++i) {
    const std::string tree = found[i];
    // A name stands for the budget and for those that replace it.
    const auto add_successor = [&] {
      const std::string successor = rules_.SuccessorOf(tree);
      const bool is_new = std::find(found.begin(), found.end(), successor) == found.end();
      if (!successor.empty() && is_new) found.push_back(successor);
    };
    if (trees_.count(tree) > 0) {
      add_successor();
      continue;
    }
    if (!rules_.Position(tree).has_value()) {
      // What was there before the first start is no news; what was made since then is.
      int64_t begin = 0;
      if (at_start && is_first_start_) {
        ASSIGN_OR_RETURN(begin, ReadHead(*connection_, tree));
      }
      rules_.BeginTree(tree, begin);
      changed_ = true;
    }
    RETURN_IF_ERROR(ReadTreeBudgets(tree, at_start));
    trees_.insert(tree);
    feed_->Watch(tree, *rules_.Position(tree));
    add_successor();
  }
  return absl::OkStatus();
}

absl::Status AlertService::ReadTreeBudgets(const std::string& tree, bool at_start) {
  ASSIGN_OR_RETURN(const std::vector<v1::Budget> budgets, ReadTree(*connection_, tree));
  for (const v1::Budget& budget : budgets) {
    Keep(rules_.OnBudget(budget, NowMicros(), at_start));
  }
  changed_ = true;
  return absl::OkStatus();
}

void AlertService::Handle(const Change& change) {
  moved_ = true;
  for (const std::string& budget : rules_.BudgetsCharged(change.change)) charged_.insert(budget);
  const bool is_remembered =
      change.change.has_budget() || change.change.has_refused_session() ||
      (change.change.has_charge() && change.change.charge().decision() == v1::Charge::REFUSED);
  changed_ = changed_ || is_remembered;
  Keep(rules_.OnChange(change.tree, change.change));
}

void AlertService::Handle(const WatchEnded& ended) {
  log_.Error(absl::StrCat("the watch of ", ended.tree, " ended: ", ended.status.message()));
  ended_.insert(ended.tree);
  if (!absl::IsDataLoss(ended.status)) return;
  const absl::StatusOr<int64_t> head = ReadHead(*connection_, ended.tree);
  if (!head.ok() || *head >= *rules_.Position(ended.tree)) return;
  Keep(rules_.OnEntriesLost(ended.tree, *head, NowMicros()));
  changed_ = true;
}

void AlertService::Handle(const Tried& tried) {
  AlertLog::Fields fields = {{"destination", tried.destination},
                             {"alert", tried.id},
                             {"tries", absl::StrCat(tried.tries)}};
  if (absl::IsUnavailable(tried.status)) {
    fields.emplace_back("retry_in", absl::FormatDuration(tried.wait));
    log_.Warn(absl::StrCat("not delivered: ", tried.status.message()), fields);
    return;
  }
  if (tried.status.ok()) {
    log_.Info("delivered", fields);
  } else {
    fields.emplace_back("title", tried.title);
    log_.Error(absl::StrCat("not delivered: ", tried.status.message()), fields);
  }
  if (std::optional<Alert> dropped = outbox_.Remove(tried.destination, tried.id)) {
    fresh_.emplace_back(tried.destination, *std::move(dropped));
  }
  changed_ = true;
}

void AlertService::ReadCharged() {
  next_reading_ = absl::Now() + settings_.reading_interval;
  absl::Status status;
  if (charged_.size() > kMostSingleReadings) {
    for (const std::string& tree : trees_) {
      if (status.ok()) status = ReadTreeBudgets(tree, /*at_start=*/false);
    }
    if (status.ok()) charged_.clear();
  }
  while (status.ok() && !charged_.empty() && !inbox_.IsClosed()) {
    const absl::StatusOr<v1::Budget> budget = ReadBudget(*connection_, *charged_.begin());
    status = budget.status();
    if (budget.ok()) Keep(rules_.OnBudget(*budget, NowMicros(), /*at_start=*/false));
    // What is not visible is not read again; a server that is away is asked again.
    if (status.ok() || !IsWorthRetrying(status.code())) charged_.erase(charged_.begin());
    if (absl::IsNotFound(status)) status = absl::OkStatus();
  }
  log_.Note("reading budgets", status);
}

void AlertService::Poll() {
  next_poll_ = absl::Now() + settings_.poll_interval;
  const absl::StatusOr<v1::ServerInfo> info = ReadServerInfo(*connection_);
  log_.Note("reading the server's state", info.status());
  if (!info.ok()) return;
  const auto& quarantines = info->quarantines();
  Keep(rules_.OnQuarantines({quarantines.begin(), quarantines.end()}, NowMicros()));
  log_.Note("finding budgets", FindTrees(/*at_start=*/false));
  for (const std::string& tree : std::exchange(ended_, {})) {
    feed_->Watch(tree, *rules_.Position(tree));
  }
  const bool asks_proposals =
      std::any_of(settings_.rules.begin(), settings_.rules.end(),
                  [](const Rule& rule) { return rule.kind == AlertKind::kApproval; });
  if (!asks_proposals) return;
  for (const std::string& tree : trees_) {
    const absl::StatusOr<std::vector<v1::Proposal>> pending = ReadPending(*connection_, tree);
    log_.Note(absl::StrCat("reading the proposals of ", tree), pending.status());
    if (pending.ok()) Keep(rules_.OnProposals(tree, *pending, NowMicros()));
  }
}

void AlertService::Keep(std::vector<Alert> alerts) {
  for (const Alert& alert : alerts) {
    changed_ = true;
    log_.Info(alert.title, {{"alert", alert.id}, {"rule", alert.rule}});
    const auto rule = std::find_if(settings_.rules.begin(), settings_.rules.end(),
                                   [&](const Rule& one) { return one.name == alert.rule; });
    for (const std::string& destination : rule->destinations) {
      if (dry_run_) {
        PrintDry(alert, destination);
      } else if (outbox_.Add(destination, alert)) {
        fresh_.emplace_back(destination, alert);
      } else {
        log_.Error("not sent: too many alerts wait",
                   {{"destination", destination}, {"alert", alert.id}, {"title", alert.title}});
      }
    }
  }
}

void AlertService::Settle(bool is_last) {
  if (changed_ || (moved_ && (is_last || absl::Now() >= next_save_))) SaveState();
  for (const auto& [destination, alert] : std::exchange(fresh_, {})) {
    if (const auto courier = couriers_.find(destination); courier != couriers_.end()) {
      courier->second->Give(alert);
    }
  }
}

void AlertService::SaveState() {
  if (dry_run_) return;
  nlohmann::ordered_json state;
  state["version"] = kStateVersion;
  state["ledger"] = ledger_id_;
  state["rules"] = rules_.State();
  state["outbox"] = outbox_.State();
  const absl::Status written = file_->Write(state);
  // What cannot be written is sent all the same: an alert twice is better than none.
  log_.Note("writing the state", written);
  next_save_ = absl::Now() + kSaveInterval;
  if (!written.ok()) return;
  changed_ = false;
  moved_ = false;
}

void AlertService::PrintDry(const Alert& alert, const std::string& destination) {
  nlohmann::ordered_json line;
  line["destination"] = destination;
  line["alert"] = nlohmann::ordered_json::parse(WebhookBody(alert, settings_.dashboard));
  out_ << line.dump() << std::endl;
}

}  // namespace epsledger::alerts
