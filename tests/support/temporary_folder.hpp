#pragma once
#include <cstdlib>
#include <filesystem>
#include <string>

#include "algorithms/base/expects.hpp"

namespace zbs::test {

/// A fresh folder, gone with its owner.
class TemporaryFolder {
  public:
    explicit TemporaryFolder(const std::filesystem::path& within = std::filesystem::temp_directory_path()) {
        std::string pattern = (within / "zbs-test-XXXXXX").string();
        ZBS_EXPECTS(mkdtemp(pattern.data()) != nullptr);
        path_ = pattern;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;
    std::string path(const std::string& name = {}) const { return name.empty() ? path_ : path_ + "/" + name; }

  private:
    std::string path_;
};

}  // namespace zbs::test
