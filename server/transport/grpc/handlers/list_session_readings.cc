#include "server/transport/grpc/handlers/list_session_readings.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "accounting/answer.h"
#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "proto/bridge/enum_convert.h"
#include "proto/bridge/guarantee_convert.h"
#include "server/core/limits.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/converters/session_convert.h"
#include "server/transport/grpc/handlers/history_key.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

using ReadingsRequest = v1::ListSessionReadingsRequest;

constexpr int64_t kMostReadings = 200;
// Sessions that are looked at between two turns of the charges: less than a millisecond.
constexpr int64_t kSessionsAtOnce = 1000;
// Sessions whose histories are copied between two turns of the charges.
constexpr size_t kHistoriesAtOnce = 50;
constexpr size_t kMaxTextBytes = 256;

// A session's place in the list.
struct Place {
  int64_t key = 0;  // of the requested order; ascending
  core::SessionName name;

  friend bool operator<(const Place& a, const Place& b) {
    return std::tie(a.key, a.name.budget_id, a.name.session_id) <
           std::tie(b.key, b.name.budget_id, b.name.session_id);
  }
};

// One request on its way: places are gathered first, then the sessions of the page are copied.
struct Listing {
  std::string parent;
  bool include_descendants = false;
  double delta = 0;
  std::optional<double> renyi_order = {};
  std::string text;  // in lower case
  ReadingsRequest::Order order = ReadingsRequest::NAME;
  bool descending = false;
  int64_t size = 0;
  std::string list;  // of its page tokens
  std::optional<Place> after = {};

  std::vector<std::string> budget_ids = {};
  size_t next_budget = 0;
  std::string after_session = {};  // of that budget
  // The first `size` places of the page and one more, in no order until all are known.
  std::vector<Place> places = {};
  int64_t session_count = 0;

  bool has_more = false;
  std::vector<std::vector<accounting::CountedEvent>> histories = {};  // of the response's sessions
  size_t next_place = 0;
  v1::ListSessionReadingsResponse response = {};
};

void AddBudgetIds(const core::Ledger& ledger, const std::string& id, bool include_descendants,
                  std::vector<std::string>* ids) {
  ids->push_back(id);
  if (!include_descendants) return;
  for (size_t i = ids->size() - 1; i < ids->size(); ++i) {
    const auto& children = ledger.FindBudget((*ids)[i])->child_ids;
    ids->insert(ids->end(), children.begin(), children.end());
  }
}

bool HasText(const core::SessionSpec& spec, const std::string& text) {
  const auto has = [&text](const std::string& words) {
    return absl::StrContains(absl::AsciiStrToLower(words), text);
  };
  return text.empty() || has(absl::StrCat(spec.budget_id, "/", spec.id)) ||
         has(spec.display_name) || has(spec.group) ||
         std::any_of(spec.labels.begin(), spec.labels.end(), [&](const core::Label& label) {
           return has(absl::StrCat(label.key, "=", label.value));
         });
}

int64_t KeyOf(const core::SessionState& session, const Listing& listing) {
  int64_t key = 0;
  switch (listing.order) {
    case ReadingsRequest::CREATE_TIME:
      key = session.create_time_micros;
      break;
    case ReadingsRequest::STEP_COUNT:
      key = StepCountOf(session);
      break;
    case ReadingsRequest::REFUSED_CHARGE_COUNT:
      key = session.refused_charge_count;
      break;
    case ReadingsRequest::STATE:
      key = session.closed ? 1 : 0;
      break;
    default:
      break;  // by name alone
  }
  return listing.descending ? -key : key;
}

// Keeps the first places, and one more than the page has.
void Keep(const core::SessionState& session, Listing* listing) {
  if (!HasText(session.spec, listing->text)) return;
  ++listing->session_count;
  Place place{KeyOf(session, *listing), {session.spec.budget_id, session.spec.id}};
  if (listing->after.has_value() && !(*listing->after < place)) return;
  listing->places.push_back(std::move(place));
  const auto most = static_cast<size_t>(listing->size) + 1;
  if (listing->places.size() < 2 * most) return;
  std::nth_element(listing->places.begin(), listing->places.begin() + most, listing->places.end());
  listing->places.resize(most);
}

