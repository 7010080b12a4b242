#include <string>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "accounting/event/status_macros.h"
#include "epsledger/v1/access_service.pb.h"
#include "server/access/secret.h"
#include "server/core/access_ledger.h"
#include "server/core/unavailable.h"
#include "server/transport/grpc/converters/access_convert.h"
#include "server/transport/grpc/converters/page_token.h"
#include "server/transport/grpc/handlers/service_handlers.h"
#include "server/transport/rates/rate_limiter.h"

namespace epsledger::transport {
namespace {

constexpr char kTokenList[] = "tokens";
// A working day and a half.
constexpr absl::Duration kLoginLife = absl::Hours(12);

class AccessHandlers {
 public:
  explicit AccessHandlers(HandlerContext context) : context_(std::move(context)) {}

  void CreateToken(wire::UnaryRequest arrived) {
    Handle<v1::CreateTokenRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::CreateTokenRequest& request, const Call& call) -> absl::Status {
          absl::StatusOr<access::NewToken> made =
              FromProto(request, call->caller().tenant, absl::Now());
          if (!made.ok()) return made.status();
          if (made->token.grants.empty()) return Create(context_.ledger, *std::move(made), call);
          ReadState(context_.ledger, call,
                    [&ledger = context_.ledger, call,
                     made = *std::move(made)](core::LedgerReader& reader) mutable {
                      absl::Status status = CheckBudgetsExist(reader, made.token.grants);
                      return status.ok() ? Create(ledger, std::move(made), call) : status;
                    });
          return absl::OkStatus();
        });
  }

