#pragma once
#include <span>
#include <string_view>

namespace zbs::dashboard {

/// A file of the pages, as the browser gets it.
struct File {
    std::string_view name;  ///< within /assets/, with a hash of its content
    std::string_view content_type;
    std::string_view bytes;
};

/// The page that loads the others. `kStatusMark` stands where a browser without scripts reads how the zone is.
std::string_view page();
inline constexpr std::string_view kStatusMark = "<!--status-->";
/// What the page asks for; empty where the program was built without Node.js.
std::span<const File> files();

}  // namespace zbs::dashboard
