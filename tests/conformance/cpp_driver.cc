// Moves the C++ client for conformance.py.
#include <chrono>
#include <cstdint>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "epsledger/client.h"
#include "epsledger/lease.h"
#include "epsledger/mechanism.h"
#include "epsledger/permit.h"
#include "epsledger/refusal.h"
#include "epsledger/session.h"

namespace epsledger {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

// A refusal and an unknown outcome come before the code of the status.
json VerdictOf(const absl::Status& status) {
  if (const std::optional<RefusalDetails> refusal = RefusalOf(status); refusal.has_value()) {
    return {{"is", "refused"},
            {"reason", std::string(RefusalReasonName(refusal->reason))},
            {"charge", refusal->charge_name},
            {"text", RefusalText(*refusal)}};
  }
  const std::string code = absl::StatusCodeToString(status.code());
  if (const std::optional<std::string> unknown = UnknownCharge(status); unknown.has_value()) {
    return {{"is", "unknown"},
            {"charge_id", *unknown},
            {"code", code},
            {"text", std::string(status.message())}};
  }
  return {{"is", "error"}, {"code", code}, {"text", std::string(status.message())}};
}

// Of a permit or a lease: it gives no more.
json SpentBecauseOf(const absl::Status& status) {
  return {{"is", "spent"}, {"text", std::string(status.message())}};
}

class Driver {
 public:
  json CarryOut(const json& asked) {
    const std::string what = asked.at("do");
    if (what == "connect") return Connect(asked);
    if (what == "open") return Open(asked);
    if (what == "charge" || what == "lease") return Charge(asked, what == "lease");
    if (what == "retry") return Keep(session_->RetryCharge(asked.at("charge_id")));
    if (what == "unknown") return {{"is", "ok"}, {"ids", session_->unknown_charges()}};
    if (what == "use") {
      const absl::StatusOr<Permit> taken = permits_.at(asked.at("permit")).TakeOne();
      return taken.ok() ? json{{"is", "ok"}} : SpentBecauseOf(taken.status());
    }
    if (what == "take") {
      absl::StatusOr<Permit> permit = leases_.at(asked.at("lease")).Take();
      return permit.ok() ? Keep(std::move(permit)) : SpentBecauseOf(permit.status());
    }
    if (what == "settle") {
      const absl::Status settled = leases_.at(asked.at("lease")).Settle();
      return settled.ok() ? json{{"is", "ok"}} : VerdictOf(settled);
    }
    return {{"is", "unknown command"}};
  }

 private:
  json Connect(const json& asked) {
    permits_.clear();
    leases_.clear();
    session_.reset();
    client_.reset();
    const json& retry = asked.at("retry");
    ClientOptions options;
    options.address = asked.at("address");
    options.token = asked.value("token", "");
    options.allow_insecure = asked.value("allowInsecure", false);
    options.retry.call_timeout = milliseconds(retry.at("callTimeoutMs").get<int64_t>());
    options.retry.overall_timeout = milliseconds(retry.at("overallTimeoutMs").get<int64_t>());
    options.retry.max_tries = retry.at("maxTries");
    options.retry.initial_backoff = milliseconds(retry.at("initialBackoffMs").get<int64_t>());
    options.retry.max_backoff = milliseconds(retry.at("maxBackoffMs").get<int64_t>());
    absl::StatusOr<Client> client = Client::Connect(options);
    if (!client.ok()) return VerdictOf(client.status());
    client_.emplace(*std::move(client));
    return {{"is", "ok"}};
  }

  json Open(const json& asked) {
    SessionOptions options;
    options.budget = asked.at("budget");
    options.session = asked.at("session");
    absl::StatusOr<Session> session = client_->OpenSession(options);
    if (!session.ok()) return VerdictOf(session.status());
    session_.emplace(*std::move(session));
    return {{"is", "ok"}};
  }

  json Charge(const json& asked, bool is_lease) {
    const absl::StatusOr<Mechanism> event = Mechanism::FromJson(asked.at("event").dump());
    if (!event.ok()) return VerdictOf(event.status());
    const int64_t count = std::stoll(asked.at("count").get<std::string>());
    if (!is_lease) return Keep(session_->Charge(*event, count));
    const std::chrono::seconds time_to_live(std::stoll(asked.at("seconds").get<std::string>()));
    absl::StatusOr<Lease> lease = session_->AcquireLease(*event, count, time_to_live);
    if (!lease.ok()) return VerdictOf(lease.status());
    leases_.push_back(*std::move(lease));
    return {{"is", "lease"}, {"granted", std::to_string(leases_.back().granted_count())}};
  }

  json Keep(absl::StatusOr<Permit> permit) {
    if (!permit.ok()) return VerdictOf(permit.status());
    permits_.push_back(*std::move(permit));
    const Permit& kept = permits_.back();
    return {{"is", "permit"},
            {"charge", kept.charge_name()},
            {"sequence", std::to_string(kept.sequence())},
            {"uses", std::to_string(kept.uses_left())}};
  }

  std::optional<Client> client_;
  std::optional<Session> session_;
  std::vector<Permit> permits_;
  std::vector<Lease> leases_;
};

}  // namespace
}  // namespace epsledger

int main() {
  epsledger::Driver driver;
  std::string line;
  while (std::getline(std::cin, line)) {
    std::cout << driver.CarryOut(nlohmann::json::parse(line)).dump() << std::endl;
  }
  return 0;
}
