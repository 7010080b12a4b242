#include "server/statement/signing_key.h"

#include <fcntl.h>
#include <openssl/bio.h>
#include <openssl/hmac.h>
#include <openssl/pem.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "absl/strings/str_cat.h"
#include "accounting/event/status_macros.h"

namespace epsledger::statement {
namespace {

constexpr size_t kPublicKeyBytes = 32;
constexpr size_t kSignatureBytes = 64;
// A PEM file of an Ed25519 key has 119 bytes.
constexpr size_t kMaxKeyFileBytes = 4096;

struct FreeBio {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct FreeDigest {
  void operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }
};
using Bio = std::unique_ptr<BIO, FreeBio>;
using Digest = std::unique_ptr<EVP_MD_CTX, FreeDigest>;

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool is_open() const { return fd_ >= 0; }

 private:
  int fd_;
};

const unsigned char* Unsigned(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.data());
}

absl::Status Errno(const std::string& path, const char* what) {
  return absl::UnavailableError(absl::StrCat(path, ": ", what, ": ", std::strerror(errno)));
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

}  // namespace

absl::StatusOr<SigningKey> SigningKey::From(Key key) {
  std::string public_key(kPublicKeyBytes, '\0');
  size_t size = public_key.size();
  if (key == nullptr || EVP_PKEY_id(key.get()) != EVP_PKEY_ED25519 ||
      EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(public_key.data()),
                                  &size) != 1 ||
      size != kPublicKeyBytes) {
    return absl::FailedPreconditionError("statement key: no Ed25519 private key");
  }
  return SigningKey(std::move(key), std::move(public_key));
}

absl::StatusOr<SigningKey> SigningKey::Generate() {
  return From(Key(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")));
}

absl::StatusOr<SigningKey> SigningKey::LoadOrCreate(const std::string& path) {
  std::error_code error;
  if (std::filesystem::exists(path, error)) return Load(path);
  ASSIGN_OR_RETURN(SigningKey key, Generate());
  RETURN_IF_ERROR(key.Save(path));
  return Load(path);
}

absl::StatusOr<SigningKey> SigningKey::Load(const std::string& path) {
  const File file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));  // a pipe must not block
  struct stat about {};
  if (!file.is_open() || fstat(file.fd(), &about) != 0) return Errno(path, "cannot be read");
  if ((about.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        ": others than its owner may read or write this key, want mode 0600: whoever read it "
        "can sign statements; remove it for a new key, or chmod it if nobody did"));
  }
  std::string pem(kMaxKeyFileBytes, '\0');
  const ssize_t size = read(file.fd(), pem.data(), pem.size());
  if (size < 0) return Errno(path, "cannot be read");
  const Bio bio(BIO_new_mem_buf(pem.data(), static_cast<int>(size)));
  absl::StatusOr<SigningKey> key =
      From(Key(PEM_read_bio_PrivateKey(bio.get(), nullptr, nullptr, nullptr)));
  if (!key.ok()) {
    return absl::FailedPreconditionError(absl::StrCat(path, ": holds no Ed25519 private key"));
  }
  return key;
}

absl::Status SigningKey::Save(const std::string& path) const {
  const Bio bio(BIO_new(BIO_s_mem()));
  char* pem = nullptr;
  if (PEM_write_bio_PKCS8PrivateKey(bio.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr) !=
      1) {
    return absl::InternalError("statement key: cannot be encoded");
  }
  const auto size = static_cast<size_t>(BIO_get_mem_data(bio.get(), &pem));
  // The file appears complete under its name or not at all: a truncated key would stop every later
  // start. Servers of one ledger may create it concurrently; the first one wins.
  std::string unfinished = path + ".XXXXXX";
  const File file(mkostemp(unfinished.data(), O_CLOEXEC));  // mode 0600
  if (!file.is_open() || !WriteAll(file.fd(), {pem, size}) || fsync(file.fd()) != 0 ||
      (link(unfinished.c_str(), path.c_str()) != 0 && errno != EEXIST)) {
    const absl::Status status = Errno(path, "cannot be made");
    unlink(unfinished.c_str());
    return status;
  }
  unlink(unfinished.c_str());
  const std::string folder = std::filesystem::path(path).parent_path().string();
  const File directory(
      open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.is_open() || fsync(directory.fd()) != 0) {
    return Errno(folder, "cannot be made durable");
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SigningKey::SecretFor(std::string_view purpose) const {
  unsigned char secret[32];
  size_t size = sizeof(secret);
  unsigned char mac[EVP_MAX_MD_SIZE];
  unsigned int mac_size = 0;
  if (EVP_PKEY_get_raw_private_key(key_.get(), secret, &size) != 1 ||
      HMAC(EVP_sha256(), secret, static_cast<int>(size), Unsigned(purpose), purpose.size(), mac,
           &mac_size) == nullptr) {
    return absl::InternalError("statement key: no secret can be derived");
  }
  return std::string(reinterpret_cast<const char*>(mac), mac_size);
}

absl::StatusOr<std::string> SigningKey::Sign(std::string_view message) const {
  std::string signature(kSignatureBytes, '\0');
  size_t size = signature.size();
  const Digest digest(EVP_MD_CTX_new());
  if (digest == nullptr ||
      EVP_DigestSignInit(digest.get(), nullptr, nullptr, nullptr, key_.get()) != 1 ||
      EVP_DigestSign(digest.get(), reinterpret_cast<unsigned char*>(signature.data()), &size,
                     Unsigned(message), message.size()) != 1 ||
      size != kSignatureBytes) {
    return absl::InternalError("statement: cannot be signed");
  }
  return signature;
}

bool SigningKey::Verifies(std::string_view message, std::string_view signature) const {
  const Digest digest(EVP_MD_CTX_new());
  return digest != nullptr && signature.size() == kSignatureBytes &&
         EVP_DigestVerifyInit(digest.get(), nullptr, nullptr, nullptr, key_.get()) == 1 &&
         EVP_DigestVerify(digest.get(), Unsigned(signature), signature.size(), Unsigned(message),
                          message.size()) == 1;
}

}  // namespace epsledger::statement
