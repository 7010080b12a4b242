#ifndef EPSLEDGER_TESTS_FUZZ_MESSAGE_MUTATOR_H_
#define EPSLEDGER_TESTS_FUZZ_MESSAGE_MUTATOR_H_

#include <random>

#include "google/protobuf/message.h"

namespace epsledger::fuzz {

// Changes one field somewhere in `message`: sets it, clears it, adds or removes an element, or
// mutates its value as libFuzzer does.
void MutateMessage(google::protobuf::Message* message, std::mt19937& random);

}  // namespace epsledger::fuzz

#endif  // EPSLEDGER_TESTS_FUZZ_MESSAGE_MUTATOR_H_
