#include "tests/crash/workload.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <future>
#include <optional>
#include <utility>

#include "epsledger/v1/budget_service.grpc.pb.h"
#include "epsledger/v1/charge_service.grpc.pb.h"
#include "epsledger/v1/session_service.grpc.pb.h"
#include "google/rpc/status.pb.h"
#include "server/storage/sqlite/sqlite_store.h"
#include "tests/crash/workload_replay.h"

namespace epsledger {
namespace {

using Clock = Acknowledged::Clock;

constexpr double kUnit = WorkloadReplay::kUnit;
constexpr int64_t kTightUnits = 500;
constexpr int64_t kTickets = 400;
constexpr const char* kRoot = "org";
constexpr const char* kChildren[] = {"wide", "tight", "frosty"};

v1::MechanismEvent Event() {
  v1::MechanismEvent event;
  event.mutable_pure_dp()->set_epsilon(kUnit);
  return event;
}

std::shared_ptr<grpc::Channel> Connect(const std::string& address, int index) {
  grpc::ChannelArguments arguments;
  arguments.SetInt("worker", index);  // a connection of its own
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 5);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 5);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 50);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// The refused charge inside an error, if it is one.
std::optional<v1::Charge> RefusedChargeOf(const grpc::Status& status) {
  google::rpc::Status details;
  v1::Charge charge;
  if (!details.ParseFromString(status.error_details())) return std::nullopt;
  for (const auto& detail : details.details()) {
    if (detail.Is<v1::Charge>() && detail.UnpackTo(&charge)) return charge;
  }
  return std::nullopt;
}

}  // namespace

class Workload::Worker {
 public:
  Worker(Workload& owner, int index)
      : owner_(owner),
        random_(owner.options_.seed * 1000 + static_cast<uint64_t>(index)),
        budget_(kChildren[index % 3]),
        name_("run-" + std::to_string(index)) {
    for (const std::string& address : owner.addresses_) {
      servers_.push_back({v1::BudgetService::NewStub(Connect(address, index)),
                          v1::SessionService::NewStub(Connect(address, index)),
                          v1::ChargeService::NewStub(Connect(address, index))});
    }
    GoTo(static_cast<size_t>(index) % servers_.size());
  }

  void CreateBudget(const std::string& id, const std::string& parent, double cap) {
    v1::CreateBudgetRequest request;
    request.set_budget_id(id);
    if (!parent.empty()) request.mutable_budget()->set_parent("budgets/" + parent);
    request.mutable_budget()->mutable_cap()->mutable_pure_epsilon()->set_epsilon(cap);
    request.mutable_budget()->set_neighboring_relation(v1::NeighboringRelation::ADD_OR_REMOVE_ONE);
    request.mutable_budget()->set_privacy_unit("person");
    const auto [status, budget] = UntilKnown(*budgets_, &Budgets::CreateBudget, request);
    EXPECT_TRUE(status.ok()) << status.error_message();
  }

  // Two sessions: one that asks as it goes, and one with a plan.
  void SetUp() {
    for (const bool declared : {false, true}) {
      v1::CreateSessionRequest request;
      request.set_parent("budgets/" + budget_);
      request.set_session_id(name_ + (declared ? "-plan" : ""));
      v1::Session& session = *request.mutable_session();
      session.set_neighboring_relation(v1::NeighboringRelation::ADD_OR_REMOVE_ONE);
      session.set_mode(declared ? v1::Session::DECLARED : v1::Session::ADAPTIVE);
      if (declared) {
        v1::CountedEvent& planned = *session.mutable_plan()->add_events();
        *planned.mutable_event() = Event();
        planned.set_count(budget_ == "tight" ? 3 : kTickets);
        session.set_plan_delta(1e-6);
      } else {
        session.set_no_own_cap(true);
      }
      const auto [status, created] = UntilKnown(*sessions_, &Sessions::CreateSession, request);
      if (!status.ok() && declared) continue;  // it did not fit under "tight"
      EXPECT_TRUE(status.ok()) << status.error_message();
      processes_.push_back({.session = created.name()});
      OpenAttempt(processes_.back());
    }
  }

  void Run() {
    while (!owner_.stop_ && owner_.begun_.fetch_add(1) < owner_.options_.operations) {
      Operate();
      {
        const std::lock_guard<std::mutex> lock(owner_.mutex_);
        ++owner_.done_;
      }
      if (owner_.options_.after_operation) owner_.options_.after_operation(owner_.done_);
      owner_.progress_.notify_all();
      if (::testing::Test::HasFailure()) owner_.stop_ = true;
    }
  }

