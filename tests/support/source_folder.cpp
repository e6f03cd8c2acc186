#include "tests/support/source_folder.hpp"

namespace zbs::test {

const std::string& source_folder() {
    static const std::string folder = ZBS_SOURCE_DIR;
    return folder;
}

}  // namespace zbs::test
