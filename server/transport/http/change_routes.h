#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_ROUTES_H_

#include <memory>

#include "server/transport/http/change_broadcast.h"
#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// Server-sent events over HTTP: who asks for what, before ChangeBroadcast.
class ChangeRoutes {
 public:
  // REQUIRES: `gateway` outlives it.
  explicit ChangeRoutes(RpcGateway& gateway);
  ~ChangeRoutes();
  ChangeRoutes(const ChangeRoutes&) = delete;
  ChangeRoutes& operator=(const ChangeRoutes&) = delete;

  // GET /v1/events: watches the resources of the parameters "budget" and "session" (both can be
  // repeated), or, without any, all root budgets of the caller, those to come included. Starts
  // after the positions of the header "last-event-id" or the parameter "lastEventId", or after the
  // newest change of now if there is neither (with "after=0": after nothing, so from the first).
  //
  //   id: budgets/adult:12
  //   event: charge            or budget, session, attempt, lease, refusedSession
  //   data: {"watched": "budgets/adult", "sequence": "12", "time": ..., "charge": {...}}
  //
  // "event: bookmark" has an id alone. "event: end" says why the stream ends, as an error of
  // Connect.
  void Answer(const HttpRequest& request, HttpReply reply);

 private:
  const std::shared_ptr<ChangeBroadcast> broadcast_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_ROUTES_H_