  // A client that does nothing does not see that a server wants to stop, and holds it up.
  void Disconnect() { servers_.clear(); }

  const std::vector<Acknowledged>& told() const { return told_; }
  const std::set<std::string>& asked() const { return asked_; }
  int64_t settled() const { return settled_; }

 private:
  using Budgets = v1::BudgetService::Stub;
  using Sessions = v1::SessionService::Stub;
  using Charges = v1::ChargeService::Stub;

  struct Server {
    std::unique_ptr<Budgets> budgets;
    std::unique_ptr<Sessions> sessions;
    std::unique_ptr<Charges> charges;
  };
  struct Process {
    std::string session;
    int64_t attempt = 0;
    int64_t next_id = 0;
    // Charges of this attempt before the newest checkpoint.
    int64_t checkpoint = 0;
  };
  struct Sent {
    v1::ChargeRequest request;
    int64_t sequence;
    std::string hash;
  };

  void GoTo(size_t server) {
    budgets_ = servers_[server].budgets.get();
    sessions_ = servers_[server].sessions.get();
    charges_ = servers_[server].charges.get();
  }
  size_t AnyServer() {  // draws nothing where there is no choice
    if (servers_.size() == 1) return 0;
    return static_cast<size_t>(Below(static_cast<int64_t>(servers_.size())));
  }

  bool Chance(double probability) {
    return std::uniform_real_distribution<>()(random_) < probability;
  }
  int64_t Below(int64_t bound) {
    return std::uniform_int_distribution<int64_t>(0, bound - 1)(random_);
  }

