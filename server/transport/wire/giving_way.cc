#include "server/transport/wire/giving_way.h"

#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace epsledger::transport::wire {
namespace {

constexpr int32_t kNiceness = 10;
constexpr uint64_t kSliceNanoseconds = 100'000;  // the least that the kernel takes

// struct sched_attr of sched_setattr(2). The kernel's header that declares it declares sched_param
// again, so that it cannot stand beside <sched.h>; glibc 2.36 has neither the struct nor the call.
struct SchedulingAttributes {
  uint32_t size = sizeof(SchedulingAttributes);
  uint32_t policy = SCHED_OTHER;
  uint64_t flags = 0;
  int32_t nice = kNiceness;
  uint32_t priority = 0;
  uint64_t runtime = kSliceNanoseconds;  // the slice, for SCHED_OTHER since Linux 6.12
  uint64_t deadline = 0;
  uint64_t period = 0;
};

}  // namespace

void GiveWay() {
  const SchedulingAttributes attributes;
  // 0: the calling thread alone.
  if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0) setpriority(PRIO_PROCESS, 0, kNiceness);
}

}  // namespace epsledger::transport::wire
