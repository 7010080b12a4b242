#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_UNARY_METHODS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_UNARY_METHODS_H_

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/transport/wire/services.h"

namespace epsledger::transport {

// The methods of one request and one answer, by their full names: what the wire and HTTP call.
// Thread-safe once they are added.
class UnaryMethods {
 public:
  using Method = std::function<void(wire::UnaryRequest)>;

  // `methods`: their names in `service` with the function of each, which lives as long as this.
  template <class Handlers>
  void Add(const std::string& service, const std::shared_ptr<Handlers>& handlers,
           std::initializer_list<std::pair<const char*, void (Handlers::*)(wire::UnaryRequest)>>
               methods) {
    for (const auto& [name, function] : methods) {
      methods_[service + "." + name] = [handlers, function = function](wire::UnaryRequest request) {
        ((*handlers).*function)(std::move(request));
      };
    }
  }

  // nullptr if there is none.
  const Method* Find(std::string_view full_name) const {
    const auto found = methods_.find(full_name);
    return found == methods_.end() ? nullptr : &found->second;
  }

 private:
  std::map<std::string, Method, std::less<>> methods_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_UNARY_METHODS_H_
