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

constexpr std::array kVerdicts{Verdict::kHolds, Verdict::kHoldsWithRemark, Verdict::kGap,  Verdict::kContested,
                               Verdict::kInput, Verdict::kNotTestable,     Verdict::kFails};

/// For a cell of a table in Markdown.
std::string cell(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if (c == '|') out += '\\';
        out += c == '\n' ? ' ' : c;
    }
    return out;
}

/// Of a line in CSV; a quoted cell ends on its line.
std::vector<std::string> cells_of(std::string_view line) {
    std::vector<std::string> cells(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (quoted && line.substr(i, 2) == "\"\"")
            cells.back() += line[i++];
        else if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            cells.emplace_back();
        else
            cells.back() += line[i];
    }
    return cells;
}

std::string class_of(Verdict verdict) {
    std::string word(to_string(verdict));
    std::ranges::replace(word, ' ', '-');
    return word;
}

std::string how_much(const Effort& effort) {
    if (effort.is_quick)
        return "A quick run: it shows that all studies run, and is too short to judge by. No claim has a verdict.";
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
    ".contested{color:#5b3fa0}.input,.not-testable{color:#57606a}.fails{color:#b31d28}"
    ".plots{display:flex;flex-wrap:wrap;gap:1rem}.plots svg{max-width:100%;height:auto}summary{cursor:pointer}"
    "@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}th{background:#161b22}"
    "th,td{border-color:#30363d}a{color:#79b8ff}.holds{color:#56d364}.holds-with-remark{color:#b5cf5b}.gap{color:"
    "#f0a35e}"
    ".contested{color:#c3a6ff}.input,.not-testable{color:#8b949e}.fails{color:#ff7b72}.plots svg{background:#fff}}";

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

std::string test_link(std::string_view test, std::string_view root) {
    const std::size_t hash = test.find('#');
    return "<a href=\"" + xml_escaped(std::string(root) + "/" + std::string(test.substr(0, hash))) + "\">" +
           xml_escaped(hash == std::string_view::npos ? test : test.substr(hash + 1)) + "</a>";
}

/// With the check of the reason.
std::string remark_of(const Claim& claim) {
    if (!claim.reason_test) return claim.remark;
    const ReasonTest& test = *claim.reason_test;
    return claim.remark + (claim.remark.empty() ? "" : " ") + "[check: " + test.name + ": " + test.figures +
           (test.passes ? "" : "; does not explain the difference") + "]";
}

std::string html_of(const SourceReport& report, std::string_view root) {
    const std::string name = xml_escaped(report.source);
    std::string out = "<h2 id=\"" + name + "\">" + name +
                      "</h2>\n<table><thead><tr><th>id</th><th>source</th><th>claim</th><th>published</th>"
                      "<th>ours</th><th>spread</th><th>verdict</th><th>remark</th><th>test</th>" +
                      (report.long_runs.empty() ? "" : "<th>at the horizon of the source</th>") +
                      "</tr></thead><tbody>\n";
    for (const Claim& claim : report.claims) {
        out += "<tr id=\"" + xml_escaped(claim.id) + "\"><td>" + xml_escaped(claim.id) + "</td>";
        for (const std::string* text : {&claim.source, &claim.claim, &claim.published, &claim.ours, &claim.spread})
            out += "<td>" + xml_escaped(*text) + "</td>";
        out += "<td class=\"v " + class_of(claim.verdict) + "\">" + std::string(to_string(claim.verdict)) +
               "</td><td>" + xml_escaped(remark_of(claim)) + "</td><td>" + test_link(kRowTest, root) +
               (claim.see.empty() ? "" : ", " + test_link(claim.see, root)) + "</td>";
        if (const auto known = report.long_runs.find(claim.id); known != report.long_runs.end())
            out += "<td>" + xml_escaped(known->second) + "</td>";
        else if (!report.long_runs.empty())
            out += "<td></td>";
        out += "</tr>\n";
    }
    out += "</tbody></table>\n";
    if (!report.made.empty()) out += "<p>At the horizon of the source: " + xml_escaped(report.made) + ".</p>\n";
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

void add_long_runs(SourceReport& report, std::string_view csv) {
    while (!csv.empty()) {
        const std::string_view line = csv.substr(0, csv.find('\n'));
        csv.remove_prefix(std::min(csv.size(), line.size() + 1));
        if (line.starts_with("# ")) report.made = line.substr(2);
        if (line.starts_with('#') || line.starts_with("id,")) continue;
        const std::vector<std::string> cells = cells_of(line);
        if (cells.size() >= 3) report.long_runs[cells[0]] = cells[1] + ": " + cells[2];
    }
}

void withhold_verdicts(std::vector<SourceReport>& reports) {
    for (SourceReport& report : reports)
        for (Claim& claim : report.claims) {
            claim.verdict = Verdict::kNotTestable;
            claim.remark = "a quick run is too short to judge by";
            claim.reason_test.reset();
        }
}

std::string claim_row(const Claim& claim) {
    std::string row = "|";
    const std::string verdict(to_string(claim.verdict)), remark = remark_of(claim);
    for (const std::string* text : {&claim.id, &claim.source, &claim.claim, &claim.published, &claim.ours,
                                    &claim.spread, &verdict, &remark, &claim.see})
        row += " " + cell(*text) + " |";
    return row + "\n";
}

std::string claims_page(const SourceReport& report, const Effort& effort) {
    std::string page = "# Claims of " + std::string(report.source) + "\n\nMade by `zbs-studies claims`; " +
                       how_much(effort) +
                       "\n\n| id | source | claim | published | ours | spread | verdict | remark | see also "
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
        " A gap has a reason whose check passes; contested: the source contradicts itself, or ours contradicts it, and "
        "a check shows it; input: a value that was fitted or copied, no evidence; not testable: the run has no figures "
        "to judge by; fails: ours differs, and no check explains it.</p>\n";
    out += counts_table(reports);
    for (const SourceReport& report : reports) out += html_of(report, root);
    return out + "</body></html>\n";
}

}  // namespace zbs::claims
