#include "algorithms/formats/launchers/jsdl.hpp"

#include <chrono>
#include <string_view>

#include "algorithms/base/expects.hpp"
#include "algorithms/base/utf8.hpp"

namespace zbs::formats {
namespace {

/// Writes elements; keeps the first fault and where it was.
class XmlWriter {
  public:
    void open(std::string_view name) {
        indent();
        out_ += '<';
        out_ += name;
        out_ += ">\n";
        ++depth_;
    }
    void close(std::string_view name) {
        --depth_;
        indent();
        out_ += "</";
        out_ += name;
        out_ += ">\n";
    }
    void element(std::string_view name, const std::string& text, const std::string& field) {
        indent();
        out_ += '<';
        out_ += name;
        out_ += '>';
        escaped(text, field);
        end(name);
    }
    void element(std::string_view name, std::string_view attribute, const std::string& value, const std::string& text,
                 const std::string& field) {
        indent();
        out_ += '<';
        out_ += name;
        out_ += ' ';
        out_ += attribute;
        out_ += "=\"";
        escaped(value, field);
        out_ += "\">";
        escaped(text, field);
        end(name);
    }
    Result<std::string> finish(std::string_view head) {
        if (!ok_.has_value()) return ok_.error();
        return std::string(head) + out_;
    }

  private:
    void indent() { out_.append(static_cast<std::size_t>(depth_) * 2, ' '); }
    void end(std::string_view name) {
        out_ += "</";
        out_ += name;
        out_ += ">\n";
    }
    void fail(std::string message, const std::string& field) {
        if (ok_.has_value()) ok_ = invalid(std::move(message), field);
    }
    void escaped(const std::string& text, const std::string& field) {
        if (!is_utf8(text)) return fail("JSDL holds UTF-8 only", field);
        for (std::size_t i = 0; i < text.size(); ++i) {
            const auto c = static_cast<unsigned char>(text[i]);
            // U+FFFE and U+FFFF are no XML characters either.
            const bool no_character = c == 0xef && static_cast<unsigned char>(text[i + 1]) == 0xbf &&
                                      static_cast<unsigned char>(text[i + 2]) >= 0xbe;
            if ((c < 0x20 && c != '\t' && c != '\n') || no_character)
                return fail(
                    "XML cannot carry " + (c == '\r' ? std::string("a carriage return unchanged")
                                                     : "the character with the number " +
                                                           std::to_string(no_character ? 0xffff : static_cast<int>(c))),
                    field);
            switch (text[i]) {
                case '&':
                    out_ += "&amp;";
                    break;
                case '<':
                    out_ += "&lt;";
                    break;
                case '>':
                    out_ += "&gt;";
                    break;
                case '"':
                    out_ += "&quot;";
                    break;
                case '\t':  // by number: parsers make spaces of both inside attributes
                    out_ += "&#9;";
                    break;
                case '\n':
                    out_ += "&#10;";
                    break;
                default:
                    out_ += text[i];
            }
        }
    }

    std::string out_;
    int depth_ = 1;  // inside the document element
    Result<void> ok_;
};

}  // namespace

Result<std::string> write_jsdl(const LaunchRequest& request, std::size_t zone) {
    ZBS_EXPECTS(zone < request.zones.size());
    if (auto ok = check_zones(request); !ok) return ok.error();
    if (auto ok = check_program(request); !ok) return ok.error();
    const LaunchZone& here = request.zones[zone];
    const std::string at = "/zones/" + std::to_string(zone);
    const auto hosts = ranks_by_host(here);

    XmlWriter xml;
    const auto annotate = [&](const std::string& name, const std::string& value, const std::string& field) {
        xml.element("jsdl:JobAnnotation", "zbs." + name + "=" + value, field);
    };
    xml.open("jsdl:JobDescription");
    xml.open("jsdl:JobIdentification");
    if (!request.name.empty()) xml.element("jsdl:JobName", request.name, "/name");
    annotate("zone", here.name, at + "/name");
    annotate("zone_index", std::to_string(zone), at);
    annotate("zone_count", std::to_string(request.zones.size()), at);
    annotate("ranks", rank_list(here), at);
    if (request.walltime > Duration::zero())
        annotate("walltime_s", std::to_string(std::chrono::ceil<std::chrono::seconds>(request.walltime).count()),
                 "/walltime");
    xml.close("jsdl:JobIdentification");
    xml.open("jsdl:Application");
    xml.open("spmd:SPMDApplication");
    xml.element("posix:Executable", request.executable, "/executable");
    for (std::size_t i = 0; i < request.arguments.size(); ++i)
        xml.element("posix:Argument", request.arguments[i], "/arguments/" + std::to_string(i));
    if (!request.directory.empty()) xml.element("posix:WorkingDirectory", request.directory, "/directory");
    for (std::size_t i = 0; i < request.environment.size(); ++i) {
        const auto& [name, value] = request.environment[i];
        xml.element("posix:Environment", "name", name, value, "/environment/" + std::to_string(i));
    }
    xml.element("spmd:NumberOfProcesses", std::to_string(here.ranks.size()), at);
    if (is_even(hosts)) xml.element("spmd:ProcessesPerHost", std::to_string(hosts.front().second), at);
    xml.element("spmd:SPMDVariation", "http://www.ogf.org/jsdl/2007/02/jsdl-spmd/MPICH2", at);
    xml.close("spmd:SPMDApplication");
    xml.close("jsdl:Application");
    xml.open("jsdl:Resources");
    xml.open("jsdl:CandidateHosts");
    for (const auto& [host, ranks] : hosts) {
        if (host.empty()) return invalid("a host needs a name", at);
        xml.element("jsdl:HostName", host, at);
    }
    xml.close("jsdl:CandidateHosts");
    xml.open("jsdl:TotalResourceCount");
    xml.element("jsdl:Exact", std::to_string(hosts.size()), at);
    xml.close("jsdl:TotalResourceCount");
    xml.close("jsdl:Resources");
    xml.close("jsdl:JobDescription");
    Result<std::string> body = xml.finish(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<jsdl:JobDefinition xmlns:jsdl=\"http://schemas.ggf.org/jsdl/2005/11/jsdl\""
        " xmlns:posix=\"http://schemas.ggf.org/jsdl/2005/11/jsdl-posix\""
        " xmlns:spmd=\"http://schemas.ogf.org/jsdl/2007/02/jsdl-spmd\">\n");
    if (!body) return body;
    return *std::move(body) + "</jsdl:JobDefinition>\n";
}

}  // namespace zbs::formats
