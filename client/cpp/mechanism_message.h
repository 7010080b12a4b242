#ifndef EPSLEDGER_CLIENT_CPP_MECHANISM_MESSAGE_H_
#define EPSLEDGER_CLIENT_CPP_MECHANISM_MESSAGE_H_

#include "epsledger/mechanism.h"
#include "epsledger/v1/mechanism.pb.h"

namespace epsledger {

// The message inside a Mechanism; the only bridge between the two.
struct MechanismMessage {
  static Mechanism Wrap(v1::MechanismEvent event);
  static const v1::MechanismEvent& Of(const Mechanism& mechanism);

  v1::MechanismEvent event;
};

}  // namespace epsledger

#endif  // EPSLEDGER_CLIENT_CPP_MECHANISM_MESSAGE_H_
