#include "server/transport/wire/giving_way.h"

#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace epsledger::transport::wire {
namespace {

constexpr int kNiceness = 10;
constexpr __u64 kSliceNanoseconds = 100'000;  // the least that the kernel takes

}  // namespace

void GiveWay() {
  sched_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.sched_policy = SCHED_NORMAL;
  attributes.sched_nice = kNiceness;
  attributes.sched_runtime = kSliceNanoseconds;
  // 0: the calling thread alone.
  if (syscall(SYS_sched_setattr, 0, &attributes, 0) != 0) setpriority(PRIO_PROCESS, 0, kNiceness);
}

}  // namespace epsledger::transport::wire
