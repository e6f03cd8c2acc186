#pragma once
#include <string>

namespace zbs::system {

/// `path` as an absolute path, relative ones against `folder`, which is absolute. The kernel finds the same file by it:
/// only "." and repeated '/' are dropped. ".." stays, because it means another folder behind a symbolic link, and so
/// does a '/' at the end. An empty path stays empty.
std::string absolute_path(const std::string& path, const std::string& folder);

/// The same against the current folder. Empty if that has been removed.
std::string absolute_path(const std::string& path);

}  // namespace zbs::system
