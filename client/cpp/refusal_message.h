#ifndef EPSLEDGER_CLIENT_CPP_REFUSAL_MESSAGE_H_
#define EPSLEDGER_CLIENT_CPP_REFUSAL_MESSAGE_H_

#include <string>

#include "epsledger/refusal.h"
#include "epsledger/v1/charge.pb.h"

namespace epsledger {

// Returns the public form of a refusal. A reason that this version does not know is kUnspecified.
RefusalDetails FromMessage(const v1::Refusal& refusal, const std::string& charge_name);

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_REFUSAL_MESSAGE_H_
