#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accounting/event/domain.h"
#include "accounting/event/status_macros.h"
#include "epsledger/v1/audit_service.pb.h"
#include "server/core/ledger.h"
#include "server/core/ledger_verifier.h"
#include "server/core/limits.h"
#include "server/core/merkle.h"
#include "server/statement/statement.h"
#include "server/transport/grpc/calls/entry_scan.h"
#include "server/transport/grpc/converters/annotation_convert.h"
#include "server/transport/grpc/converters/audit_convert.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/converters/resource_names.h"
#include "server/transport/grpc/handlers/export_stream.h"
#include "server/transport/grpc/handlers/list_denials.h"
#include "server/transport/grpc/handlers/service_handlers.h"
#include "server/transport/grpc/limits.h"
#include "server/transport/grpc/status/shown_text.h"

namespace epsledger::transport {
namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

absl::Status AnswerEntries(core::LedgerReader& reader, const std::string& budget_id, int64_t after,
                           int64_t size, const Call& call) {
  const core::Ledger* ledger = reader.LedgerOf(budget_id);
  if (ledger == nullptr) return NoSuchBudget(budget_id);
  v1::ListAuditEntriesResponse response;
  response.set_last_sequence(ledger->head().sequence);
  // The previous entry provides the hash that the first entry follows.
  const int64_t before = after == 0 ? 0 : 1;
  ASSIGN_OR_RETURN(const std::vector<core::Entry> entries,
                   reader.ListEntries(*ledger, after - before, size + before));
  core::Hash previous{};
  size_t bytes = 0;
  for (const core::Entry& entry : entries) {
    if (entry.sequence > after) {
      if (bytes > kMaxPageBytes) break;
      ToProto(entry, previous, *ledger, response.add_entries());
      bytes += response.entries().rbegin()->ByteSizeLong();
    }
    previous = entry.hash;
  }
  call->Succeed(response);
  return absl::OkStatus();
}

// The input of a proof, leaf by leaf.
struct ProofWork {
  explicit ProofWork(std::vector<core::LeafRange> ranges) : path(std::move(ranges)) {}
  core::MerklePath path;
  core::MerkleFrontier tree;
  core::Hash noted{};  // the leaf, or the root of the older tree
};

// The newest head, with its tag.
void GiveHead(const core::Ledger& ledger, const HeadKey& key, const Call& call,
              v1::LedgerHead* message) {
  ToProto(ledger, message);
  message->set_tag(
      key.TagOf(call->caller().tenant, ledger.root_id(), message->sequence(), message->hash()));
}

class AuditHandlers {
 public:
  AuditHandlers(HandlerContext context, std::shared_ptr<const statement::SigningKey> key,
                ServerFacts server)
      : context_(std::move(context)), key_(std::move(key)), server_(std::move(server)) {}

