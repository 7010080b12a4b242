#ifndef EPSLEDGER_TESTS_BENCHMARK_PROCESSOR_TIME_H_
#define EPSLEDGER_TESTS_BENCHMARK_PROCESSOR_TIME_H_

#include <sys/types.h>

namespace epsledger {

// Returns the user and system time that a process has taken, in seconds; 0 if no such process
// exists.
double ProcessorSeconds(pid_t pid);

// Returns the same for a process together with its living children.
double FamilyProcessorSeconds(pid_t parent);

// Returns the same for all processes of the machine together.
double MachineProcessorSeconds();

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_BENCHMARK_PROCESSOR_TIME_H_
