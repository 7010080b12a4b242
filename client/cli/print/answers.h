#ifndef EPSLEDGER_CLIENT_CLI_PRINT_ANSWERS_H_
#define EPSLEDGER_CLIENT_CLI_PRINT_ANSWERS_H_

// Printing of resources, the same for all verbs.

#include <string>
#include <vector>

#include <google/protobuf/repeated_field.h>

#include "client/cli/invocation.h"
#include "client/cli/print/table.h"
#include "epsledger/v1/access_service.pb.h"
#include "epsledger/v1/accounting_service.pb.h"
#include "epsledger/v1/budget.pb.h"
#include "epsledger/v1/charge.pb.h"
#include "epsledger/v1/guarantee.pb.h"
#include "epsledger/v1/session.pb.h"

namespace epsledger::cli {

// A full name: people see its short form.
TableCell NameCell(const std::string& name);

// People see `spent` below the rest; it may be empty. They see the cell that counts: the fullest
// if all must have room, otherwise the one with the most room. -o wide has all.
void PrintBudget(Invocation& invocation, const v1::Budget& budget, const std::string& spent = "");
void PrintBudgets(Invocation& invocation, const std::vector<const v1::Budget*>& budgets);
// The first is the root of the others. People see the branches.
void PrintBudgetTree(Invocation& invocation, const std::vector<const v1::Budget*>& budgets);

// `chart` is shown where charts are drawn; it may be empty.
void PrintSession(Invocation& invocation, const v1::Session& session,
                  const std::string& chart = "");
void PrintSessions(Invocation& invocation, const std::vector<const v1::Session*>& sessions);

// One line per charge, refused ones with their reason.
Table ChargeTable(const std::vector<const v1::Charge*>& charges);

void PrintLease(Invocation& invocation, const v1::Lease& lease);

// Returns true if people need no row for the reading: an accountant but BEST has no answer, which
// -o wide shows.
bool IsFolded(const Invocation& invocation, const v1::AccountantReading& reading);
// Returns one line that names the accountants whose rows are folded, and why BEST has no answer if
// it has none. Empty if there is nothing to say.
std::string FoldedText(const Invocation& invocation,
                       const google::protobuf::RepeatedPtrField<v1::AccountantReading>& readings);

// Prints what every accountant says about a history.
void PrintReadings(Invocation& invocation,
                   const google::protobuf::RepeatedPtrField<v1::AccountantReading>& readings);

// Returns one line: "budgets/vision, budgets/speech/sessions/first (Charge, OpenAttempt)".
std::string GrantText(const google::protobuf::RepeatedPtrField<v1::Grant>& grants);

}  // namespace epsledger::cli

#endif  // EPSLEDGER_CLIENT_CLI_PRINT_ANSWERS_H_