  void GetLedgerHead(wire::UnaryRequest arrived) {
    Handle<v1::GetLedgerHeadRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetLedgerHeadRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(std::string id, ParseBudgetName("budget", request.budget()));
          ReadLedger(std::move(id), call,
                     [call, key = context_.head_key](const core::Ledger& ledger,
                                                     core::LedgerReader&) -> absl::Status {
                       v1::LedgerHead message;
                       GiveHead(ledger, *key, call, &message);
                       call->Succeed(message);
                       return absl::OkStatus();
                     });
          return absl::OkStatus();
        });
  }

  void ListAuditEntries(wire::UnaryRequest arrived) {
    Handle<v1::ListAuditEntriesRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ListAuditEntriesRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("budget", request.budget());
          if (!id.ok()) return id.status();
          RETURN_IF_ERROR(
              accounting::CheckRange("afterSequence", request.after_sequence(), 0, kNoLimit));
          const absl::StatusOr<int64_t> size = ReadPageSize(request.page_size());
          if (!size.ok()) return size.status();
          ReadState(context_.ledger, call,
                    [call, id = *std::move(id), after = request.after_sequence(),
                     size = *size](core::LedgerReader& reader) {
                      return AnswerEntries(reader, id, after, size, call);
                    });
          return absl::OkStatus();
        });
  }

  void ProveInclusion(wire::UnaryRequest arrived) {
    Handle<v1::ProveInclusionRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ProveInclusionRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("budget", request.budget());
          if (!id.ok()) return id.status();
          RETURN_IF_ERROR(accounting::CheckRange("sequence", request.sequence(), 1, kNoLimit));
          ReadLedger(*id, call,
                     [this, call, id = *id, request](const core::Ledger& ledger,
                                                     core::LedgerReader&) -> absl::Status {
                       ASSIGN_OR_RETURN(const int64_t size,
                                        TreeSize("treeSize", request.tree_size(), ledger));
                       absl::Status in_tree =
                           accounting::CheckRange("sequence", request.sequence(), 1, size);
                       if (in_tree.ok()) ComputeInclusion(id, request.sequence(), size, call);
                       return in_tree;
                     });
          return absl::OkStatus();
        });
  }

  void ProveConsistency(wire::UnaryRequest arrived) {
    Handle<v1::ProveConsistencyRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ProveConsistencyRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("budget", request.budget());
          if (!id.ok()) return id.status();
          RETURN_IF_ERROR(accounting::CheckRange("oldSize", request.old_size(), 1, kNoLimit));
          ReadLedger(*id, call,
                     [this, call, id = *id, request](const core::Ledger& ledger,
                                                     core::LedgerReader&) -> absl::Status {
                       ASSIGN_OR_RETURN(const int64_t size,
                                        TreeSize("newSize", request.new_size(), ledger));
                       absl::Status in_tree =
                           accounting::CheckRange("oldSize", request.old_size(), 1, size);
                       if (in_tree.ok()) ComputeConsistency(id, request.old_size(), size, call);
                       return in_tree;
                     });
          return absl::OkStatus();
        });
  }

  void VerifyLedger(wire::UnaryRequest arrived) {
    Handle<v1::VerifyLedgerRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::VerifyLedgerRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<std::string> id = ParseBudgetName("budget", request.budget());
          if (!id.ok()) return id.status();
          ReadLedger(*id, call,
                     [this, call, id = *id](const core::Ledger& ledger,
                                            core::LedgerReader&) -> absl::Status {
                       Verify(id, ledger, call);
                       return absl::OkStatus();
                     });
          return absl::OkStatus();
        });
  }

  void GetPrivacyStatement(wire::UnaryRequest arrived) {
    Handle<v1::GetPrivacyStatementRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetPrivacyStatementRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(const core::SessionName name, ParseResourceName("name", request.name()));
          RETURN_IF_ERROR(
              accounting::CheckInterval("delta", request.delta(), accounting::kOpenProbability));
          ReadLedger(name.budget_id, call,
                     [this, call, name, delta = request.delta()](
                         const core::Ledger& ledger, core::LedgerReader&) -> absl::Status {
                       ASSIGN_OR_RETURN(
                           statement::Facts facts,
                           statement::ReadFacts(ledger, name.budget_id, name.session_id, delta));
                       v1::PrivacyStatement message;
                       GiveHead(ledger, *context_.head_key, call, message.mutable_head());
                       return ComposeStatement(std::move(facts), delta, std::move(message), call);
                     });
          return absl::OkStatus();
        });
  }

  void GetAnnotations(wire::UnaryRequest arrived) {
    Handle<v1::GetAnnotationsRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::GetAnnotationsRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::SessionName name, ParseResourceName("name", request.name()));
          AnswerAnnotations(std::move(name), call);
          return absl::OkStatus();
        });
  }

  void UpdateAnnotations(wire::UnaryRequest arrived) {
    Handle<v1::UpdateAnnotationsRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::UpdateAnnotationsRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(core::Annotate command, FromProto(request));
          SubmitSaid(std::move(command), {request.validate_only()}, call);
          return absl::OkStatus();
        });
  }

  // Looks for the resource first: what a caller may not see is answered like what does not exist.
  void RecordSignOff(wire::UnaryRequest arrived) {
    Handle<v1::RecordSignOffRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::RecordSignOffRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(const core::SessionName name, ParseResourceName("name", request.name()));
          ReadLedger(name.budget_id, call,
                     [this, call, name, request](const core::Ledger& ledger,
                                                 core::LedgerReader&) -> absl::Status {
                       RETURN_IF_ERROR(ledger.AnnotationsOf(name).status());
                       return context_.computations->Submit(
                           call->caller().tenant, [this, call, request] {
                             const absl::Status status = SubmitSignOff(request, call);
                             if (!status.ok()) call->Fail(status);
                           });
                     });
          return absl::OkStatus();
        });
  }

  void ListDenials(wire::UnaryRequest arrived) {
    Handle<v1::ListDenialsRequest>(context_.open_calls, std::move(arrived),
                                   [this](const v1::ListDenialsRequest& request, const Call& call) {
                                     return transport::ListDenials(context_, request, call);
                                   });
  }
  void LiftQuarantine(wire::UnaryRequest arrived) {
    Handle<v1::LiftQuarantineRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::LiftQuarantineRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(const std::string id, ParseBudgetName("budget", request.budget()));
          RETURN_IF_ERROR(CheckText("reason", request.reason(), 1, core::kMaxReasonBytes));
          ReadState(
              context_.ledger, call,
              [&ledger = context_.ledger, root_id = core::StoredId(call->caller().tenant.name, id),
               reason = request.reason(), call](core::LedgerReader& reader) {
                const access::Caller& caller = call->caller();
                core::AccessCommand command{core::LiftQuarantine{
                    root_id, reader.Access().PersonOf(caller.tenant, caller.principal), reason}};
                SubmitNow<core::AccessOutcome>(
                    ledger, std::move(command), {}, call,
                    [call](const core::AccessOutcome& outcome) {
                      v1::LiftQuarantineResponse message;
                      message.set_lost_head_count(outcome.lost_entry_count);
                      message.set_waits_for_approval(outcome.is_proposed);
                      call->Succeed(message);
                    });
                return absl::OkStatus();
              });
          return absl::OkStatus();
        });
  }

 private:
  // `read`, absl::Status(const core::Ledger&, core::LedgerReader&), as for ReadState.
  template <class Function>
  void ReadLedger(std::string budget_id, const Call& call, Function read) {
    ReadState(context_.ledger, call,
              [budget_id = std::move(budget_id),
               read = std::move(read)](core::LedgerReader& reader) mutable -> absl::Status {
                const core::Ledger* ledger = reader.LedgerOf(budget_id);
                return ledger == nullptr ? NoSuchBudget(budget_id) : read(*ledger, reader);
              });
  }

  // Answers with everything that is said about a resource or, with a recorded part, with that
  // alone: a write that changes nothing is no cheap way to read all.
  void AnswerAnnotations(core::SessionName name, const Call& call,
                         std::optional<core::AnnotationsOutcome> recorded = std::nullopt) {
    std::string budget_id = name.budget_id;
    ReadLedger(std::move(budget_id), call,
               [call, name = std::move(name), recorded = std::move(recorded)](
                   const core::Ledger& ledger, core::LedgerReader&) -> absl::Status {
                 ASSIGN_OR_RETURN(const core::Annotations* said, ledger.AnnotationsOf(name));
                 v1::Annotations message;
                 ToProto(name, recorded.has_value() ? PartOf(*said, *recorded) : *said, &message);
                 call->Succeed(message);
                 return absl::OkStatus();
               });
  }

  // Checks the statement and submits its sign-off.
  absl::Status SubmitSignOff(const v1::RecordSignOffRequest& request, const Call& call) {
    core::SeenHead head;
    ASSIGN_OR_RETURN(core::RecordSignOff command,
                     FromProto(request, *key_, call->caller().tenant.name, &head));
    SubmitSaid(std::move(command),
               {.validate_only = request.validate_only(), .last_seen = std::move(head)}, call);
    return absl::OkStatus();
  }

  template <class Body>
  void SubmitSaid(Body command, SubmitOptions options, const Call& call) {
    SubmitNow<core::AnnotationsOutcome>(context_.ledger, std::move(command), std::move(options),
                                        call,
                                        [this, call](const core::AnnotationsOutcome& outcome) {
                                          AnswerAnnotations(outcome.resource, call, outcome);
                                        });
  }

  // Returns `requested`, or everything for 0.
  static absl::StatusOr<int64_t> TreeSize(const std::string& field, int64_t requested,
                                          const core::Ledger& ledger) {
    const int64_t size = ledger.head().sequence;
    RETURN_IF_ERROR(accounting::CheckRange(field, requested, 0, size));
    return requested == 0 ? size : requested;
  }

  void Scan(const std::string& budget_id, int64_t last, const Call& call, EntryScan::Visit visit,
            EntryScan::Finish finish) {
    EntryScan::Start(context_.ledger, context_.computations, call, budget_id, last,
                     std::move(visit), std::move(finish));
  }

  void ComputeInclusion(const std::string& budget_id, int64_t sequence, int64_t size,
                        const Call& call) {
    auto work = std::make_shared<ProofWork>(core::InclusionRanges(sequence - 1, size));
    Scan(
        budget_id, size, call,
        [work, sequence](const core::Entry& entry) {
          const core::Hash leaf = core::MerkleLeaf(entry.content);
          if (entry.sequence == sequence) work->noted = leaf;
          work->tree.Append(leaf);
          work->path.Append(leaf);
          return true;
        },
        [work, sequence, size, call](const absl::Status& status) {
          if (!status.ok()) return call->Fail(status);
          v1::InclusionProof proof;
          proof.set_sequence(sequence);
          proof.set_tree_size(size);
          for (const core::Hash& hash : work->path.Roots()) proof.add_path(ToBytes(hash));
          proof.set_leaf_hash(ToBytes(work->noted));
          proof.set_merkle_root(ToBytes(work->tree.Root()));
          call->Succeed(proof);
        });
  }

  void ComputeConsistency(const std::string& budget_id, int64_t old_size, int64_t new_size,
                          const Call& call) {
    auto work = std::make_shared<ProofWork>(core::ConsistencyRanges(old_size, new_size));
    Scan(
        budget_id, new_size, call,
        [work, old_size](const core::Entry& entry) {
          const core::Hash leaf = core::MerkleLeaf(entry.content);
          work->tree.Append(leaf);
          work->path.Append(leaf);
          if (work->tree.size() == old_size) work->noted = work->tree.Root();
          return true;
        },
        [work, old_size, new_size, call](const absl::Status& status) {
          if (!status.ok()) return call->Fail(status);
          v1::ConsistencyProof proof;
          proof.set_old_size(old_size);
          proof.set_new_size(new_size);
          for (const core::Hash& hash : work->path.Roots()) proof.add_path(ToBytes(hash));
          proof.set_old_merkle_root(ToBytes(work->noted));
          proof.set_new_merkle_root(ToBytes(work->tree.Root()));
          call->Succeed(proof);
        });
  }

  void Verify(const std::string& budget_id, const core::Ledger& ledger, const Call& call) {
    struct Work {
      core::LedgerVerifier verifier;
      std::optional<core::LedgerFault> fault;
    };
    auto work = std::make_shared<Work>();
    v1::VerifyLedgerResponse response;
    ToProto(ledger, response.mutable_head());
    v1::LedgerHead given;
    GiveHead(ledger, *context_.head_key, call, &given);
    const int64_t last = ledger.head().sequence;
    Scan(
        budget_id, last, call,
        [work](const core::Entry& entry) {
          work->fault = work->verifier.Check(entry);
          return !work->fault.has_value();
        },
        [work, last, response, call, tag = given.tag(),
         metrics = context_.open_calls.metrics()](const absl::Status& status) mutable {
          std::optional<core::LedgerFault> fault = std::move(work->fault);
          if (!status.ok()) {
            fault = {work->verifier.next_sequence(), std::string(status.message())};
          }
          // The stored entries must lead to the state with which the server decides.
          v1::LedgerHead replayed;
          ToProto(work->verifier.ledger(), &replayed);
          if (!fault.has_value() &&
              replayed.SerializeAsString() != response.head().SerializeAsString()) {
            fault = {last, "the stored entries do not lead to the head that the server serves"};
          }
          metrics->CountVerification(!fault.has_value());
          response.set_valid(!fault.has_value());
          if (fault.has_value()) {
            response.set_first_bad_sequence(fault->sequence);
            response.set_problem(fault->problem);
          }
          response.mutable_head()->set_tag(tag);
          call->Succeed(response);
        });
  }

  absl::Status ComposeStatement(statement::Facts facts, double delta, v1::PrivacyStatement message,
                                const Call& call) {
    const std::string time =
        absl::FormatTime("%Y-%m-%dT%H:%M:%SZ", absl::Now(), absl::UTCTimeZone());
    const std::vector<core::Incarnation> incarnations = context_.ledger.Incarnations();
    if (!incarnations.empty()) {
      facts.store = core::ToHex(incarnations.front().id);
      facts.incarnation = core::ToHex(incarnations.back().id);
    }
    facts.tenant = call->caller().tenant.name;
    facts.server_name = server_.name;
    return context_.computations->Submit(
        call->caller().tenant, [call, facts = std::move(facts), delta, message = std::move(message),
                                time, key = key_, version = server_.version]() mutable {
          const absl::StatusOr<statement::Statement> composed = statement::Compose(
              std::move(facts), delta, time, version, [&call] { return call->Abandoned(); });
          if (!composed.ok()) return call->Fail(composed.status());
          message.set_json(statement::ToJson(*composed));
          message.set_text(statement::ToText(*composed));
          message.set_html(statement::ToHtml(*composed));
          const absl::StatusOr<std::string> signature = key->Sign(message.json());
          if (!signature.ok()) return call->Fail(signature.status());
          message.set_signature(*signature);
          message.set_public_key(key->public_key());
          call->Succeed(message);
        });
  }

  const HandlerContext context_;
  const std::shared_ptr<const statement::SigningKey> key_;
  const ServerFacts server_;
};

}  // namespace

