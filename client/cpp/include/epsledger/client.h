#ifndef EPSLEDGER_CLIENT_H_
#define EPSLEDGER_CLIENT_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "epsledger/budget.h"
#include "epsledger/mechanism.h"
#include "epsledger/session.h"
#include "epsledger/watch.h"

namespace epsledger {

// TLS, used when `enabled`. Files are PEM and are read once, by Client::Connect.
struct TlsOptions {
  bool enabled = false;
  std::string ca_file;           // empty: the system's authorities
  std::string certificate_file;  // the client's own, for mutual TLS; with key_file or not at all
  std::string key_file;
};

// A call that is about to wait before it asks again.
struct RetryWait {
  absl::Status last;                    // what the last try came to
  std::chrono::nanoseconds elapsed{0};  // since the call began
  std::chrono::nanoseconds left{0};     // in which it asks again
};

// How long to ask. No setting makes an unknown outcome count as accepted.
struct RetryOptions {
  std::chrono::milliseconds call_timeout{10'000};     // of one try; > 0
  std::chrono::milliseconds overall_timeout{60'000};  // of all tries and waits together; > 0
  int max_tries = 0;                                  // >= 1, or 0: as many as the time allows
  // Waits are uniform in [b/2, b], b doubling from the first to the second; at least what the
  // server's RetryInfo says.
  std::chrono::milliseconds initial_backoff{50};  // >= 0
  std::chrono::milliseconds max_backoff{2'000};   // >= initial_backoff
  // Told of every wait, on the thread that waits, for those who say so to people.
  std::function<void(const RetryWait&)> on_wait;
  // Waits between tries, and reads the time; unset: the thread sleeps, by the steady clock.
  std::function<void(std::chrono::nanoseconds)> sleep;
  std::function<std::chrono::steady_clock::time_point()> now;
};

struct ClientOptions {
  // "host:port" or "unix:path".
  std::string address = "127.0.0.1:50551";
  TlsOptions tls;
  // Without TLS only loopback addresses and unix sockets are allowed, unless this is set: whoever
  // can change the answers on the way can turn a refusal into a permit.
  bool allow_insecure = false;
  // Who calls: the secret of a token ("epsl_..."), sent with every call; empty: none. Never sent
  // without TLS to an address that is not local, whatever allow_insecure says.
  std::string token;
  RetryOptions retry;
};

// A target for noise: with the noise multiplier sought in the first of `events`, all of them
// together shall be (epsilon, delta)-DP under `relation`.
struct NoiseCalibration {
  // The first holds one gaussian or laplace, alone or in poissonSampled; the noise multiplier that
  // it has is not looked at. 1 to 10,000 of them.
  std::vector<CountedMechanism> events;
  double epsilon = 0;  // in [0, inf)
  double delta = 0;    // in [0, 1]
  NeighboringRelation relation = NeighboringRelation::kUnspecified;
  // A word of epsledger.v1.Accountant.Kind. What a DECLARED plan is judged by is BEST.
  std::string accountant = "BEST";
};

// The token in a file that holds nothing else but white space. NOT_FOUND if it cannot be read,
// INVALID_ARGUMENT if it holds none.
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

// A connection to an epsledger server. Thread-safe. Sessions may outlive it.
class Client {
 public:
  // Checks the options and reads the certificates; connects lazily, with the first call.
  // INVALID_ARGUMENT names the option; NOT_FOUND a file that cannot be read.
  static absl::StatusOr<Client> Connect(const ClientOptions& options);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Creates a budget; repeating that with the same content returns it as it is now. ALREADY_EXISTS
  // names the first difference to a budget of that name.
  absl::StatusOr<Budget> CreateBudget(const BudgetOptions& options);
  // "adult" or "budgets/adult". NOT_FOUND if there is none.
  absl::StatusOr<Budget> GetBudget(const std::string& name);

  // Creates the session if told so, and opens its next attempt: all earlier ones are fenced.
  // FAILED_PRECONDITION with RefusalOf(status) if a plan does not fit.
  absl::StatusOr<Session> OpenSession(const SessionOptions& options);

  // Returns a noise multiplier >= the smallest that meets the target, by the accountant's bound,
  // and close to it (accounting/calibration.h of the server says how close). The server computes
  // it; nothing is charged. FAILED_PRECONDITION if no noise is enough, UNIMPLEMENTED or
  // INVALID_ARGUMENT as the server says; INTERNAL if its answer is not an upper bound at the
  // target.
  absl::StatusOr<double> CalibrateNoiseMultiplier(const NoiseCalibration& wanted);

  // What the first charge of a new ADAPTIVE session of the budget, without a cap of its own and for
  // which `mechanism` is expected, would do, and how many steps would fit. Charges nothing.
  // "adult" or "budgets/adult". NOT_FOUND if there is none, INVALID_ARGUMENT for a count that is no
  // count.
  absl::StatusOr<ChargePreview> Preview(const std::string& budget, const Mechanism& mechanism,
                                        int64_t count = 1);

  // Calls `callback`, on a thread of the watch, with every change of the budget, its descendants
  // and their sessions after `after_sequence`, in order, once each, and then with those that
  // happen. 0: from the first. A bookmark comes now and then for entries of other budgets.
  Watch WatchBudget(const std::string& name, int64_t after_sequence, ChangeCallback callback);
  // The same of one session, "budgets/{budget}/sessions/{session}".
  Watch WatchSession(const std::string& name, int64_t after_sequence, ChangeCallback callback);

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_H_