  void ListTokens(wire::UnaryRequest arrived) {
    Handle<v1::ListTokensRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::ListTokensRequest& request, const Call& call) -> absl::Status {
          const absl::StatusOr<int64_t> size = ReadPageSize(request.page_size());
          if (!size.ok()) return size.status();
          absl::StatusOr<std::string> after = ReadPageToken(kTokenList, request.page_token());
          if (!after.ok()) return after.status();
          ReadState(context_.ledger, call,
                    [call, size = *size, after = *std::move(after)](core::LedgerReader& reader) {
                      return AnswerList(reader, after, size, call);
                    });
          return absl::OkStatus();
        });
  }

  void RevokeToken(wire::UnaryRequest arrived) {
    Handle<v1::RevokeTokenRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::RevokeTokenRequest& request, const Call& call) -> absl::Status {
          ASSIGN_OR_RETURN(std::string id, ParseTokenName("name", request.name()));
          core::AccessCommand command{core::RevokeToken{call->caller().tenant, std::move(id)}};
          SubmitNow<core::AccessOutcome>(context_.ledger, std::move(command), {}, call,
                                         [call](const core::AccessOutcome& outcome) {
                                           v1::Token message;
                                           ToProto(outcome.token, absl::Now(), &message);
                                           call->Succeed(message);
                                         });
          return absl::OkStatus();
        });
  }

  void GetCaller(wire::UnaryRequest arrived) {
    Handle<v1::GetCallerRequest>(context_.open_calls, std::move(arrived),
                                 [](const v1::GetCallerRequest&, const Call& call) -> absl::Status {
                                   v1::Caller message;
                                   ToProto(call->caller(), &message);
                                   call->Succeed(message);
                                   return absl::OkStatus();
                                 });
  }

  void CreateLogin(wire::UnaryRequest arrived) {
    Handle<v1::CreateLoginRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::CreateLoginRequest&, const Call& call) -> absl::Status {
          const access::Caller& caller = call->caller();
          absl::StatusOr<std::string> token = ParseTokenName("caller", caller.principal);
          if (!token.ok()) {
            call->Succeed(v1::CreateTokenResponse());
            return absl::OkStatus();
          }
          if (!caller.login.empty()) {
            return absl::FailedPreconditionError("a login has no login: log in with the token");
          }
          {
            absl::MutexLock lock(&mutex_);
            if (!login_rates_.Take(*token, RateLimiter::Clock::now())) {
              return core::Overload("too many logins of this token: try again");
            }
          }
          ASSIGN_OR_RETURN(std::string secret, access::MakeSecret());
          ASSIGN_OR_RETURN(std::string id, access::MakeTokenId());
          core::AccessCommand command{core::CreateLogin{
              .tenant = caller.tenant,
              .token_id = *std::move(token),
              .id = std::move(id),
              .secret_hash = access::HashOfSecret(secret),
              .expire_time_micros = absl::ToUnixMicros(absl::Now() + kLoginLife)}};
          SubmitForSecret(context_.ledger, std::move(command), std::move(secret), call);
          return absl::OkStatus();
        });
  }

  void EndLogin(wire::UnaryRequest arrived) {
    Handle<v1::EndLoginRequest>(
        context_.open_calls, std::move(arrived),
        [this](const v1::EndLoginRequest&, const Call& call) -> absl::Status {
          const access::Caller& caller = call->caller();
          if (caller.login.empty()) {
            call->Succeed(v1::EndLoginResponse());
            return absl::OkStatus();
          }
          core::AccessCommand command{core::RevokeToken{caller.tenant, caller.login}};
          SubmitNow<core::AccessOutcome>(
              context_.ledger, std::move(command), {}, call,
              [call](const core::AccessOutcome&) { call->Succeed(v1::EndLoginResponse()); });
          return absl::OkStatus();
        });
  }

 private:
  // A grant of a budget that does not exist yet would cover whichever budget gets that name later.
  static absl::Status CheckBudgetsExist(const core::LedgerReader& reader,
                                        const std::vector<core::Grant>& grants) {
    for (size_t i = 0; i < grants.size(); ++i) {
      if (reader.LedgerOf(grants[i].budget_id) != nullptr) continue;
      return absl::NotFoundError(absl::StrCat("token.grants[", i,
                                              "].resource: ", FormatBudgetName(grants[i].budget_id),
                                              ": there is no such budget"));
    }
    return absl::OkStatus();
  }

  // Answers with the token that the command creates, and its secret.
  static void SubmitForSecret(core::DurableLedger& ledger, core::AccessCommand command,
                              std::string secret, const Call& call) {
    SubmitNow<core::AccessOutcome>(
        ledger, std::move(command), {}, call,
        [call, secret = std::move(secret)](const core::AccessOutcome& outcome) {
          v1::CreateTokenResponse message;
          ToProto(outcome.token, absl::Now(), message.mutable_token());
          message.set_secret(secret);
          call->Succeed(message);
        });
  }

  static absl::Status Create(core::DurableLedger& ledger, access::NewToken made, const Call& call) {
    core::AccessCommand command{
        core::CreateToken{.spec = made.token.spec, .grants = made.token.grants}};
    SubmitForSecret(ledger, std::move(command), std::move(made.secret), call);
    return absl::OkStatus();
  }

  static absl::Status AnswerList(core::LedgerReader& reader, const std::string& after, int64_t size,
                                 const Call& call) {
    const std::vector<const core::Token*> tokens =
        reader.Access().TokensOf(call->caller().tenant, after, size + 1);
    const absl::Time now = absl::Now();
    v1::ListTokensResponse response;
    for (size_t i = 0; i < tokens.size(); ++i) {
      if (static_cast<int64_t>(i) == size) {
        response.set_next_page_token(MakePageToken(kTokenList, tokens[i - 1]->spec.id));
        break;
      }
      ToProto(*tokens[i], now, response.add_tokens());
    }
    call->Succeed(response);
    return absl::OkStatus();
  }

  const HandlerContext context_;
  absl::Mutex mutex_;
  RateLimiter login_rates_ ABSL_GUARDED_BY(mutex_){{.burst = 20, .per_second = 0.2}};
};

}  // namespace

void AddAccessService(const HandlerContext& context, ServiceMethods& methods) {
  methods.Add("epsledger.v1.AccessService", std::make_shared<AccessHandlers>(context),
              {{"CreateToken", &AccessHandlers::CreateToken},
               {"ListTokens", &AccessHandlers::ListTokens},
               {"RevokeToken", &AccessHandlers::RevokeToken},
               {"GetCaller", &AccessHandlers::GetCaller},
               {"CreateLogin", &AccessHandlers::CreateLogin},
               {"EndLogin", &AccessHandlers::EndLogin}});
}

}  // namespace epsledger::transport
