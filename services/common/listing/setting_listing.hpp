#pragma once
#include <vector>

#include "services/common/listing/rows.hpp"
#include "services/common/ports/config_value.hpp"

namespace zbs::listing {

/// All settings in force, one a row, with where each comes from ("FILE:LINE" or "default"; in tables only where it is
/// asked for). Passwords are left out: those of URLs, and all of a setting that is called so.
Listing settings_of(const std::vector<ConfigValue>& values, bool with_origin);

/// `text` with *** for the passwords of a URL: that of its user, and its parameters of that name. Where a password
/// cannot be recognised, too much is left out rather than too little.
std::string without_passwords(const std::string& text);

}  // namespace zbs::listing
