#pragma once
#include <string>
#include <string_view>

namespace zbs::cli {

/// The option, or the word of the command line, that sets the field of an application's request at this JSON pointer:
/// "--env A" for "/environment/A". A field that no option sets is named as such; another place stays as it is.
std::string option_of_field(std::string_view pointer);

}  // namespace zbs::cli
