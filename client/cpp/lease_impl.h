#ifndef EPSLEDGER_CLIENT_CPP_LEASE_IMPL_H_
#define EPSLEDGER_CLIENT_CPP_LEASE_IMPL_H_

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/cpp/connection.h"
#include "epsledger/lease.h"
#include "epsledger/mechanism.h"

namespace epsledger {

struct Lease::Impl {
  // Immutable.
  std::shared_ptr<Connection> connection;
  std::string name;
  std::string charge_name;
  int64_t sequence = 0;
  Mechanism mechanism;
  int64_t granted_count = 0;
  pid_t process = 0;  // the process that acquired the lease

  absl::Mutex mutex;
  int64_t used_count ABSL_GUARDED_BY(mutex) = 0;
  bool ended ABSL_GUARDED_BY(mutex) = false;  // Settle was called
  bool settled ABSL_GUARDED_BY(mutex) = false;
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_LEASE_IMPL_H_
