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

// A wait of a call before its next try.
struct RetryWait {
  absl::Status last;                    // the outcome of the last try
  std::chrono::nanoseconds elapsed{0};  // since the call began
  std::chrono::nanoseconds left{0};     // until the call makes no more tries
};

// How long and how often a call is tried. No setting makes an unknown outcome count as accepted.
struct RetryOptions {
  std::chrono::milliseconds call_timeout{10'000};     // of one try; > 0
  std::chrono::milliseconds overall_timeout{60'000};  // of all tries and waits together; > 0
  int max_tries = 0;                                  // >= 1, or 0: as many as the time allows
  // A wait is uniform in [b/2, b]; b doubles from the first of these values to the second. It is
  // never shorter than the server's RetryInfo asks.
  std::chrono::milliseconds initial_backoff{50};  // >= 0
  std::chrono::milliseconds max_backoff{2'000};   // >= initial_backoff
  // Called before every wait, on the thread that waits, for programs that show it to people.
  std::function<void(const RetryWait&)> on_wait;
  // `sleep` waits between tries, `now` reads the time. Unset: the thread sleeps, by the steady
  // clock.
  std::function<void(std::chrono::nanoseconds)> sleep;
  std::function<std::chrono::steady_clock::time_point()> now;
};

struct ClientOptions {
  // "host:port" or "unix:path".
  std::string address = "127.0.0.1:50551";
  TlsOptions tls;
  // Without TLS only loopback addresses and unix sockets are allowed, unless this is set. Anybody
  // who can change the answers on the way can turn a refusal into a permit.
  bool allow_insecure = false;
  // The secret of the caller's token ("epsl_..."), sent with every call; empty: none. It is never
  // sent without TLS to an address that is not local, whatever allow_insecure says.
  std::string token;
  RetryOptions retry;
};

// A target for noise: all `events` together must be (epsilon, delta)-DP under `relation`. The noise
// multiplier of the first event is sought.
struct NoiseCalibration {
  // The first holds one gaussian or laplace, alone or in poissonSampled; the noise multiplier that
  // it has is ignored. 1 to 10,000 events.
  std::vector<CountedMechanism> events;
  double epsilon = 0;  // in [0, inf)
  double delta = 0;    // in [0, 1]
  NeighboringRelation relation = NeighboringRelation::kUnspecified;
  // A name of epsledger.v1.Accountant.Kind. The server judges DECLARED plans by BEST.
  std::string accountant = "BEST";
};

// Returns the token in a file that holds nothing else but white space. NOT_FOUND if the file cannot
// be read, INVALID_ARGUMENT if it does not hold exactly one token.
absl::StatusOr<std::string> ReadTokenFile(const std::string& path);

// A connection to an epsledger server. Thread-safe. Sessions may outlive it.
class Client {
 public:
  // Checks the options and reads the certificates; the first call connects. INVALID_ARGUMENT names
  // the option, NOT_FOUND the file that cannot be read.
  static absl::StatusOr<Client> Connect(const ClientOptions& options);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  ~Client();

  // Creates a budget. Repeating the call with the same content returns the budget as it is now.
  // ALREADY_EXISTS names the first difference from the existing budget of that name.
  absl::StatusOr<Budget> CreateBudget(const BudgetOptions& options);
  // Takes "adult" or "budgets/adult". NOT_FOUND if no such budget exists.
  absl::StatusOr<Budget> GetBudget(const std::string& name);

  // Creates the session if `create` is set, and opens its next attempt, which fences all earlier
  // ones. FAILED_PRECONDITION with RefusalOf(status) if a plan does not fit.
  absl::StatusOr<Session> OpenSession(const SessionOptions& options);

  // Returns a noise multiplier >= the smallest that meets the target, by the accountant's bound,
  // and close to it (accounting/calibration.h of the server says how close). The server computes
  // it; nothing is charged. FAILED_PRECONDITION if no noise is enough, UNIMPLEMENTED or
  // INVALID_ARGUMENT as the server says; INTERNAL if its answer is not an upper bound at the
  // target.
  absl::StatusOr<double> CalibrateNoiseMultiplier(const NoiseCalibration& wanted);

  // Returns what the first charge of a new session of the budget would do, and how many steps would
  // fit. The session is taken to be ADAPTIVE, without a cap of its own, and to expect `mechanism`.
  // Charges nothing. Takes "adult" or "budgets/adult". NOT_FOUND if no such budget exists,
  // INVALID_ARGUMENT for a count outside [1, 2^53].
  absl::StatusOr<ChargePreview> Preview(const std::string& budget, const Mechanism& mechanism,
                                        int64_t count = 1);

  // Calls `callback`, on a thread of the watch, with every change of the budget, its descendants
  // and their sessions after `after_sequence` (0: from the first), in order and once each: first
  // past changes, then new ones as they happen. Now and then a bookmark stands for entries of other
  // budgets.
  Watch WatchBudget(const std::string& name, int64_t after_sequence, ChangeCallback callback);
  // Does the same for one session, "budgets/{budget}/sessions/{session}".
  Watch WatchSession(const std::string& name, int64_t after_sequence, ChangeCallback callback);

 private:
  struct Impl;
  explicit Client(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_H_
