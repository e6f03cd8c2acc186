#include "client/cli/mapping/map_output.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <utility>

#include "algorithms/formats/launchers/hostfile.hpp"
#include "algorithms/formats/launchers/jsdl.hpp"
#include "algorithms/formats/launchers/rsl.hpp"
#include "client/cli/context.hpp"
#include "services/common/codec/psij_codec.hpp"

namespace zbs::cli {
namespace {

constexpr std::array<std::string_view, 7> kLaunchFormats = {"rsl",      "jsdl", "psij", "hostfile", "openmpi_hostfile",
                                                            "rankfile", "slurm"};
constexpr std::string_view kZoneMark = "{zone}";

Result<std::pair<std::string, std::string>> split(const std::string& text, const char* option, const char* wanted) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0)
        return invalid("'" + text + "' is not " + std::string(wanted), option);
    return std::pair(text.substr(0, equals), text.substr(equals + 1));
}

Result<Document> write_zone(const formats::LaunchRequest& request, std::size_t zone, const std::string& format) {
    const formats::LaunchZone& here = request.zones[zone];
    Document document{here.name, {}, {}};
    Result<std::string> text = std::string();
    if (format == "jsdl") {
        text = formats::write_jsdl(request, zone);
    } else if (format == "psij") {
        const Result<codec::Json> spec = codec::encode_psij(request, zone);
        if (!spec) return spec.error();
        text = codec::dump(*spec) + "\n";
    } else if (format == "slurm") {
        text = formats::write_slurm_hostfile(here);
    } else if (format == "openmpi_hostfile") {
        text = formats::write_openmpi_hostfile(here);
    } else if (format == "hostfile") {
        text = formats::write_hydra_hostfile(here);
    } else {
        const Result<std::string> slots = formats::write_openmpi_slots(here);
        if (!slots) return slots.error();
        document.host_file = *slots;
        text = formats::write_rankfile(here);
    }
    if (!text) return text.error();
    document.text = *std::move(text);
    return document;
}

Result<Document> write_whole(const formats::LaunchRequest& request, const std::string& format) {
    if (format == "rsl") {
        Result<std::string> text = formats::write_launch_rsl(request);
        if (!text) return text.error();
        return Document{{}, *std::move(text), {}};
    }
    if (format == "psij") {
        const Result<codec::Json> specs = codec::encode_psij(request);
        if (!specs) return specs.error();
        return Document{{}, codec::dump(*specs) + "\n", {}};
    }
    formats::LaunchZone all{"all zones", {}, {}};
    for (const formats::LaunchZone& zone : request.zones) {
        for (const formats::LaunchRank& rank : zone.ranks)
            all.ranks.push_back({rank.rank, zone.name + "." + rank.host, rank.slot});
    }
    std::ranges::sort(all.ranks, {}, &formats::LaunchRank::rank);
    Result<std::string> text = formats::write_hydra_hostfile(all);
    if (!text) return text.error();
    return Document{{}, *std::move(text), {}};
}

}  // namespace

bool is_launch_format(std::string_view format) {
    return std::find(kLaunchFormats.begin(), kLaunchFormats.end(), format) != kLaunchFormats.end();
}

Result<formats::LaunchRequest> make_launch(const ResourceGraph& resources,
                                           const std::vector<ProcessorIndex>& processor_of,
                                           const LaunchOptions& options) {
    formats::LaunchRequest request{.name = options.name, .directory = options.directory};
    if (!options.argv.empty()) {
        request.executable = options.argv.front();
        request.arguments.assign(options.argv.begin() + 1, options.argv.end());
        if (request.name.empty()) request.name = std::filesystem::path(request.executable).filename().string();
    }
    for (const std::string& variable : options.environment) {
        auto pair = split(variable, "--env", "NAME=VALUE");
        if (!pair) return pair.error();
        request.environment.push_back(*std::move(pair));
    }
    if (!options.walltime.empty()) {
        const Result<Duration> walltime = parse_duration(options.walltime);
        if (!walltime) return Error{walltime.error().code, walltime.error().message, "--walltime"};
        request.walltime = *walltime;
    }
    std::vector<std::size_t> number(static_cast<std::size_t>(resources.zone_count()), SIZE_MAX);
    for (std::size_t rank = 0; rank < processor_of.size(); ++rank) {
        const ProcessorPlace& place = resources.place(processor_of[rank]);
        const Zone& zone = resources.zones()[static_cast<std::size_t>(place.zone)];
        std::size_t& at = number[static_cast<std::size_t>(place.zone)];
        if (at == SIZE_MAX) {
            at = request.zones.size();
            request.zones.push_back({zone.name, {}, {}});
        }
        request.zones[at].ranks.push_back({static_cast<TaskIndex>(rank),
                                           zone.machines[static_cast<std::size_t>(place.machine)].name,
                                           place.processor});
    }
    for (const std::string& contact : options.contacts) {
        auto pair = split(contact, "--contact", "ZONE=CONTACT");
        if (!pair) return pair.error();
        if (std::ranges::none_of(resources.zones(), [&](const Zone& z) { return z.name == pair->first; }))
            return invalid("zone '" + pair->first + "' is not among the resources", "--contact");
        for (formats::LaunchZone& zone : request.zones) {
            if (zone.name == pair->first) zone.contact = pair->second;
        }
    }
    return request;
}