  // Asks until the outcome is known.
  template <class Stub, class Request, class Response>
  std::pair<grpc::Status, Response> UntilKnown(
      Stub& stub, grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Response*),
      const Request& request) {
    while (true) {
      grpc::ClientContext context;
      context.set_wait_for_ready(true);
      const bool hasty = Chance(owner_.options_.hostility);
      context.set_deadline(
          std::chrono::system_clock::now() +
          (hasty ? std::chrono::microseconds(Below(3000)) : std::chrono::microseconds(20'000'000)));
      Response response;
      grpc::Status status = (stub.*method)(&context, request, &response);
      switch (status.error_code()) {
        case grpc::StatusCode::UNAVAILABLE:
        case grpc::StatusCode::DEADLINE_EXCEEDED:
        case grpc::StatusCode::CANCELLED:  // by gRPC, of a server that stops
          break;
        default:
          return {std::move(status), std::move(response)};
      }
      ++owner_.unknown_outcomes_;
      // A server whose database is away says so at once.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void Remember(const std::string& key, int64_t sequence, const std::string& hash, bool accepted,
                Clock::time_point began) {
    told_.push_back({.root = kRoot,
                     .key = key,
                     .sequence = sequence,
                     .hash = hash,
                     .accepted = accepted,
                     .began = began,
                     .ended = Clock::now()});
  }

  void OpenAttempt(Process& run) {
    v1::OpenAttemptRequest request;
    request.set_session(run.session);
    const Clock::time_point began = Clock::now();
    const auto [status, attempt] = UntilKnown(*sessions_, &Sessions::OpenAttempt, request);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_GT(attempt.number(), run.attempt);
    run.attempt = attempt.number();
    Remember("", attempt.sequence(), attempt.hash(), false, began);
  }

  std::string AttemptName(const Process& run) const {
    return run.session + "/attempts/" + std::to_string(run.attempt);
  }
  // Ids repeat from attempt to attempt, as those of a run that starts again from a checkpoint.
  std::string NextId(Process& run) { return "step-" + std::to_string(++run.next_id); }

  // A decision, from whichever form it came in.
  void Decided(const Process& run, const std::string& id, int64_t attempt, const v1::Charge& charge,
               Clock::time_point began) {
    ASSERT_NE(charge.sequence(), 0);
    EXPECT_EQ(charge.name(),
              run.session + "/attempts/" + std::to_string(attempt) + "/charges/" + id);
    Remember(WorkloadReplay::KeyOf(run.session, attempt, id), charge.sequence(), charge.hash(),
             charge.decision() == v1::Charge::ACCEPTED, began);
  }

  // The charge as it was decided, accepted or refused.
  std::optional<v1::Charge> Ask(const v1::ChargeRequest& request) {
    auto [status, charge] = UntilKnown(*charges_, &Charges::Charge, request);
    if (status.ok()) return charge;
    std::optional<v1::Charge> refused = RefusedChargeOf(status);
    EXPECT_TRUE(refused.has_value()) << status.error_code() << ": " << status.error_message();
    return refused;
  }

  v1::ChargeRequest MakeCharge(Process& run) {
    v1::ChargeRequest request;
    request.set_attempt(AttemptName(run));
    request.set_charge_id(NextId(run));
    *request.mutable_event() = Event();
    request.set_count(1 + Below(3));
    asked_.insert(WorkloadReplay::KeyOf(run.session, run.attempt, request.charge_id()));
    return request;
  }

  void ChargeOnce(Process& run, bool must_be_fenced = false) {
    const v1::ChargeRequest request = MakeCharge(run);
    const Clock::time_point began = Clock::now();
    std::future<std::optional<v1::Charge>> twin;
    if (Chance(owner_.options_.hostility)) {  // the network delivers it twice
      Charges* const elsewhere = servers_[AnyServer()].charges.get();
      twin = std::async(std::launch::async, [elsewhere, request] {
        grpc::ClientContext context;
        context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(20));
        v1::Charge charge;
        const grpc::Status status = elsewhere->Charge(&context, request, &charge);
        return status.ok() ? std::optional(charge) : RefusedChargeOf(status);
      });
    }
    const std::optional<v1::Charge> charge = Ask(request);
    if (!charge.has_value()) return;
    Decided(run, request.charge_id(), run.attempt, *charge, began);
    if (must_be_fenced) {
      EXPECT_EQ(charge->refusal().reason(), v1::Refusal::ATTEMPT_FENCED);
    }
    if (twin.valid()) {
      const std::optional<v1::Charge> other = twin.get();
      if (other.has_value()) ExpectSame(*other, charge->sequence(), charge->hash());
    }
    if (sent_.size() < 64) {
      sent_.push_back({request, charge->sequence(), charge->hash()});
    } else {
      sent_[static_cast<size_t>(Below(64))] = {request, charge->sequence(), charge->hash()};
    }
  }

  static void ExpectSame(const v1::Charge& charge, int64_t sequence, const std::string& hash) {
    EXPECT_EQ(charge.sequence(), sequence) << charge.name() << " was decided twice";
    EXPECT_EQ(charge.hash(), hash);
  }

  // I6: an old request comes again, whatever attempts were opened since.
  void RepeatAnOldOne() {
    if (sent_.empty()) return;
    const Sent& sent = sent_[static_cast<size_t>(Below(static_cast<int64_t>(sent_.size())))];
    if (const std::optional<v1::Charge> again = Ask(sent.request)) {
      ExpectSame(*again, sent.sequence, sent.hash);
    }
    v1::GetChargeRequest get;
    get.set_name(sent.request.attempt() + "/charges/" + sent.request.charge_id());
    const auto [status, charge] = UntilKnown(*charges_, &Charges::GetCharge, get);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ExpectSame(charge, sent.sequence, sent.hash);
  }

  void Batch(Process& run) {
    v1::BatchChargeRequest request;
    request.set_attempt(AttemptName(run));
    request.set_mode(Chance(0.5) ? v1::BatchChargeRequest::ALL_OR_NOTHING
                                 : v1::BatchChargeRequest::PER_ITEM);
    for (int64_t items = 2 + Below(5); items > 0; --items) {
      const v1::ChargeRequest one = MakeCharge(run);
      v1::BatchChargeItem& item = *request.add_items();
      item.set_charge_id(one.charge_id());
      *item.mutable_event() = one.event();
      item.set_count(one.count());
    }
    const Clock::time_point began = Clock::now();
    const auto [status, response] = UntilKnown(*charges_, &Charges::BatchCharge, request);
    ASSERT_TRUE(status.ok()) << status.error_message();
    ASSERT_EQ(response.results_size(), request.items_size());
    int accepted = 0;
    for (int i = 0; i < request.items_size(); ++i) {
      const v1::ChargeResult& result = response.results(i);
      ASSERT_FALSE(result.has_error()) << result.error().message();
      accepted += result.has_accepted() ? 1 : 0;
      Decided(run, request.items(i).charge_id(), run.attempt,
              result.has_accepted() ? result.accepted() : result.refused(), began);
    }
    if (request.mode() == v1::BatchChargeRequest::ALL_OR_NOTHING) {
      EXPECT_TRUE(accepted == 0 || accepted == request.items_size());
    }
  }

  void Lease(Process& run) {
    const v1::ChargeRequest charge = MakeCharge(run);
    v1::AcquireLeaseRequest request;
    request.set_attempt(charge.attempt());
    request.set_lease_id(charge.charge_id());
    *request.mutable_event() = charge.event();
    request.set_count(charge.count());
    request.mutable_time_to_live()->set_seconds(60);
    const Clock::time_point began = Clock::now();
    const auto [status, lease] = UntilKnown(*charges_, &Charges::AcquireLease, request);
    if (!status.ok()) {
      const std::optional<v1::Charge> refused = RefusedChargeOf(status);
      ASSERT_TRUE(refused.has_value()) << status.error_message();
      Decided(run, charge.charge_id(), run.attempt, *refused, began);
      return;
    }
    EXPECT_EQ(lease.granted_count(), request.count());
    Remember(WorkloadReplay::KeyOf(run.session, run.attempt, request.lease_id()), lease.sequence(),
             lease.hash(), true, began);
    v1::SettleLeaseRequest settle;
    settle.set_name(lease.name());
    settle.set_used_count(Below(request.count() + 1));
    const auto [settle_status, settled] = UntilKnown(*charges_, &Charges::SettleLease, settle);
    ASSERT_TRUE(settle_status.ok()) << settle_status.error_message();
    EXPECT_EQ(settled.used_count() + settled.wasted_count(), settled.granted_count());  // I10
    ++settled_;
  }

  // A process starts again while the one before still runs: from an old checkpoint, so that the
  // steps since then are charged again, under the same ids and another attempt.
  void StartAgain(Process& run) {
    Process zombie = run;
    OpenAttempt(run);
    ++owner_.rollbacks_;
    run.next_id = run.checkpoint;
    run.checkpoint = zombie.next_id;
    for (int64_t steps = 1 + Below(3); steps > 0; --steps) ChargeOnce(run);
    for (int64_t steps = 1 + Below(3); steps > 0; --steps)
      ChargeOnce(zombie, /*must_be_fenced=*/true);
    run.next_id = std::max(run.next_id, zombie.next_id);
  }

  void FreezeOrThaw() {
    grpc::Status status;
    if (Chance(0.4)) {
      v1::FreezeBudgetRequest request;
      request.set_name("budgets/frosty");
      request.set_reason("a test");
      status = UntilKnown(*budgets_, &Budgets::FreezeBudget, request).first;
    } else {
      v1::ThawBudgetRequest request;
      request.set_name("budgets/frosty");
      request.set_reason("a test");
      status = UntilKnown(*budgets_, &Budgets::ThawBudget, request).first;
    }
    EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::FAILED_PRECONDITION)
        << status.error_message();
  }

  void Operate() {
    GoTo(AnyServer());
    Process& run = processes_[static_cast<size_t>(Below(static_cast<int64_t>(processes_.size())))];
    const int64_t what = Below(100);
    if (what < 55) return ChargeOnce(run);
    if (what < 70) return Batch(run);
    if (what < 80) return Lease(run);
    if (what < 90) return RepeatAnOldOne();
    if (what < 94) return StartAgain(run);
    if (what < 98) return FreezeOrThaw();
    // Some are ledgers of their own.
    CreateBudget(name_ + "-budget-" + std::to_string(++new_budgets_), Chance(0.5) ? kRoot : "", 1);
  }

  Workload& owner_;
  std::mt19937_64 random_;
  const std::string budget_;
  const std::string name_;
  std::vector<Server> servers_;
  // The budgets of the server that is asked: an unknown outcome is asked for there.
  Budgets* budgets_ = nullptr;
  Sessions* sessions_ = nullptr;
  Charges* charges_ = nullptr;
  std::vector<Process> processes_;
  std::vector<Sent> sent_;
  std::vector<Acknowledged> told_;
  std::set<std::string> asked_;
  int64_t settled_ = 0;
  int64_t new_budgets_ = 0;
};

