#include "services/common/adapters/system/program_digest.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

namespace zbs::system {
namespace {

constexpr std::size_t kPiece = 1 << 18;

std::string hexadecimal(const unsigned char* bytes, unsigned length) {
    constexpr char kHex[] = "0123456789abcdef";
    std::string out;
    for (unsigned i = 0; i < length; ++i) out += {kHex[bytes[i] >> 4], kHex[bytes[i] & 15]};
    return out;
}

/// Empty where it cannot be read, or is longer than it was said to be.
std::string digest_of(int file, std::uint64_t bytes) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
    if (!context || EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) != 1) return {};
    std::string piece(kPiece, '\0');
    std::uint64_t taken = 0;
    for (;;) {
        const ssize_t got = read(file, piece.data(), piece.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return {};
        if (got == 0) break;
        taken += static_cast<std::uint64_t>(got);
        if (taken > bytes || EVP_DigestUpdate(context.get(), piece.data(), static_cast<std::size_t>(got)) != 1)
            return {};
    }
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned length = 0;
    if (taken != bytes || EVP_DigestFinal_ex(context.get(), digest.data(), &length) != 1) return {};
    return hexadecimal(digest.data(), length);
}

bool is_for_everybody(const struct stat& file) {
    return S_ISREG(file.st_mode) && (file.st_mode & S_IROTH) != 0 && (file.st_mode & S_IXOTH) != 0;
}

}  // namespace

std::string ProgramDigests::of(const std::string& path) {
    if (!path.starts_with('/') || path.find('\0') != std::string::npos) return {};
    struct stat named {};
    if (stat(path.c_str(), &named) != 0 || !is_for_everybody(named)) return {};
    const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (file < 0) return {};
    struct stat found {};
    std::string digest;
    if (fstat(file, &found) == 0 && is_for_everybody(found) && std::cmp_less_equal(found.st_size, kMaxBytes)) {
        const Known now{path,
                        found.st_dev,
                        found.st_ino,
                        static_cast<std::uint64_t>(found.st_size),
                        found.st_ctim.tv_sec,
                        found.st_ctim.tv_nsec,
                        {}};
        const auto at = std::find_if(known_.begin(), known_.end(), [&](const Known& k) { return k.path == path; });
        const bool same = at != known_.end() && at->device == now.device && at->inode == now.inode &&
                          at->bytes == now.bytes && at->changed_s == now.changed_s && at->changed_ns == now.changed_ns;
        if (same) {
            known_.splice(known_.begin(), known_, at);
        } else {
            if (at != known_.end()) known_.erase(at);
            known_.push_front(now);
            known_.front().digest = digest_of(file, now.bytes);
            if (known_.size() > kMaxFiles) known_.pop_back();
        }
        digest = known_.front().digest;
    }
    close(file);
    return digest;
}

}  // namespace zbs::system
