#ifndef EPSLEDGER_CLIENT_CPP_WATCH_IMPL_H_
#define EPSLEDGER_CLIENT_CPP_WATCH_IMPL_H_

#include <memory>
#include <thread>

#include "absl/status/status.h"
#include "client/cpp/connection.h"
#include "client/cpp/watch_changes.h"
#include "epsledger/watch.h"

namespace epsledger {

struct Watch::Impl {
  std::shared_ptr<Connection> connection;
  Canceller canceller;
  absl::Status end;  // the result of the thread; read it after joining
  std::thread thread;
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_WATCH_IMPL_H_