namespace {

// I8: whoever had heard before another asked has the smaller number.
void ExpectRealTimeOrder(std::vector<Acknowledged> told) {
  std::sort(told.begin(), told.end(),
            [](const auto& a, const auto& b) { return a.sequence > b.sequence; });
  Clock::time_point first_end_after = Clock::time_point::max();
  for (const Acknowledged& one : told) {
    ASSERT_GE(first_end_after, one.began)
        << "entry " << one.sequence << " was asked for after a later one had been answered";
    first_end_after = std::min(first_end_after, one.ended);
  }
}

}  // namespace

Workload::Workload(std::vector<std::string> addresses, Options options)
    : addresses_(std::move(addresses)), options_(std::move(options)) {
  for (int i = 0; i < options_.workers; ++i) workers_.push_back(std::make_unique<Worker>(*this, i));
}

Workload::~Workload() { Finish(); }

void Workload::SetUp() {
  Worker& first = *workers_[0];
  first.CreateBudget(kRoot, "", 1 << 20);
  for (const char* child : kChildren) {
    const bool tight = std::string_view(child) == "tight";
    first.CreateBudget(child, kRoot, tight ? static_cast<double>(kTightUnits) * kUnit : 1 << 19);
  }
  for (const auto& worker : workers_) worker->SetUp();
}

