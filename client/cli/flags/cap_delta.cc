#include "client/cli/flags/cap_delta.h"

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/cli/flags/resource_name.h"
#include "epsledger/rounded_number.h"

namespace epsledger::cli {
namespace {

absl::StatusOr<v1::Budget> GetBudget(Connection& connection, const std::string& name) {
  v1::GetBudgetRequest request;
  request.set_name(name);
  return connection.Call(connection.budgets(), &v1::BudgetService::StubInterface::GetBudget,
                         request);
}

absl::StatusOr<std::optional<double>> DeltaOfNamed(Connection& connection,
                                                   const std::string& name) {
  if (name.find("/sessions/") == name.npos) {
    ASSIGN_OR_RETURN(const v1::Budget budget, GetBudget(connection, name));
    return DeltaOf(budget.cap());
  }
  v1::GetSessionRequest request;
  request.set_name(name);
  ASSIGN_OR_RETURN(const v1::Session session,
                   connection.Call(connection.sessions(),
                                   &v1::SessionService::StubInterface::GetSession, request));
  return DeltaOfSession(connection, session);
}

}  // namespace

std::optional<double> DeltaOf(const v1::Cap& cap) {
  if (cap.has_approximate_dp()) return cap.approximate_dp().delta();
  if (cap.has_units()) return cap.units().delta();
  return std::nullopt;
}

std::optional<double> EpsilonOf(const v1::Cap& cap) {
  if (cap.has_approximate_dp()) return cap.approximate_dp().epsilon();
  if (cap.units().guarantee_size() == 0) return std::nullopt;
  return cap.units().guarantee(cap.units().guarantee_size() - 1).epsilon();
}

absl::StatusOr<std::optional<double>> DeltaOfSession(Connection& connection,
                                                     const v1::Session& session) {
  if (session.own_cap().has_approximate_dp()) return session.own_cap().approximate_dp().delta();
  if (session.plan_delta() > 0) return session.plan_delta();
  return DeltaOfNamed(connection, ParentOf(session.name()));
}

void AddReadingDelta(CLI::App& command, std::optional<double>& delta) {
  command.add_option("--delta", delta, "in (0, 1); default: the delta that the cap names")
      ->type_name("DELTA");
}

absl::StatusOr<double> SaidOrCapDelta(Connection& connection, std::optional<double> said,
                                      const std::string& name) {
  if (said.has_value()) return *said;
  ASSIGN_OR_RETURN(const std::optional<double> own, DeltaOfNamed(connection, name));
  if (own.has_value()) return *own;
  return absl::InvalidArgumentError(
      absl::StrCat("delta: unset, want --delta in (0, 1): the cap of ", name, " names no delta"));
}

std::string SpentSoFar(Invocation& invocation, const v1::Budget& budget) {
  const std::optional<double> delta = DeltaOf(budget.cap());
  const std::optional<double> cap = EpsilonOf(budget.cap());
  if (!delta.has_value() || !cap.has_value()) return "";
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return "";
  v1::GetBudgetGuaranteesRequest request;
  request.set_name(budget.name());
  request.set_delta(*delta);
  const absl::StatusOr<v1::GetBudgetGuaranteesResponse> response =
      (*connection)
          ->Call((*connection)->budgets(), &v1::BudgetService::StubInterface::GetBudgetGuarantees,
                 request);
  if (!response.ok() || response->readings().empty()) return "";
  // BEST is last.
  const v1::AccountantReading& best = response->readings(response->readings_size() - 1);
  if (best.accountant() != v1::Accountant::BEST || !best.guarantee().has_upper()) return "";
  return absl::StrCat(
      RoundedNumber(100 * budget.spent_fraction(), Rounding::kUp, 3), " % of the cap of ",
      budget.name(), " is spent; its charges amount to epsilon ",
      RoundedNumber(best.guarantee().upper(), Rounding::kUp, 4), " of ",
      RoundedNumber(*cap, Rounding::kUp, 4), " at delta ", ExactNumber(*delta),
      ".\nEpsilon grows about as the square root of the steps; the share grows with every step, "
      "and decides what fits.");
}

std::string SpentSoFar(Invocation& invocation, const std::string& budget) {
  const absl::StatusOr<Connection*> connection = invocation.Connect();
  if (!connection.ok()) return "";
  const absl::StatusOr<v1::Budget> found = GetBudget(**connection, budget);
  return found.ok() ? SpentSoFar(invocation, *found) : "";
}

}  // namespace epsledger::cli
