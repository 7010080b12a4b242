#include "server/transport/grpc/calls/not_in_this_version.h"

#include "server/transport/grpc/status/status_mapping.h"

namespace epsledger::transport {
namespace {

// A stream that ends as soon as it is opened.
template <class Reactor>
class EndedStream : public Reactor {
 public:
  explicit EndedStream(std::string_view what) { this->Finish(NotInThisVersion(what)); }
  void OnDone() override { delete this; }  // gRPC's way of giving a reactor back
};

}  // namespace

grpc::ServerUnaryReactor* UnaryNotInThisVersion(grpc::CallbackServerContext* context,
                                                std::string_view what) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(NotInThisVersion(what));
  return reactor;
}

grpc::ServerWriteReactor<grpc::ByteBuffer>* StreamNotInThisVersion(std::string_view what) {
  return new EndedStream<grpc::ServerWriteReactor<grpc::ByteBuffer>>(what);
}

}  // namespace epsledger::transport
