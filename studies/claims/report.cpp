#include "studies/claims/report.hpp"

#include <algorithm>
#include <array>
#include <iterator>

#include "algorithms/base/expects.hpp"
#include "algorithms/formats/svg.hpp"
#include "studies/claims/samples.hpp"

namespace zbs::claims {
namespace {

using formats::xml_escaped;

constexpr std::array kVerdicts{Verdict::kHolds, Verdict::kHoldsWithRemark, Verdict::kGap, Verdict::kContested,
                               Verdict::kFails};

/// For a cell of a table in Markdown.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

std::string class_of(Verdict verdict) {
    std::string word(to_string(verdict));
    std::ranges::replace(word, ' ', '-');
    return word;
}

std::string how_much(const Effort& effort) {
    std::string text = std::to_string(effort.seeds) + " seeds where something is drawn; spread is the standard " +
                       "deviation over them.";
    if (effort.length != 1) text += " Lengths are " + number(effort.length) + " times those of the full report.";
    return text;
}

constexpr std::string_view kStyle =
    "body{font:15px/1.45 system-ui,sans-serif;margin:2rem auto;max-width:110rem;padding:0 1rem;color:#1b1f24;"
    "background:#fff}"
    "table{border-collapse:collapse;width:100%;margin:.5rem 0 2rem}"
    "th,td{border:1px solid #d0d7de;padding:.3rem .5rem;text-align:left;vertical-align:top}"
    "th{background:#f3f5f7;position:sticky;top:0}td.n{text-align:right}"
    ".v{font-weight:600;white-space:nowrap}.holds{color:#116329}.holds-with-remark{color:#4d6a00}.gap{color:#8a4600}"
    ".contested{color:#5b3fa0}.fails{color:#b31d28}"
    ".plots{display:flex;flex-wrap:wrap;gap:1rem}.plots svg{max-width:100%;height:auto}summary{cursor:pointer}"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th{background:#161b22}"
    "th,td{border-color:#30363d}a{color:#79b8ff}.holds{color:#56d364}.holds-with-remark{color:#b5cf5b}.gap{color:"
    "#f0a35e}"
    ".contested{color:#c3a6ff}.fails{color:#ff7b72}.plots svg{background:#fff}}";

std::string counts_table(std::span<const SourceReport> reports) {
    std::string out = "<table><thead><tr><th>source</th><th>claims</th>";
    for (const Verdict verdict : kVerdicts) out += "<th>" + std::string(to_string(verdict)) + "</th>";
    out += "</tr></thead><tbody>";
    for (const SourceReport& report : reports) {
        const std::string name = xml_escaped(report.source);
        out += "<tr><td><a href=\"#" + name + "\">" + name + "</a></td><td class=\"n\">" +
               std::to_string(report.claims.size()) + "</td>";
        for (const Verdict verdict : kVerdicts)
            out += "<td class=\"n\">" + std::to_string(std::ranges::count(report.claims, verdict, &Claim::verdict)) +
                   "</td>";
        out += "</tr>";
    }
    return out + "</tbody></table>\n";
}

std::string test_link(const Claim& claim, std::string_view root) {
    const std::size_t hash = claim.test.find('#');
    return "<a href=\"" + xml_escaped(std::string(root) + "/" + claim.test.substr(0, hash)) + "\">" +
           xml_escaped(hash == std::string::npos ? claim.test : claim.test.substr(hash + 1)) + "</a>";
}

std::string html_of(const SourceReport& report, std::string_view root) {
    const std::string name = xml_escaped(report.source);
    std::string out = "<h2 id=\"" + name + "\">" + name +
                      "</h2>\n<table><thead><tr><th>id</th><th>source</th><th>claim</th><th>published</th>"
                      "<th>ours</th><th>spread</th><th>verdict</th><th>remark</th><th>test</th></tr></thead><tbody>\n";
    for (const Claim& claim : report.claims) {
        out += "<tr id=\"" + xml_escaped(claim.id) + "\"><td>" + xml_escaped(claim.id) + "</td>";
        for (const std::string* text : {&claim.source, &claim.claim, &claim.published, &claim.ours, &claim.spread})
            out += "<td>" + xml_escaped(*text) + "</td>";
        out += "<td class=\"v " + class_of(claim.verdict) + "\">" + std::string(to_string(claim.verdict)) +
               "</td><td>" + xml_escaped(claim.remark) + "</td><td>" + test_link(claim, root) + "</td></tr>\n";
    }
    out += "</tbody></table>\n";
    const auto is_plot = [](const File& file) { return file.name.ends_with(".svg"); };
    if (std::ranges::any_of(report.files, is_plot)) {
        out += "<details><summary>Plots of " + name + "</summary><div class=\"plots\">\n";
        for (const File& file : report.files)
            if (is_plot(file)) out += file.text.substr(std::min(file.text.size(), file.text.find("<svg"))) + "\n";
        out += "</div></details>\n";
    }
    for (const File& file : report.files)
        if (!is_plot(file))
            out += "<details><summary>" + xml_escaped(file.name) + "</summary><pre>" + xml_escaped(file.text) +
                   "</pre></details>\n";
    return out;
}

}  // namespace

std::vector<SourceReport> by_source(std::span<const Study> studies, std::vector<Part> parts) {
    ZBS_EXPECTS(studies.size() == parts.size());
    std::vector<SourceReport> reports;
    for (std::size_t i = 0; i < studies.size(); ++i) {
        auto report = std::ranges::find(reports, studies[i].source, &SourceReport::source);
        if (report == reports.end())
            report = reports.insert(reports.end(), {.source = studies[i].source, .claims = {}, .files = {}});
        std::ranges::move(parts[i].claims, std::back_inserter(report->claims));
        std::ranges::move(parts[i].files, std::back_inserter(report->files));
    }
    return reports;
}

std::string claim_row(const Claim& claim) {
    std::string row = "|";
    const std::string verdict(to_string(claim.verdict));
    for (const std::string* text : {&claim.id, &claim.source, &claim.claim, &claim.published, &claim.ours,
                                    &claim.spread, &verdict, &claim.remark, &claim.test})
        row += " " + cell(*text) + " |";
    return row + "\n";
}

std::string claims_page(const SourceReport& report, const Effort& effort) {
    std::string page = "# Claims of " + std::string(report.source) + "\n\nMade by `zbs-studies claims`; " +
                       how_much(effort) +
                       "\n\n| id | source | claim | published | ours | spread | verdict | remark | test "
                       "|\n|---|---|---|---|---|---|---|"
                       "---|---|\n";
    for (const Claim& claim : report.claims) page += claim_row(claim);
    if (!report.files.empty()) page += "\nTables and plots\n\n";
    for (const File& file : report.files) page += "- [" + file.name + "](" + file.name + ")\n";
    return page;
}

std::string claims_html(std::span<const SourceReport> reports, const Effort& effort, std::string_view root) {
    std::string out =
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
        "content=\"width=device-width,initial-scale=1\"><title>Published claims beside ours</title><style>" +
        std::string(kStyle) + "</style></head><body>\n<h1>Published claims beside ours</h1>\n<p>" +
        xml_escaped(how_much(effort)) +
        " A gap has its reason beside it; contested means that the source contradicts itself, or ours contradicts it "
        "for a reason that can be shown.</p>\n";
    out += counts_table(reports);
    for (const SourceReport& report : reports) out += html_of(report, root);
    return out + "</body></html>\n";
}

}  // namespace zbs::claims
