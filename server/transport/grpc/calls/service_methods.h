#ifndef EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_SERVICE_METHODS_H_
#define EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_SERVICE_METHODS_H_

#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "server/transport/wire/services.h"

namespace epsledger::transport {

// The methods of the services by their full names, "epsledger.v1.BudgetService.GetBudget". The wire
// and HTTP call them. Thread-safe once all are added.
class ServiceMethods {
 public:
  using Unary = decltype(wire::Method::unary);
  using Stream = decltype(wire::Method::stream);

  // `methods`: the names in `service`, each with its function. `handlers` lives as long as this
  // object.
  template <class Handlers>
  void Add(const std::string& service, const std::shared_ptr<Handlers>& handlers,
           std::initializer_list<std::pair<const char*, void (Handlers::*)(wire::UnaryRequest)>>
               methods) {
    for (const auto& [name, function] : methods) {
      unary_[service + "." + name] = [handlers, function = function](wire::UnaryRequest request) {
        ((*handlers).*function)(std::move(request));
      };
    }
  }

  // Adds a method whose answers are a stream.
  void AddStream(const std::string& full_name, Stream stream) {
    streams_[full_name] = std::move(stream);
  }

  // Return an empty function if no such method exists.
  Unary FindUnary(std::string_view full_name) const { return Find(unary_, full_name); }
  Stream FindStream(std::string_view full_name) const { return Find(streams_, full_name); }

 private:
  template <class Method>
  static Method Find(const std::map<std::string, Method, std::less<>>& methods,
                     std::string_view full_name) {
    const auto found = methods.find(full_name);
    return found == methods.end() ? nullptr : found->second;
  }

  std::map<std::string, Unary, std::less<>> unary_;
  std::map<std::string, Stream, std::less<>> streams_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_GRPC_CALLS_SERVICE_METHODS_H_
