#ifndef EPSLEDGER_TESTS_CLIENT_CPP_FAKE_LEDGER_H_
#define EPSLEDGER_TESTS_CLIENT_CPP_FAKE_LEDGER_H_

#include <grpcpp/grpcpp.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "epsledger/v1/budget_service.grpc.pb.h"
#include "epsledger/v1/charge_service.grpc.pb.h"
#include "epsledger/v1/session_service.grpc.pb.h"

namespace epsledger {

// How one Charge call fails. A committed fault changes the ledger before the answer is lost.
enum class Fault {
  kNone,
  kUnavailable,
  kUnavailableWithRetryInfo,  // 5 s
  kCommitThenUnavailable,
  kCommitThenDeadlineExceeded,
  kCommitThenCancelled,
  kCommitThenUnknown,
  kCommitThenInternal,
  kPermissionDenied,
  kWrongName,
  kUnspecifiedDecision,
  kRefusedWithOk,
  kWrongCount,
  kWrongEvent,
  kNoSequence,
  kRefusalOfAnotherKey,
  kRefusalWithoutDetails,
  kFenced,
};

// A server on an ephemeral loopback port whose cap is one counter of uses of any event. It
// implements only what a client can see from outside; the real ledger has its own tests.
class FakeLedger : private v1::BudgetService::Service,
                   private v1::SessionService::Service,
                   private v1::ChargeService::Service {
 public:
  FakeLedger();
  ~FakeLedger() override;

  const std::string& address() const { return address_; }

  // Makes the next calls of Charge and SettleLease fail with these faults, one fault per call.
  // Later calls succeed.
  void Script(std::vector<Fault> faults);
  // Sets how many uses fit from now on.
  void set_capacity(int64_t uses);
  // Sets the name that OpenAttempt answers instead of the right one; empty: the right name.
  void set_attempt_name(const std::string& name);

  std::vector<v1::ChargeRequest> charge_requests() const;
  std::vector<v1::CreateBudgetRequest> budget_requests() const;
  std::vector<v1::CreateSessionRequest> session_requests() const;
  std::vector<v1::SettleLeaseRequest> settle_requests() const;
  // Returns the decided charge of that name, or nullopt.
  std::optional<v1::Charge> FindCharge(const std::string& name) const;
  // Returns the number of uses that were charged.
  int64_t spent() const;

 private:
  using Context = grpc::ServerContext;
  grpc::Status CreateBudget(Context*, const v1::CreateBudgetRequest*, v1::Budget*) override;
  grpc::Status GetBudget(Context*, const v1::GetBudgetRequest*, v1::Budget*) override;
  grpc::Status ListBudgets(Context*, const v1::ListBudgetsRequest*,
                           v1::ListBudgetsResponse*) override;
  grpc::Status CreateSession(Context*, const v1::CreateSessionRequest*, v1::Session*) override;
  grpc::Status GetSession(Context*, const v1::GetSessionRequest*, v1::Session*) override;
  grpc::Status ListSessions(Context*, const v1::ListSessionsRequest*,
                            v1::ListSessionsResponse*) override;
  grpc::Status OpenAttempt(Context*, const v1::OpenAttemptRequest*, v1::Attempt*) override;
  grpc::Status GetSessionGuarantees(Context*, const v1::GetSessionGuaranteesRequest*,
                                    v1::GetSessionGuaranteesResponse*) override;
  grpc::Status Charge(Context*, const v1::ChargeRequest*, v1::Charge*) override;
  grpc::Status AcquireLease(Context*, const v1::AcquireLeaseRequest*, v1::Lease*) override;
  grpc::Status SettleLease(Context*, const v1::SettleLeaseRequest*, v1::Lease*) override;
  grpc::Status PreviewCharge(Context*, const v1::PreviewChargeRequest*,
                             v1::PreviewChargeResponse*) override;
  grpc::Status GetCharge(Context*, const v1::GetChargeRequest*, v1::Charge*) override;
  grpc::Status ListCharges(Context*, const v1::ListChargesRequest*,
                           v1::ListChargesResponse*) override;

  // Returns the fault of this call. REQUIRES: mutex_ held.
  Fault TakeFault();
  // Returns the stored outcome of the request's key; a new key is decided first.
  // REQUIRES: mutex_ held.
  const v1::Charge& Decide(const v1::ChargeRequest& request);
  v1::Refusal MakeRefusal(v1::Refusal::Reason reason, int64_t requested) const;

  mutable std::mutex mutex_;
  std::deque<Fault> faults_;
  std::string attempt_name_;
  int64_t capacity_ = 1'000'000;
  int64_t spent_ = 0;
  int64_t sequence_ = 0;
  std::map<std::string, v1::Charge> charges_;
  std::vector<std::string> charge_order_;
  std::map<std::string, v1::Lease> leases_;
  std::map<std::string, v1::Budget> budgets_;
  std::map<std::string, v1::Session> sessions_;
  std::vector<v1::ChargeRequest> charge_requests_;
  std::vector<v1::SettleLeaseRequest> settle_requests_;
  std::vector<v1::CreateBudgetRequest> budget_requests_;
  std::vector<v1::CreateSessionRequest> session_requests_;

  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_CLIENT_CPP_FAKE_LEDGER_H_
