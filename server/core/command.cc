#include "server/core/command.h"

namespace epsledger::core {

CommandBody::CommandBody() = default;
CommandBody::CommandBody(const CommandBody&) = default;
CommandBody::CommandBody(CommandBody&&) noexcept = default;
CommandBody& CommandBody::operator=(const CommandBody&) = default;
CommandBody& CommandBody::operator=(CommandBody&&) noexcept = default;
CommandBody::~CommandBody() = default;
namespace {

struct BudgetFinder {
  const std::string& operator()(const CreateBudget& c) const {
    return c.spec.parent_id.empty() ? c.spec.id : c.spec.parent_id;
  }
  const std::string& operator()(const UpdateBudget& c) const { return c.budget_id; }
  const std::string& operator()(const ChangeBudgetPhase& c) const { return c.budget_id; }
  const std::string& operator()(const SupersedeBudget& c) const { return c.budget_id; }
  const std::string& operator()(const SetApprovalPolicy& c) const { return c.budget_id; }
  const std::string& operator()(const ProposeChange& c) const { return c.budget_id; }
  const std::string& operator()(const RejectProposal& c) const { return c.budget_id; }
  const std::string& operator()(const CreateSession& c) const { return c.spec.budget_id; }
  const std::string& operator()(const CloseSession& c) const { return c.session.budget_id; }
  const std::string& operator()(const RecordAudit& c) const { return c.session.budget_id; }
  const std::string& operator()(const Annotate& c) const { return c.resource.budget_id; }
  const std::string& operator()(const RecordSignOff& c) const { return c.resource.budget_id; }
  const std::string& operator()(const OpenAttempt& c) const { return c.session.budget_id; }
  const std::string& operator()(const Charge& c) const { return c.session.budget_id; }
  const std::string& operator()(const ChargePreview& c) const { return c.session.budget_id; }
  const std::string& operator()(const SettleLease& c) const { return c.session.budget_id; }
  const std::string& operator()(const AccessCommand&) const { return none; }
  const std::string none;
};

}  // namespace

const std::string& BudgetOf(const Command& command) {
  static const BudgetFinder finder;
  return std::visit(finder, command.body);
}

}  // namespace epsledger::core
