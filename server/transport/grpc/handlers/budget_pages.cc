#include "server/transport/grpc/handlers/budget_pages.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "accounting/event/status_macros.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/budget_convert.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/limits.h"

namespace epsledger::transport {

bool IsVisible(const core::Ledger& ledger, const std::string& budget_id,
               const access::Caller& caller) {
  return caller.scope == nullptr || core::Covers(*caller.scope, ledger, budget_id, "");
}

namespace {

// Budgets that are read between two turns of the charges: about two milliseconds.
constexpr int64_t kBudgetsAtOnce = 50;

constexpr char kBudgetList[] = "budgets";

// A position in a tree: the budgets from the root, each with its index among its siblings.
using Path = std::vector<std::pair<const core::BudgetState*, size_t>>;

// Returns the path from `root` to the budget `id`; empty if the budget is not in that tree.
Path PathTo(const core::Ledger& ledger, const std::string& root, const std::string& id) {
  Path path;
  for (const core::BudgetState* at = ledger.FindBudget(id); at != nullptr;) {
    const core::BudgetState* parent = ledger.FindBudget(at->spec.parent_id);
    if (at->spec.id == root) {
      path.emplace_back(at, 0);
      std::reverse(path.begin(), path.end());
      return path;
    }
    if (parent == nullptr) break;
    const auto& siblings = parent->child_ids;
    path.emplace_back(at,
                      std::find(siblings.begin(), siblings.end(), at->spec.id) - siblings.begin());
    at = parent;
  }
  return {};
}

// Goes to the next budget, parents before children. Empty after the last.
void Advance(const core::Ledger& ledger, Path* path) {
  size_t next = 0;
  while (!path->empty()) {
    const auto& children = path->back().first->child_ids;
    if (next < children.size()) {
      path->emplace_back(ledger.FindBudget(children[next]), next);
      return;
    }
    next = path->back().second + 1;
    path->pop_back();
  }
}

// Returns the ids of at most `limit` budgets at and below `root` that come after `after`; starts at
// `root` if `after` is empty.
std::vector<std::string> TreeIds(const core::Ledger& ledger, const std::string& root,
                                 const std::string& after, int64_t limit) {
  std::vector<std::string> ids;
  Path path = PathTo(ledger, root, after.empty() ? root : after);
  if (!after.empty()) Advance(ledger, &path);
  for (; !path.empty() && static_cast<int64_t>(ids.size()) < limit; Advance(ledger, &path)) {
    ids.push_back(path.back().first->spec.id);
  }
  return ids;
}

template <class Response>
struct Page {
  std::string list;
  std::string root;   // of a tree
  std::string after;  // the last budget read
  int64_t left = 0;
  size_t bytes = 0;
  Response response;
};

absl::StatusOr<std::vector<std::string>> NextIds(core::LedgerReader& reader,
                                                 const Page<v1::ListBudgetsResponse>& page,
                                                 int64_t limit) {
  return reader.BudgetIds(page.after, limit);
}
absl::StatusOr<std::vector<std::string>> NextIds(core::LedgerReader& reader,
                                                 const Page<v1::GetBudgetTreeResponse>& page,
                                                 int64_t limit) {
  const core::Ledger* ledger = reader.LedgerOf(page.root);
  if (ledger == nullptr) return NoSuchBudget(page.root);
  return TreeIds(*ledger, page.root, page.after, limit);
}

template <class Response>
void Fill(core::DurableLedger& ledger, const Call& call, Page<Response> page) {
  ReadState(
      ledger, call,
      [&ledger, call, page = std::move(page)](core::LedgerReader& reader) mutable -> absl::Status {
        const int64_t now = std::min(page.left, kBudgetsAtOnce);
        ASSIGN_OR_RETURN(const std::vector<std::string> ids, NextIds(reader, page, now + 1));
        const auto more = static_cast<int64_t>(ids.size()) > now;
        for (int64_t i = 0; i < std::min<int64_t>(now, ids.size()); ++i) {
          page.after = ids[i];
          const core::Ledger& of_budget = *reader.LedgerOf(page.after);
          if (!IsVisible(of_budget, page.after, call->caller())) continue;
          --page.left;
          v1::Budget* budget = page.response.add_budgets();
          ToProto(of_budget, *of_budget.FindBudget(page.after), budget);
          page.bytes += budget->ByteSizeLong();
        }
        const bool is_full = page.left == 0 || page.bytes > kMaxPageBytes;
        if (more && !is_full) {
          if (!call->Abandoned()) Fill(ledger, call, std::move(page));
          return absl::OkStatus();
        }
        if (more) page.response.set_next_page_token(MakePageToken(page.list, page.after));
        call->Succeed(page.response);
        return absl::OkStatus();
      });
}

}  // namespace

absl::Status ListBudgets(const HandlerContext& context, const v1::ListBudgetsRequest& request,
                         const Call& call) {
  ASSIGN_OR_RETURN(const int64_t size, ReadPageSize(request.page_size()));
  ASSIGN_OR_RETURN(std::string after, ReadPageToken(kBudgetList, request.page_token()));
  Fill(context.ledger, call,
       Page<v1::ListBudgetsResponse>{
           .list = kBudgetList, .root = "", .after = std::move(after), .left = size});
  return absl::OkStatus();
}

absl::Status GetBudgetTree(const HandlerContext& context, const v1::GetBudgetTreeRequest& request,
                           const Call& call) {
  ASSIGN_OR_RETURN(std::string root, ParseBudgetName("name", request.name()));
  ASSIGN_OR_RETURN(const int64_t size, ReadPageSize(request.page_size()));
  const std::string list = request.name() + "/tree";
  ASSIGN_OR_RETURN(std::string after, ReadPageToken(list, request.page_token()));
  Fill(context.ledger, call,
       // Clients of release 0.1 do not know pages.
       Page<v1::GetBudgetTreeResponse>{
           .list = list,
           .root = std::move(root),
           .after = std::move(after),
           .left = request.page_size() == 0 ? core::kMaxPageSize : size});
  return absl::OkStatus();
}

}  // namespace epsledger::transport