void AddAuditService(const HandlerContext& context,
                     std::shared_ptr<const statement::SigningKey> key, ServerFacts facts,
                     ServiceMethods& methods) {
  methods.Add("epsledger.v1.AuditService",
              std::make_shared<AuditHandlers>(context, std::move(key), std::move(facts)),
              {{"GetLedgerHead", &AuditHandlers::GetLedgerHead},
               {"ListAuditEntries", &AuditHandlers::ListAuditEntries},
               {"ProveInclusion", &AuditHandlers::ProveInclusion},
               {"ProveConsistency", &AuditHandlers::ProveConsistency},
               {"VerifyLedger", &AuditHandlers::VerifyLedger},
               {"GetPrivacyStatement", &AuditHandlers::GetPrivacyStatement},
               {"GetAnnotations", &AuditHandlers::GetAnnotations},
               {"UpdateAnnotations", &AuditHandlers::UpdateAnnotations},
               {"RecordSignOff", &AuditHandlers::RecordSignOff},
               {"ListDenials", &AuditHandlers::ListDenials},
               {"LiftQuarantine", &AuditHandlers::LiftQuarantine}});
  methods.AddStream(
      "epsledger.v1.AuditService.ExportLedger", [context](wire::StreamRequest arrived) {
        v1::ExportLedgerRequest request;
        absl::Status status = ReadRequest(arrived.message, &request);
        if (status.ok()) {
          status = accounting::CheckRange("afterSequence", request.after_sequence(), 0, kNoLimit);
        }
        absl::StatusOr<std::string> id = ParseBudgetName("budget", request.budget());
        if (!status.ok()) id = status;
        return ExportStream::Start(context.ledger, context.open_streams, std::move(arrived),
                                   std::move(id), request.after_sequence());
      });
}

}  // namespace epsledger::transport
