#ifndef EPSLEDGER_TESTS_SERVER_STORAGE_SCRATCH_FOLDER_H_
#define EPSLEDGER_TESTS_SERVER_STORAGE_SCRATCH_FOLDER_H_

#include <cstdlib>
#include <filesystem>
#include <string>

namespace epsledger {

// A new folder that is removed with its object.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "epsledger-XXXXXX").string();
    path_ = mkdtemp(name.data()) == nullptr ? "" : name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace epsledger

#endif  // EPSLEDGER_TESTS_SERVER_STORAGE_SCRATCH_FOLDER_H_
