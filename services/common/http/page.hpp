#pragma once
#include <string>
#include <utility>
#include <vector>

#include "services/common/http/call.hpp"

namespace zbs::http {

/// Cache-Control of a file whose name changes with its content.
inline constexpr const char* kForever = "public, max-age=31536000, immutable";

/// What keeps a page from running, loading or being shown in what is not its own site's.
std::vector<std::pair<std::string, std::string>> page_headers();

/// Whether a browser makes the call for a page of another site: it would bring the certificate of whoever sits before
/// it. Browsers name the page's site in all calls that change something (Origin), and say how it relates to ours
/// (Sec-Fetch-Site), which counts for those calls where the site is withheld; other programs send neither. A site is a
/// scheme, a host and a port: a page that came without TLS may be anybody's on the way.
bool comes_from_elsewhere(const Call& call);

}  // namespace zbs::http
