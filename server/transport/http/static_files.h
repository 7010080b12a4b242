#ifndef EPSLEDGER_SERVER_TRANSPORT_HTTP_STATIC_FILES_H_
#define EPSLEDGER_SERVER_TRANSPORT_HTTP_STATIC_FILES_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "server/transport/http/http_message.h"

namespace epsledger::transport {

// A file that is compiled into the program.
struct StaticFile {
  std::string_view path;     // "assets/index-1a2b3c4d.js", as a browser asks for it, without "/"
  std::string_view content;  // compressed by gzip; lives as long as the program
};

// The files of the dashboard, by their exact paths: there is no file system behind them, so no path
// can escape from a folder. Files below "assets/" have their hash in their name, and browsers keep
// them for a year. Browsers ask for the other files each time, and get 304 if they are unchanged.
class StaticFiles {
 public:
  StaticFiles() = default;
  // REQUIRES: the contents are compressed by gzip.
  explicit StaticFiles(const std::vector<StaticFile>& files);

  // Returns whether the file `path` ("/assets/index-1a2b3c4d.js") exists; "/" is "/index.html".
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