Result<std::vector<Document>> write_documents(const formats::LaunchRequest& request, const DocumentOptions& options) {
    // A reader of PSI/J takes one JobSpec, and mpiexec names of machines: only several zones need more.
    const bool is_for_all = request.zones.size() > 1 && (options.format == "hostfile" || options.format == "psij");
    const bool whole = options.format == "rsl" || (is_for_all && options.zone.empty() && !options.one_by_one);
    std::vector<Document> documents;
    if (whole) {
        if (!options.zone.empty())
            return invalid(options.format + " is one document for all zones; leave --zone out", "--zone");
        Result<Document> document = write_whole(request, options.format);
        if (!document) return document.error();
        documents.push_back(*std::move(document));
        return documents;
    }
    for (std::size_t z = 0; z < request.zones.size(); ++z) {
        if (!options.zone.empty() && request.zones[z].name != options.zone) continue;
        Result<Document> document = write_zone(request, z, options.format);
        if (!document) return document.error();
        documents.push_back(*std::move(document));
    }
    if (documents.empty()) return invalid("no rank is mapped to zone '" + options.zone + "'", "--zone");
    return documents;
}

Result<void> deliver(const std::vector<Document>& documents, const std::string& path,
                     const std::vector<NamedFile>& kept) {
    const std::size_t mark = path.find(kZoneMark);
    if (documents.size() > 1 && mark == std::string::npos) {
        std::string names;
        for (const Document& document : documents) names += " " + document.zone;
        return invalid("this format has one document per zone, and the mapping uses the zones" + names +
                           "; ask for one with --zone NAME, or write all with --output FILE and {zone} in its name",
                       path.empty() ? "--format" : "--output");
    }
    if (path.empty() || path == "-") return write_file("-", documents.front().text);
    std::vector<std::pair<std::string, const std::string*>> files;
    std::set<std::string> names;
    for (const Document& document : documents) {
        std::string file = path;
        if (mark != std::string::npos) {
            if (document.zone.empty())
                return invalid("this format is one document for all zones; leave {zone} out", "--output");
            if (document.zone.find('/') != std::string::npos || document.zone.starts_with('.'))
                return invalid("zone '" + document.zone + "' cannot be part of a file name; ask for it with --zone",
                               "--output");
            file.replace(mark, kZoneMark.size(), document.zone);
        }
        names.insert(file);
        if (!document.host_file.empty()) files.emplace_back(file + ".hosts", &document.host_file);
        files.emplace_back(std::move(file), &document.text);
    }
    if (names.size() != documents.size()) return invalid("two zones would be written to one file", "--output");
    std::vector<NamedFile> outputs;
    for (const auto& [file, text] : files) outputs.push_back({"--output", file});
    if (auto good = check_outputs(outputs, kept); !good) return good;
    std::error_code ignored;
    for (std::size_t i = 0; i < files.size(); ++i) {
        const Result<void> written = write_file(files[i].first, *files[i].second);
        if (written) continue;
        // A device or a file that could not be opened is not ours to remove.
        for (std::size_t done = 0; done < i; ++done) {
            if (std::filesystem::is_regular_file(files[done].first, ignored))
                std::filesystem::remove(files[done].first, ignored);
        }
        return written;
    }
    return {};
}

Result<void> deliver(const std::string& text, const std::string& path) {
    return deliver(std::vector<Document>{{{}, text, {}}}, path);
}

}  // namespace zbs::cli
