#pragma once

#include <string>

namespace zbs::test {

/// The folder of the checkout that this program was built from, absolute, without a slash at its end. Only one file is
/// compiled with that path: a compiler cache finds all the others again in another clone.
[[nodiscard]] const std::string& source_folder();

}  // namespace zbs::test
