#ifndef EPSLEDGER_TESTS_BENCHMARK_PROCESSOR_TIME_H_
#define EPSLEDGER_TESTS_BENCHMARK_PROCESSOR_TIME_H_

#include <sys/types.h>

namespace epsledger {

// User and system time that a process has taken, in seconds; 0 if there is no such process.
double ProcessorSeconds(pid_t pid);

// The same of a process and those that it has started and that are still there.
double FamilyProcessorSeconds(pid_t parent);

// What all processes together have taken.
double MachineProcessorSeconds();

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_BENCHMARK_PROCESSOR_TIME_H_
