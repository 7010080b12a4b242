#include "tests/fuzz/fuzzed_server.h"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <future>
#include <map>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "grpcpp/client_context.h"
#include "grpcpp/completion_queue.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/generic/generic_stub.h"
#include "server/storage/group_commit_ledger.h"
#include "server/transport/grpc/health_probe.h"
#include "tests/server/core/ledger_harness.h"
#include "tests/server/storage/memory_store.h"

namespace epsledger::fuzz {
namespace {

constexpr std::chrono::seconds kPatience(60);

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::abort();
}

using Entries = std::map<std::string, std::vector<core::Entry>>;  // by root budget

Entries MakeEntries() {
  const accounting::MechanismEvent event = accounting::Gaussian{.noise_multiplier = 4};
  Entries entries;
  core::LedgerHarness b;
  const core::SessionName session{.budget_id = "b", .session_id = "s"};
  core::BudgetSpec budget = core::PureBudget("b", 0);
  budget.cap = core::ApproximateDpCap{.epsilon = 100, .delta = 1e-3};
  bool ok = b.Run(core::CreateBudget{budget}).ok() &&
            b.Run(core::CreateSession{core::AdaptiveSession("b", "s")}).ok() &&
            b.Run(core::CreateSession{core::AdaptiveSession("b", "other")}).ok() &&
            b.Run(core::OpenAttempt{session, ""}).ok();
  b.Decide(session, 1, "c", event);
  core::Charge lease{.session = session, .attempt = 1, .items = {{"l", event, 1}}};
  lease.lease_expire_time_micros = 1;
  ok = ok && b.Run(lease).ok();
  core::LedgerHarness spare;
  ok = ok && spare.Run(core::CreateBudget{core::PureBudget("spare", 9)}).ok() &&
       spare.Run(core::CreateSession{core::AdaptiveSession("spare", "s")}).ok() &&
       spare
           .Run(core::ProposeChange{.budget_id = "spare",
                                    .proposal_id = "q",
                                    .change = core::ProposedPolicy{{core::GuardedChange::kThaw}},
                                    .reason = "x",
                                    .proposer = {"another person", {}},
                                    .expire_time_micros = 4'102'444'800'000'000})
           .ok();
  if (!ok) Fail("the ledger to begin with cannot be made");
  entries["b"] = std::move(b.entries);
  entries["spare"] = std::move(spare.entries);
  return entries;
}

std::unique_ptr<core::DurableLedger> OpenLedger() {
  static const Entries& entries = *new Entries(MakeEntries());
  auto store = std::make_unique<storage::MemoryStore>();
  bool ok = store->Begin().ok();
  for (const auto& [root, of_root] : entries) {
    for (const core::Entry& entry : of_root) ok = ok && store->Append(root, entry).ok();
  }
  ok = ok && store->Commit().ok();
  auto ledger = storage::GroupCommitLedger::Open(std::move(store), {});
  if (!ok || !ledger.ok()) Fail("the ledger to begin with does not verify");
  return *std::move(ledger);
}

}  // namespace

// Hands everything on to a ledger that can be replaced.
class FreshLedger : public core::DurableLedger {
 public:
  FreshLedger() { Replace(); }

  // Whether there was a command since the last Replace().
  bool touched() const { return touched_; }
  void Replace() {
    touched_ = false;
    std::shared_ptr<core::DurableLedger> fresh = OpenLedger();
    absl::MutexLock lock(&mutex_);
    ledgers_.push_back(std::move(fresh));
    // One of which nobody is in the middle goes: a stream that was cancelled may end late.
    if (ledgers_.size() > 8) ledgers_.pop_front();
  }

  void Submit(core::Tenant tenant, core::Command command, Reply reply) override {
    touched_ = true;
    Current()->Submit(std::move(tenant), std::move(command), std::move(reply));
  }
  void Read(core::Tenant tenant, ReadFunction read) override {
    Current()->Read(std::move(tenant), std::move(read));
  }
  std::shared_ptr<const core::TokenTable> Tokens() const override { return Current()->Tokens(); }
  absl::Status Health() const override { return Current()->Health(); }

 private:
  std::shared_ptr<core::DurableLedger> Current() const {
    absl::MutexLock lock(&mutex_);
    return ledgers_.back();
  }

  std::atomic<bool> touched_{false};
  mutable absl::Mutex mutex_;
  std::deque<std::shared_ptr<core::DurableLedger>> ledgers_ ABSL_GUARDED_BY(mutex_);
};

FuzzedServer::FuzzedServer()
    : ledger_(std::make_unique<FreshLedger>()),
      server_(*transport::Server::Start({.addresses = {"127.0.0.1:0"},
                                         .insecure_no_access_control = true,
                                         .peer_connections_per_second = 1e9},
                                        *ledger_)),
      channel_(grpc::CreateChannel(address(), grpc::InsecureChannelCredentials())) {}

FuzzedServer::~FuzzedServer() = default;

core::DurableLedger& FuzzedServer::ledger() { return *ledger_; }

void FuzzedServer::Reset() {
  if (ledger_->touched()) ledger_->Replace();
}

grpc::Status FuzzedServer::Call(const google::protobuf::MethodDescriptor& method,
                                const std::string& bytes, std::chrono::milliseconds patience) {
  grpc::GenericStub stub(channel_);
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + patience);
  grpc::CompletionQueue queue;
  const auto succeeds = [&queue] {
    void* tag = nullptr;
    bool ok = false;
    queue.Next(&tag, &ok);
    return ok;
  };
  const grpc::Slice slice(bytes);
  const grpc::ByteBuffer request(&slice, 1);
  auto call =
      stub.PrepareCall(&context, "/" + method.service()->full_name() + "/" + method.name(), &queue);
  call->StartCall(nullptr);
  succeeds();
  call->WriteLast(request, {}, nullptr);
  succeeds();
  grpc::ByteBuffer answer;
  call->Read(&answer, nullptr);
  const bool answered = succeeds();
  if (answered && method.server_streaming()) context.TryCancel();
  grpc::Status status;
  call->Finish(&status, nullptr);
  succeeds();
  return answered && method.server_streaming() ? grpc::Status::OK : status;
}

void FuzzedServer::CheckHealth() {
  const absl::Status health =
      transport::ProbeHealth({.address = address(), .timeout = absl::FromChrono(kPatience)});
  if (!health.ok()) Fail("health check: " + std::string(health.message()));
}

void FuzzedServer::CheckLedgers() {
  if (!ledger_->touched()) return;
  std::promise<std::string> checked;
  ledger_->Read({}, [&](absl::StatusOr<core::LedgerReader*> reader) {
    if (!reader.ok()) return checked.set_value(reader.status().ToString());
    for (const core::LedgerReader::TenantLedger& of : (*reader)->AllLedgers()) {
      core::Ledger replay;
      const auto entries = (*reader)->ListEntries(*of.ledger, 0, of.ledger->head().sequence);
      if (!entries.ok()) return checked.set_value(entries.status().ToString());
      for (const core::Entry& entry : *entries) {
        if (const absl::Status status = replay.Apply(entry); !status.ok()) {
          return checked.set_value(status.ToString());
        }
      }
      if (!(replay.head() == of.ledger->head())) return checked.set_value("another head");
    }
    checked.set_value("");
  });
  if (const std::string problem = checked.get_future().get(); !problem.empty()) {
    Fail("the stored ledger does not verify: " + problem);
  }
}

}  // namespace epsledger::fuzz
