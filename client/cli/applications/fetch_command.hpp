#pragma once
#include <string>

#include "client/api/zone_client.hpp"
#include "client/cli/context.hpp"

namespace zbs::cli {

struct FetchOptions {
    std::string folder = ".";
    bool quiet = false;
    bool ended = true;  ///< an application that has not ended is an error
};

/// Results of an application into a folder. A file that cannot be fetched is reported, also by the exit code. False
/// where there is such a file.
bool fetch_results(Context& context, client::ZoneClient& zone, const std::string& id, const FetchOptions& options);

}  // namespace zbs::cli
