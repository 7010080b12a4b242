#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_STATIC_FILES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_STATIC_FILES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/transport/http/http_message.h"

namespace epsledger::transport {

// A file that the program holds in itself.
struct StaticFile {
  std::string_view path;     // "assets/index-1a2b3c4d.js", as a browser asks for it, without "/"
  std::string_view content;  // compressed by gzip; of the program, for ever
};

// The files of the dashboard, by their exact paths: there is no file system behind them, and so no
// way out of it. What lies below "assets/" has its hash in its name and is kept by browsers for a
// year; the rest is asked for again each time, and answered 304 where it is the same.
class StaticFiles {
 public:
  StaticFiles() = default;
  // REQUIRES: the contents are of gzip.
  explicit StaticFiles(const std::vector<StaticFile>& files);

  // Whether `path` ("/assets/index-1a2b3c4d.js") is one; "/" is "/index.html".
  bool Has(std::string_view path) const;
  // REQUIRES: Has(request.path).
  HttpResponse Answer(const HttpRequest& request) const;

 private:
  struct Served {
    std::string_view compressed;
    std::string content_type;
    std::string entity_tag;  // with its quotes
    bool kept = false;
  };
  std::map<std::string, Served, std::less<>> files_;
};

}  // namespace epsledger::transport

#endif  // EPSLEDGER_SERVER_TRANSPORT_HTTP_STATIC_FILES_H_
