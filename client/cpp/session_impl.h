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
#include "epsledger/mechanism.h"
#include "epsledger/session.h"

namespace epsledger {

struct Session::Impl {
  struct UnknownOutcome {
    std::string charge_id;
    Mechanism mechanism;
    std::int64_t count;
  };

  // Immutable.
  std::shared_ptr<Connection> connection;
  std::string name;
  std::string attempt_name;
  pid_t process = 0;  // that opened the session

  absl::Mutex mutex;
  std::int64_t last_step ABSL_GUARDED_BY(mutex) = 0;
  std::vector<UnknownOutcome> unknown ABSL_GUARDED_BY(mutex);
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_SESSION_IMPL_H_