// Looks at the next sessions. Returns true after the last.
bool Gather(const core::Ledger& ledger, Listing* listing) {
  int64_t left = kSessionsAtOnce;
  while (left > 0 && listing->next_budget < listing->budget_ids.size()) {
    const auto sessions =
        ledger.SessionsOf(listing->budget_ids[listing->next_budget], listing->after_session, left);
    for (const core::SessionState* session : sessions) Keep(*session, listing);
    if (static_cast<int64_t>(sessions.size()) == left) {
      listing->after_session = sessions.back()->spec.id;
      return false;
    }
    left -= static_cast<int64_t>(sessions.size()) + 1;
    ++listing->next_budget;
    listing->after_session.clear();
  }
  return listing->next_budget == listing->budget_ids.size();
}

void EndGathering(Listing* listing) {
  std::sort(listing->places.begin(), listing->places.end());
  listing->has_more = static_cast<int64_t>(listing->places.size()) > listing->size;
  if (listing->has_more) listing->places.resize(listing->size);
  listing->response.set_session_count(listing->session_count);
}

// Copies the next sessions of the page. Returns true after the last.
bool Copy(const core::Ledger& ledger, Listing* listing) {
  const size_t end = std::min(listing->places.size(), listing->next_place + kHistoriesAtOnce);
  for (; listing->next_place < end; ++listing->next_place) {
    const core::SessionState& session =
        *ledger.FindSession(listing->places[listing->next_place].name);
    ToOutline(session, listing->response.add_sessions()->mutable_session());
    listing->histories.push_back(HistoryOf(session));
  }
  return end == listing->places.size();
}

// Returns a reading without its session.
v1::SessionReading ReadingOf(const accounting::Question& question, const Listing& listing) {
  v1::SessionReading message;
  v1::AccountantReading& reading = *message.mutable_reading();
  reading.set_accountant(v1::Accountant::BEST);
  auto history = accounting::ComposedHistory::Create(question);
  const absl::StatusOr<accounting::Guarantee> epsilon =
      history.ok() ? history->Ask(question.query) : history.status();
  if (epsilon.ok()) {
    bridge::ToProto(*epsilon, reading.mutable_guarantee());
  } else {
    reading.set_reason_unavailable(std::string(epsilon.status().message()));
  }
  if (!listing.renyi_order.has_value() || !history.ok()) return message;
  const absl::StatusOr<accounting::Guarantee> divergence = history->Ask(
      accounting::Accountant::kRenyi, accounting::RenyiDivergenceAtOrder{*listing.renyi_order});
  if (divergence.ok()) bridge::ToProto(*divergence, message.mutable_renyi_divergence());
  return message;
}

void Compose(Listing listing, ReadingCache& cache, const Call& call) {
  v1::ListSessionReadingsResponse& response = listing.response;
  for (int i = 0; i < response.sessions_size(); ++i) {
    if (call->Abandoned()) return;
    v1::SessionReading& shown = *response.mutable_sessions(i);
    accounting::Question question;
    question.accountant = accounting::Accountant::kBest;
    // The ledger's relation is of the accounting library; the message's was made from it.
    question.relation = *bridge::FromProto(shown.session().neighboring_relation(), "");
    question.query = accounting::EpsilonAtDelta::FromDelta(listing.delta);
    question.events = std::move(listing.histories[i]);
    v1::SessionReading reading =
        cache.Get(HistoryKey(question.relation, question.events,
                             {listing.delta, listing.renyi_order.value_or(0)}),
                  [&] { return ReadingOf(question, listing); });
    reading.mutable_session()->Swap(shown.mutable_session());
    shown.Swap(&reading);
  }
  if (listing.has_more) {
    const Place& last = listing.places.back();
    response.set_next_page_token(MakePageToken(
        listing.list, absl::StrCat(last.key, "/", last.name.budget_id, "/", last.name.session_id)));
  }
  call->Succeed(response);
}

