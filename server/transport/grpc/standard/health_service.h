#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_STANDARD_HEALTH_SERVICE_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_STANDARD_HEALTH_SERVICE_H_

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "server/transport/grpc/calls/service_methods.h"
#include "server/transport/wire/services.h"

namespace epsledger::transport {

inline constexpr char kHealthService[] = "grpc.health.v1.Health";

// grpc.health.v1.Health: reports whether the server serves, for each of its services and for "",
// the server as a whole. It begins as NOT_SERVING. Open to everybody. Thread-safe.
class HealthService : public std::enable_shared_from_this<HealthService> {
 public:
  // `services`: their full names.
  explicit HealthService(std::vector<std::string> services) : services_(std::move(services)) {}

  static void AddTo(ServiceMethods& methods, const std::shared_ptr<HealthService>& service);

  // Notifies watches if the value changes.
  void SetServing(bool serving) ABSL_LOCKS_EXCLUDED(mutex_);

 private:
  class Watch;

  void Check(wire::UnaryRequest request) ABSL_LOCKS_EXCLUDED(mutex_);
  std::shared_ptr<wire::StreamedCall> Begin(wire::StreamRequest request)
      ABSL_LOCKS_EXCLUDED(mutex_);
  bool Knows(const std::string& name) const;
  bool IsServing() const ABSL_LOCKS_EXCLUDED(mutex_);

  const std::vector<std::string> services_;
  mutable absl::Mutex mutex_;
  bool serving_ ABSL_GUARDED_BY(mutex_) = false;
  std::list<std::weak_ptr<Watch>> watches_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_STANDARD_HEALTH_SERVICE_H_
