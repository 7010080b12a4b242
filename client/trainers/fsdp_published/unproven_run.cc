#include "client/trainers/fsdp_published/unproven_run.h"

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"
#include "client/trainers/fsdp_published/published_release.h"
#include "client/trainers/run/non_private_access.h"

namespace epsledger::trainers::fsdp_published {

absl::StatusOr<Session> OpenUnprovenRun(const UnprovenRun& run, const Budget& budget,
                                        Client& client) {
  const NewSession create{.neighboring_relation = run.relation,
                          .no_own_cap = true,
                          .display_name = absl::StrCat("FSDP as published on ", run.data),
                          .claim = Claim{.status = Claim::Status::kCounterexampleKnown,
                                         .epsilon = run.claim.epsilon,
                                         .delta = run.claim.delta,
                                         .source = std::string(kPublishedSource)}};
  absl::StatusOr<Session> session =
      client.OpenSession({.budget = budget.name,
                          .session = run.session,
                          .create = create,
                          .client_description = "epsledger-fsdp-published",
                          .provenance = {.sampler = Sampler::kPoisson}});
  if (!session.ok()) return session.status();
  RETURN_IF_ERROR(ChargeNonPrivateAccess(
      *session, "FSDP as published reads exact factors, maxima and norms of private gradients"));
  return session;
}

}  // namespace epsledger::trainers::fsdp_published
