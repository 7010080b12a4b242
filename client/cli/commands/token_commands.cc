#include <ctime>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <google/protobuf/util/time_util.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "client/cli/commands/commands.h"
#include "client/cli/confirmation.h"
#include "client/cli/flags/resource_name.h"
#include "client/cli/print/answers.h"

namespace epsledger::cli {
namespace {

using google::protobuf::util::TimeUtil;

Table TokenTable(const std::vector<const v1::Token*>& tokens) {
  Table table({"name", "tenant", "role", "state", "expires", "limited to", "description"});
  table.IfRoom({"tenant", "limited to", "description"});
  for (const v1::Token* token : tokens) {
    table.AddRow({token->name(), token->tenant(), v1::Role::Kind_Name(token->role()),
                  v1::Token::State_Name(token->state()), TimeUtil::ToString(token->expire_time()),
                  GrantText(token->grants()), token->description()});
  }
  return table;
}

struct CreateTokenFlags {
  v1::Role::Kind role = v1::Role::KIND_UNSPECIFIED;
  std::string description;
  int64_t days = 90;
  std::vector<std::string> within;
  std::vector<std::string> methods;
};

// Adds a grant for every name of --within, each with every method. Returns false if a name is
// invalid.
bool AddGrants(Invocation& invocation, const CreateTokenFlags& flags, v1::Token* token) {
  for (const std::string& text : flags.within) {
    const std::string below(absl::StripPrefix(text, "budgets/"));
    const absl::StatusOr<std::string> name =
        absl::StrContains(below, '/') ? SessionName(text) : BudgetName(text);
    if (!name.ok()) {
      invocation.Fail(name.status(), CallKind::kRead);
      return false;
    }
    v1::Grant* grant = token->add_grants();
    grant->set_resource(*name);
    for (const std::string& method : flags.methods) grant->add_methods(method);
  }
  return true;
}

void CreateToken(Invocation& invocation, const CreateTokenFlags& flags) {
  v1::CreateTokenRequest request;
  request.mutable_token()->set_role(flags.role);
  request.mutable_token()->set_description(flags.description);
  request.mutable_token()->mutable_expire_time()->set_seconds(std::time(nullptr) +
                                                              flags.days * 86'400);
  if (!AddGrants(invocation, flags, request.mutable_token())) return;
  const auto created =
      invocation.Call(&Connection::access, &v1::AccessService::StubInterface::CreateToken, request,
                      CallKind::kWrite);
  if (created == nullptr) return;
  Table table({"name", "role", "limited to", "expires", "secret"});
  table.AddRow({created->token().name(), v1::Role::Kind_Name(created->token().role()),
                GrantText(created->token().grants()),
                TimeUtil::ToString(created->token().expire_time()), created->secret()});
  invocation.Print({.messages = {created.get()}, .table = std::move(table)});
}

void List(Invocation& invocation) {
  std::vector<std::unique_ptr<v1::ListTokensResponse>> pages;
  std::vector<const v1::Token*> tokens;
  v1::ListTokensRequest request;
  request.set_page_size(1000);
  do {
    auto page = invocation.Call(&Connection::access, &v1::AccessService::StubInterface::ListTokens,
                                request, CallKind::kRead);
    if (page == nullptr) return;
    for (const v1::Token& token : page->tokens()) tokens.push_back(&token);
    request.set_page_token(page->next_page_token());
    pages.push_back(std::move(page));
  } while (!request.page_token().empty());
  invocation.Print(
      {.messages = {tokens.begin(), tokens.end()}, .is_list = true, .table = TokenTable(tokens)});
}

struct RevokeFlags {
  std::string token;
  Confirmation confirmation;
};

void Revoke(Invocation& invocation, const RevokeFlags& flags) {
  v1::RevokeTokenRequest request;
  request.set_name(absl::StartsWith(flags.token, "tokens/") ? flags.token
                                                            : absl::StrCat("tokens/", flags.token));
  if (!flags.confirmation.IsGiven(
          invocation,
          absl::StrCat(request.name(), " will be revoked: its holder can no longer call"))) {
    return;
  }
  const auto token =
      invocation.Call(&Connection::access, &v1::AccessService::StubInterface::RevokeToken, request,
                      CallKind::kWrite);
  if (token == nullptr) return;
  invocation.Print({.messages = {token.get()}, .table = TokenTable({token.get()})});
}

}  // namespace

void AddTokenCommands(CLI::App& app, Invocation& invocation) {
  CLI::App* token = app.add_subcommand("token", "Who may call: tokens of the caller's tenant");
  token->require_subcommand(1);
  token->fallthrough();

  auto flags = std::make_shared<CreateTokenFlags>();
  CLI::App* create = token->add_subcommand(
      "create", "Make a token and print its secret, which is shown only once");
  create->fallthrough();
  const std::map<std::string, v1::Role::Kind> roles = {
      {"viewer", v1::Role::VIEWER}, {"trainer", v1::Role::TRAINER}, {"admin", v1::Role::ADMIN}};
  create
      ->add_option_function<std::string>(
          "--role", [flags, roles](const std::string& name) { flags->role = roles.at(name); },
          "viewer reads; trainer also charges; admin does everything")
      ->type_name("ROLE")
      ->check(CLI::IsMember(roles))
      ->required();
  create->add_option("--days", flags->days, "how long it is valid")
      ->check(CLI::Range(1, 3650))
      ->capture_default_str();
  create->add_option("--description", flags->description, "for people")->type_name("TEXT");
  CLI::Option* within =
      create
          ->add_option("--within", flags->within,
                       "limit it to this budget and all below, or to this session; may be repeated")
          ->type_name("BUDGET|BUDGET/SESSION");
  create
      ->add_option("--method", flags->methods,
                   "limit it to this method, such as ChargeService.Charge; may be repeated")
      ->type_name("METHOD")
      ->needs(within);
  create->footer(
      "Examples:\n"
      "  epsctl token create --role trainer --days 30 --description \"team vision\"\n"
      "  epsctl token create --role trainer --within adult\n\n"
      "To let a token spend a share of a budget, make a child of the budget with the share as its "
      "cap, and limit the token to the child.");
  create->callback([&invocation, flags] { CreateToken(invocation, *flags); });

  CLI::App* list = token->add_subcommand("list", "List the tokens, without their secrets");
  list->fallthrough();
  list->footer("Example:\n  epsctl token list");
  list->callback([&invocation] { List(invocation); });

  auto revoked = std::make_shared<RevokeFlags>();
  CLI::App* revoke = token->add_subcommand("revoke", "End a token, immediately and for good");
  revoke->fallthrough();
  revoke->add_option("token", revoked->token, "TOKEN or tokens/TOKEN")->required();
  revoked->confirmation.AddTo(*revoke);
  revoke->footer(
      "Example, where TOKEN is a name from `token list`:\n  epsctl token revoke \"$TOKEN\" --yes");
  revoke->callback([&invocation, revoked] { Revoke(invocation, *revoked); });
}

}  // namespace epsledger::cli
