#ifndef EPSLEDGER_CLIENT_TRAINERS_RUN_WAITING_NOTICE_H_
#define EPSLEDGER_CLIENT_TRAINERS_RUN_WAITING_NOTICE_H_

#include <functional>
#include <ostream>
#include <string>

#include "epsledger/client.h"

namespace epsledger::trainers {

// Says on `out` that a call waits for a server that is away: after a second, then every ten seconds
// that it goes on. For RetryOptions::on_wait of a program whose calls come one at a time; `out`
// must outlive it.
std::function<void(const RetryWait&)> WaitingNotice(const std::string& program,
                                                    const std::string& address, std::ostream& out);

}  // namespace epsledger::trainers

#endif  // EPSLEDGER_CLIENT_TRAINERS_RUN_WAITING_NOTICE_H_
