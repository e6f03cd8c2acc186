#pragma once
#include <map>
#include <string>
#include <string_view>

#include "algorithms/base/result.hpp"

namespace zbs {

/// The grid users of one organisation: exact subject -> user name.
struct GridUsers {
    OrganisationName organisation;
    std::map<std::string, std::string> subjects;
    bool operator==(const GridUsers&) const = default;
};

/// The grid-mapfile of Globus and its kin: which user a grid certificate's subject is.
///
///     # comment
///     "/C=BR/O=Grid/OU=Physics/CN=Ana Souza" ana
///     "CN=Bob,O=Grid,C=BR" bob
///
/// A subject stands in quotes, or without them where it has no blank. Inside quotes \" and \\ are a quote and a
/// backslash; every other backslash stays, because subjects themselves have some (\xC3, \,). The name is a user of the
/// organisation that the configuration gives the file to, no local account: accounts come from the account map.
///
/// Subject -> user name. Errors: kInvalidArgument with "file:line" as pointer, e.g. for a subject with two users or a
/// list of names; kTooLarge over `kMaxGridMapBytes`, `kMaxSubjectBytes` or `kMaxSubjectMapEntries`.
Result<std::map<std::string, std::string>> parse_grid_mapfile(std::string_view text, std::string_view file);

}  // namespace zbs
