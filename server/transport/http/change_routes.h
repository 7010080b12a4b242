#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_ROUTES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_ROUTES_H_

#include <memory>

#include "server/core/durable_ledger.h"
#include "server/transport/http/change_broadcast.h"
#include "server/transport/http/http_message.h"
#include "server/transport/http/rpc_gateway.h"

namespace epsledger::transport {

// Server-sent events over HTTP: reads the requests and hands them to ChangeBroadcast.
class ChangeRoutes {
 public:
  // REQUIRES: `gateway` and `ledger` outlive this object.
  ChangeRoutes(RpcGateway& gateway, core::DurableLedger& ledger);
  ~ChangeRoutes();
  ChangeRoutes(const ChangeRoutes&) = delete;
  ChangeRoutes& operator=(const ChangeRoutes&) = delete;

  // GET /v1/events: watches the resources of the parameters "budget" and "session" (both can be
  // repeated), or, without any, all root budgets of the caller, including future ones. Starts after
  // the positions of the header "last-event-id" or the parameter "lastEventId". With neither,
  // starts after the newest change at present, or with "after=0" at the first change. A budget that
  // was made while the client was away starts at its first change.
  //
  //   id: budgets/adult:12
  //   event: charge            or budget, session, attempt, lease, refusedSession
  //   data: {"watched": "budgets/adult", "sequence": "12", "time": ..., "charge": {...}}
  //
  // "event: bookmark" has only an id. "event: end" states why the stream ends, as an error of
  // Connect.
  void Answer(const HttpRequest& request, HttpReply reply);

 private:
  const std::shared_ptr<ChangeBroadcast> broadcast_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_CHANGE_ROUTES_H_