void ReadOn(const HandlerContext& context, std::shared_ptr<ReadingCache> cache, const Call& call,
            Listing listing) {
  ReadState(context.ledger, call,
            [context, cache = std::move(cache), call,
             listing = std::move(listing)](core::LedgerReader& reader) mutable -> absl::Status {
              const core::Ledger* ledger = reader.LedgerOf(listing.parent);
              if (ledger == nullptr) return NoSuchBudget(listing.parent);
              if (listing.budget_ids.empty()) {
                AddBudgetIds(*ledger, listing.parent, listing.include_descendants,
                             &listing.budget_ids);
              }
              bool is_complete = false;
              if (listing.next_budget == listing.budget_ids.size()) {
                is_complete = Copy(*ledger, &listing);
              } else if (Gather(*ledger, &listing)) {
                EndGathering(&listing);
                is_complete = listing.places.empty();
              }
              if (!is_complete) {
                if (!call->Abandoned()) {
                  ReadOn(context, std::move(cache), call, std::move(listing));
                }
                return absl::OkStatus();
              }
              return context.computations->Submit(
                  call->caller().tenant,
                  [cache = std::move(cache), call, listing = std::move(listing)]() mutable {
                    Compose(std::move(listing), *cache, call);
                  });
            });
}

// Returns the place of a token of Compose.
std::optional<Place> PlaceOf(const std::string& token) {
  const std::vector<std::string> parts = absl::StrSplit(token, '/');
  Place place;
  if (parts.size() != 3 || !absl::SimpleAtoi(parts[0], &place.key)) return std::nullopt;
  place.name = {parts[1], parts[2]};
  return place;
}

absl::StatusOr<Listing> ToListing(const v1::ListSessionReadingsRequest& request) {
  Listing listing{.include_descendants = request.include_descendants(),
                  .delta = request.delta(),
                  .text = absl::AsciiStrToLower(request.text()),
                  .order = request.order(),
                  .descending = request.descending(),
                  .size = request.page_size() == 0 ? kDefaultPageSize : request.page_size()};
  ASSIGN_OR_RETURN(listing.parent, ParseBudgetName("parent", request.parent()));
  RETURN_IF_ERROR(
      accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability));
  if (request.has_renyi_order()) {
    RETURN_IF_ERROR(
        accounting::CheckInterval("renyiOrder", request.renyi_order(), accounting::kRenyiOrder));
    listing.renyi_order = request.renyi_order();
  }
  if (request.order() != ReadingsRequest::ORDER_UNSPECIFIED) {
    RETURN_IF_ERROR(
        bridge::CheckEnum(request.order(), ReadingsRequest::Order_descriptor(), "order"));
  }
  RETURN_IF_ERROR(CheckText("text", request.text(), 0, kMaxTextBytes));
  RETURN_IF_ERROR(accounting::CheckRange("pageSize", request.page_size(), 0, kMostReadings));
  listing.list = absl::StrCat(request.parent(), "/sessionReadings?", request.include_descendants(),
                              " ", request.order(), " ", request.descending(), " ", listing.text);
  ASSIGN_OR_RETURN(const std::string token, ReadPageToken(listing.list, request.page_token()));
  if (!token.empty()) {
    listing.after = PlaceOf(token);
    if (!listing.after.has_value()) {
      return accounting::OutOfDomain("pageToken", Shown(request.page_token()),
                                     "the nextPageToken of the answer before");
    }
  }
  return listing;
}

}  // namespace

absl::Status ListSessionReadings(const HandlerContext& context, std::shared_ptr<ReadingCache> cache,
                                 const v1::ListSessionReadingsRequest& request, const Call& call) {
  ASSIGN_OR_RETURN(Listing listing, ToListing(request));
  ReadOn(context, std::move(cache), call, std::move(listing));
  return absl::OkStatus();
}

}  // namespace epsledger::transport
