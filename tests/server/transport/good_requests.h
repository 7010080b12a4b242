#ifndef EPSLEDGER_TESTS_SERVER_TRANSPORT_GOOD_REQUESTS_H_
#define EPSLEDGER_TESTS_SERVER_TRANSPORT_GOOD_REQUESTS_H_

// Every method of every service, from the descriptors, and a request that each accepts. The server
// has the budgets "b" and "spare", the sessions "s" and "other" of "b" and "s" of "spare", attempt
// 1 of the first session, and the token "spare", but no access control.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "epsledger/v1/access_service.pb.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/audit_service.pb.h"
#include "epsledger/v1/budget_service.pb.h"
#include "epsledger/v1/charge_service.pb.h"
#include "epsledger/v1/proposal_service.pb.h"
#include "epsledger/v1/server_service.pb.h"
#include "epsledger/v1/session_service.pb.h"
#include "google/protobuf/descriptor.h"
#include "google/protobuf/message.h"
#include "google/protobuf/text_format.h"

namespace epsledger::transport {

// Returns the files of proto/epsledger/v1 that hold services. Using a message of each file keeps
// the linker from dropping it.
inline std::vector<const google::protobuf::FileDescriptor*> ServiceFiles() {
  return {
      v1::GetCallerRequest::descriptor()->file(),   v1::ComputeRequest::descriptor()->file(),
      v1::ListDenialsRequest::descriptor()->file(), v1::GetBudgetRequest::descriptor()->file(),
      v1::ChargeRequest::descriptor()->file(),      v1::GetServerInfoRequest::descriptor()->file(),
      v1::GetProposalRequest::descriptor()->file(), v1::GetSessionRequest::descriptor()->file()};
}

inline std::vector<const google::protobuf::MethodDescriptor*> AllMethods() {
  std::vector<const google::protobuf::MethodDescriptor*> methods;
  for (const google::protobuf::FileDescriptor* file : ServiceFiles()) {
    for (int s = 0; s < file->service_count(); ++s) {
      for (int m = 0; m < file->service(s)->method_count(); ++m) {
        methods.push_back(file->service(s)->method(m));
      }
    }
  }
  return methods;
}

// "BudgetService.GetBudget".
inline std::string ShortName(const google::protobuf::MethodDescriptor& method) {
  return method.service()->name() + "." + method.name();
}

// Returns a good request for every method of this version. Other methods must answer UNIMPLEMENTED
// to every request.
inline const std::map<std::string, std::string>& GoodRequests() {
  static const std::string event =
      "event { poisson_sampled { sampling_probability: 0.5 event { gaussian { noise_multiplier: 4 "
      "} "
      "} } } ";
  static const std::map<std::string, std::string> requests = {
      {"AccessService.CreateToken",
       "token { role: VIEWER description: 'x' expire_time { seconds: " +
           std::to_string(absl::ToUnixSeconds(absl::Now() + absl::Hours(24))) + " } }"},
      {"AccessService.ListTokens", "page_size: 3"},
      {"AccessService.RevokeToken", "name: 'tokens/spare'"},
      {"AccessService.GetCaller", ""},
      {"AccessService.CreateLogin", ""},
      {"AccessService.EndLogin", ""},
      {"BudgetService.CreateBudget",
       "budget_id: 'new' validate_only: true budget { name: 'budgets/new' parent: 'budgets/b' cap "
       "{ approximate_dp { epsilon: 1 delta: 1e-5 filter: RENYI_ONE_ORDER order: 32 } } "
       "neighboring_relation: ADD_OR_REMOVE_ONE privacy_unit: 'person' display_name: 'x' }"},
      {"BudgetService.GetBudget", "name: 'budgets/b'"},
      {"BudgetService.ListBudgets", "page_size: 3"},
      {"BudgetService.GetBudgetActivity", "name: 'budgets/b' window { seconds: 60 }"},
      {"BudgetService.WatchBudget", "name: 'budgets/b' after_sequence: 1"},
      {"BudgetService.UpdateBudget",
       "budget { name: 'budgets/spare' display_name: 'y' } update_mask { paths: 'display_name' }"},
      {"BudgetService.FreezeBudget", "name: 'budgets/spare' reason: 'x'"},
      {"BudgetService.ThawBudget", "name: 'budgets/spare' reason: 'x'"},
      {"BudgetService.CloseBudget", "name: 'budgets/spare' reason: 'x' validate_only: true"},
      {"BudgetService.SupersedeBudget",
       "name: 'budgets/spare' successor_id: 'next' reason: 'x' validate_only: true cap { "
       "pure_epsilon { epsilon: 7 } }"},
      {"BudgetService.SetApprovalPolicy",
       "name: 'budgets/spare' policy { guarded: [CLOSE, SUPERSEDE] } validate_only: true"},
      {"ProposalService.CreateProposal",
       "parent: 'budgets/b' proposal_id: 'p' proposal { name: 'budgets/b/proposals/p' reason: 'x' "
       "close {} }"},
      {"ProposalService.GetProposal", "name: 'budgets/b/proposals/p'"},
      {"ProposalService.ListProposals", "parent: 'budgets/b' page_size: 3 pending_only: true"},
      // A proposal by a person other than the caller.
      {"ProposalService.ApproveProposal",
       "name: 'budgets/spare/proposals/q' reason: 'x' sequence: 3"},
      {"ProposalService.RejectProposal", "name: 'budgets/b/proposals/p' reason: 'x'"},
      {"BudgetService.GetBudgetTree", "name: 'budgets/spare'"},
      {"BudgetService.GetBudgetGuarantees", "name: 'budgets/b' delta: 1e-5 group: 'g'"},
      {"BudgetService.ListBudgetReadings",
       "delta: 1e-5 at_delta_of_cap: true type_one_error: 0.01 window { seconds: 60 } page_size: "
       "3"},
      {"SessionService.CreateSession",
       "parent: 'budgets/b' session_id: 'new' validate_only: true session { name: "
       "'budgets/b/sessions/new' mode: DECLARED neighboring_relation: ADD_OR_REMOVE_ONE own_cap { "
       "approximate_dp { epsilon: 90 delta: 1e-5 } } plan_delta: 1e-6 display_name: 'x' plan { "
       "events { count: 2 " +
           event + "} } }"},
      {"SessionService.GetSession", "name: 'budgets/b/sessions/s'"},
      {"SessionService.ListSessions", "parent: 'budgets/b' page_size: 3"},
      {"SessionService.ListSessionReadings",
       "parent: 'budgets/b' include_descendants: true delta: 1e-5 renyi_order: 2 text: 's' order: "
       "STEP_COUNT descending: true page_size: 3"},
      {"SessionService.OpenAttempt",
       "session: 'budgets/b/sessions/other' client_description: 'test'"},
      {"SessionService.GetSessionGuarantees", "name: 'budgets/b/sessions/s' delta: 1e-5"},
      {"SessionService.WatchSession", "name: 'budgets/b/sessions/s' after_sequence: 1"},
      {"SessionService.GetSessionHistory", "name: 'budgets/b/sessions/s'"},
      {"SessionService.GetSessionSeries",
       "name: 'budgets/b/sessions/s' delta: 1e-5 accountant: RENYI point_count: 4"},
      {"SessionService.GetSessionPrivacyProfile",
       "name: 'budgets/b/sessions/s' accountant: RENYI epsilons: [1, 2]"},
      {"SessionService.GetSessionTradeOffCurve",
       "name: 'budgets/b/sessions/s' accountant: RENYI type_one_errors: [0.1]"},
      {"SessionService.RecordAudit",
       "session: 'budgets/b/sessions/s' audit { method: TWO_ARM_GDP hypothesis: "
       "GAUSSIAN_TRADE_OFF epsilon_lower_bound: 0.5 delta: 1e-5 confidence: 0.95 trials: 2000 "
       "mu_lower_bound: 0.1 claimed_epsilon: 1 source: 'x' }"},
      {"SessionService.CloseSession", "name: 'budgets/spare/sessions/s' reason: 'x'"},
      {"ChargeService.Charge",
       "attempt: 'budgets/b/sessions/s/attempts/1' charge_id: 'c' count: 1 " + event},
      {"ChargeService.BatchCharge",
       "attempt: 'budgets/b/sessions/s/attempts/1' mode: PER_ITEM items { charge_id: 'd' count: "
       "1 " +
           event + "}"},
      {"ChargeService.AcquireLease",
       "attempt: 'budgets/b/sessions/s/attempts/1' lease_id: 'l' count: 1 time_to_live { seconds: "
       "9 } " +
           event},
      {"ChargeService.SettleLease", "name: 'budgets/b/sessions/s/attempts/1/leases/l'"},
      {"ChargeService.PreviewCharge", "session: 'budgets/b/sessions/s' count: 1 " + event},
      {"ChargeService.GetCharge", "name: 'budgets/b/sessions/s/attempts/1/charges/c'"},
      {"ChargeService.ListRefusals", "parent: 'budgets/b'"},
      {"ChargeService.ListCharges", "parent: 'budgets/b/sessions/s' page_size: 3"},
      {"ChargeService.StreamCharges",
       "attempt: 'budgets/b/sessions/s/attempts/1' charge_id: 'e' count: 1 " + event},
      {"AccountingService.Compute",
       "id: 'x' accountant: RENYI neighboring_relation: ADD_OR_REMOVE_ONE adjacency: ADD "
       "sensitivity_relation: CONTRIBUTION relative_width: 0.5 group_size: 1 "
       "advanced_delta_slack: 0.1 query { epsilon_at_delta: 1e-5 } events { count: 1 " +
           event + "}"},
      {"AccountingService.CompareAccountants",
       "neighboring_relation: REPLACE_SPECIAL delta: 1e-5 relative_width: 0.5 group_size: 1 "
       "advanced_delta_slack: 0.1 events { count: 1 " +
           event + "}"},
      {"AccountingService.GetPrivacyProfile",
       "accountant: RENYI neighboring_relation: ADD_OR_REMOVE_ONE adjacency: ADD relative_width: "
       "0.5 group_size: 1 advanced_delta_slack: 0.1 epsilons: [1, 2] events { count: 1 " +
           event + "}"},
      {"AccountingService.GetTradeOffCurve",
       "accountant: GAUSSIAN sensitivity_relation: CONTRIBUTION relative_width: 0.5 group_size: 1 "
       "type_one_error_range { first: 0.01 last: 0.5 count: 2 logarithmic: true } events { count: "
       "1 event { gaussian { noise_multiplier: 4 } } }"},
      {"AccountingService.AuditCanaries",
       "method: ONE_RUN_F_DP confidence: 0.9 delta: 1e-5 claimed_epsilon: 1 neighboring_relation: "
       "ADD_OR_REMOVE_ONE sensitivity_relation: CONTRIBUTION one_run_counts { canaries: 9 guesses: "
       "8 correct: 7 } events { count: 1 event { gaussian { noise_multiplier: 4 } } }"},
      {"AuditService.GetLedgerHead", "budget: 'budgets/b'"},
      {"AuditService.ListDenials", "page_size: 3"},
      {"AuditService.LiftQuarantine", "budget: 'budgets/b' reason: 'charged by hand'"},
      {"AuditService.ListAuditEntries", "budget: 'budgets/b' after_sequence: 1 page_size: 3"},
      {"AuditService.ProveInclusion", "budget: 'budgets/b' sequence: 1"},
      {"AuditService.ProveConsistency", "budget: 'budgets/b' old_size: 1"},
      {"AuditService.ExportLedger", "budget: 'budgets/b'"},
      {"AuditService.VerifyLedger", "budget: 'budgets/b'"},
      {"AuditService.GetAnnotations", "name: 'budgets/b/sessions/s'"},
      {"AuditService.UpdateAnnotations",
       "name: 'budgets/b/sessions/s' annotations { topic: ACTORS text: 'curators' }"},
      {"AuditService.RecordSignOff",
       "name: 'budgets/b' sign_off { signer: 'a' role: 'r' } statement_json: '{}'"},
      {"AuditService.GetPrivacyStatement", "name: 'budgets/b/sessions/s' delta: 1e-5"},
      {"ServerService.GetServerInfo", ""},
  };
  return requests;
}

// Returns the method's good request, or an empty one.
inline std::unique_ptr<google::protobuf::Message> GoodRequest(
    const google::protobuf::MethodDescriptor& method) {
  std::unique_ptr<google::protobuf::Message> message(
      google::protobuf::MessageFactory::generated_factory()
          ->GetPrototype(method.input_type())
          ->New());
  const auto it = GoodRequests().find(ShortName(method));
  if (it != GoodRequests().end()) {
    google::protobuf::TextFormat::ParseFromString(it->second, message.get());
  }
  return message;
}

}  // namespace epsledger::transport

#endif  // EPSLEDGER_TESTS_SERVER_TRANSPORT_GOOD_REQUESTS_H_
