#ifndef EPSLEDGER_CLIENT_CPP_SESSION_IMPL_H_
#define EPSLEDGER_CLIENT_CPP_SESSION_IMPL_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/cpp/connection.h"
#include "client/cpp/seen_heads.h"
#include "epsledger/mechanism.h"
#include "epsledger/session.h"
#include "epsledger/v1/charge.pb.h"

namespace epsledger {

struct Session::Impl {
  struct UnknownOutcome {
    std::string charge_id;
    Mechanism mechanism;
    int64_t count;
  };

  // Returns the permit of an accepted charge, and remembers an unknown outcome for RetryCharge.
  // `sent` is as in SeenHeads::Contradiction.
  absl::StatusOr<Permit> PermitOf(const std::string& charge_id, const CountedMechanism& item,
                                  absl::StatusOr<v1::Charge> charge, int64_t sent)
      ABSL_LOCKS_EXCLUDED(mutex);

  // Immutable.
  std::shared_ptr<Connection> connection;
  std::shared_ptr<SeenHeads> seen_heads;
  std::string name;
  std::string attempt_name;
  pid_t process = 0;  // the process that opened the session

  absl::Mutex mutex;
  int64_t last_step ABSL_GUARDED_BY(mutex) = 0;
  int64_t last_lease ABSL_GUARDED_BY(mutex) = 0;
  std::vector<UnknownOutcome> unknown ABSL_GUARDED_BY(mutex);
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_SESSION_IMPL_H_