void Workload::Start() {
  running_ = options_.workers;
  for (const auto& worker : workers_) {
    threads_.emplace_back([this, raw = worker.get()] {
      raw->Run();
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        --running_;
      }
      progress_.notify_all();
    });
  }
}

bool Workload::WaitForMore(int64_t more) {
  std::unique_lock<std::mutex> lock(mutex_);
  const int64_t target = done_ + more;
  progress_.wait(lock, [&] { return done_ >= target || running_ == 0; });
  return running_ > 0;
}

void Workload::Wait() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
  for (const auto& worker : workers_) worker->Disconnect();
}

void Workload::Finish() {
  stop_ = true;
  Wait();
}

std::map<int64_t, std::string> Workload::Decisions() const {
  std::map<int64_t, std::string> decisions;
  for (const auto& worker : workers_) {
    for (const Acknowledged& one : worker->told()) {
      decisions[one.sequence] = one.key + (one.accepted ? " accepted" : " refused");
    }
  }
  return decisions;
}

void Workload::Verify(const std::string& data_dir) {
  auto store = storage::SqliteStore::Open(data_dir + "/ledger.sqlite");
  ASSERT_TRUE(store.ok()) << store.status();
  Verify(**store);
}

void Workload::Verify(storage::LedgerStore& store) {
  std::map<std::string, WorkloadReplay> replays;
  const absl::Status read = store.ReadAll(
      [&](const std::string& root, core::Entry entry) { return replays[root].Add(entry); });
  ASSERT_TRUE(read.ok()) << read;
  WorkloadReplay& replay = replays[kRoot];
  for (auto& [root, each] : replays) each.ExpectSpentIsTheSum();

  std::vector<Acknowledged> told;
  std::set<std::string> asked;
  int64_t settled = 0;
  for (const auto& worker : workers_) {
    told.insert(told.end(), worker->told().begin(), worker->told().end());
    asked.insert(worker->asked().begin(), worker->asked().end());
    settled += worker->settled();
  }
  std::set<std::string> keys_told;
  for (const Acknowledged& one : told) {
    ASSERT_LE(one.sequence, static_cast<int64_t>(replay.entries().size()))
        << one.key << " was acknowledged and is lost";
    const core::Entry& entry = replay.entries()[static_cast<size_t>(one.sequence - 1)];
    EXPECT_EQ(std::string(entry.hash.begin(), entry.hash.end()), one.hash) << one.key;
    EXPECT_EQ(replay.KeyOfEntry(entry), one.key);
    if (core::ChargeKeyOf(entry.body).has_value()) {
      const auto* row = std::get_if<core::ChargeDecided>(&entry.body);
      EXPECT_EQ(row != nullptr && row->decision == core::ChargeDecision::kAccepted, one.accepted)
          << one.key;
      keys_told.insert(one.key);
      ++(one.accepted ? accepted_ : refused_);
    }
  }
  // Every outcome became known in the end, so what is stored is what was asked and told.
  EXPECT_EQ(keys_told, asked);
  EXPECT_EQ(replay.keys().size(), keys_told.size());
  EXPECT_EQ(replay.settled(), settled);
  ExpectRealTimeOrder(std::move(told));
}

}  // namespace epsledger
