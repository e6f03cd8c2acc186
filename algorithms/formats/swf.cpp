#include "algorithms/formats/swf.hpp"

#include <charconv>
#include <cstring>

#include "algorithms/base/expects.hpp"

namespace zbs::formats {
namespace {

constexpr int kMaxDigits = 12;  // kMaxValue has as many, and so many millionths fit into 64 bits

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/// Sign, digits, perhaps a point and digits. The value in millionths, rounded half away from zero.
bool scan_decimal(std::string_view word, std::int64_t& value) {
    const bool negative = !word.empty() && word[0] == '-';
    if (!word.empty() && (word[0] == '-' || word[0] == '+')) word.remove_prefix(1);
    std::int64_t whole = 0, part = 0;
    std::size_t i = 0, digits = 0;
    for (; i < word.size() && word[i] >= '0' && word[i] <= '9'; ++i, ++digits) {
        whole = whole * 10 + (word[i] - '0');
        if (whole > SwfTrace::kMaxValue) return false;
    }
    if (i < word.size() && word[i] == '.') {
        ++i;
        std::int64_t unit = SwfRecord::kUnit;
        bool up = false;
        for (; i < word.size() && word[i] >= '0' && word[i] <= '9'; ++i, ++digits) {
            if (unit > 1) {
                unit /= 10;
                part += (word[i] - '0') * unit;
            } else if (unit == 1) {
                up = word[i] >= '5';
                unit = 0;
            }
        }
        part += up ? 1 : 0;
    }
    if (i < word.size() || digits == 0) return false;
    const std::int64_t magnitude = whole * SwfRecord::kUnit + part;
    if (magnitude > SwfTrace::kMaxValue * SwfRecord::kUnit) return false;
    value = negative ? -magnitude : magnitude;
    return true;
}

/// Whether there is no job without a number in this field, counted from 0.
bool must_be_number(std::size_t field) {
    switch (static_cast<SwfField>(field)) {
        case SwfField::kJob:
        case SwfField::kSubmit:
        case SwfField::kRuntime:
        case SwfField::kAllocatedProcessors:
        case SwfField::kRequestedProcessors:
        case SwfField::kRequestedTime:
        case SwfField::kStatus:
            return true;
        default:
            return false;
    }
}

/// What is wrong with a line that was not read.
Error fault_of(std::string_view line) {
    std::size_t fields = 0;
    std::size_t wrong = 0;
    std::string_view wrong_word;
    for (std::size_t at = 0; at < line.size();) {
        if (is_blank(line[at])) {
            ++at;
            continue;
        }
        std::size_t end = at;
        while (end < line.size() && !is_blank(line[end])) ++end;
        ++fields;
        std::int64_t ignored = 0;
        if (wrong == 0 && fields <= kSwfFields && must_be_number(fields - 1) &&
            !scan_decimal(line.substr(at, end - at), ignored)) {
            wrong = fields;
            wrong_word = line.substr(at, end - at);
        }
        at = end;
    }
    if (fields < kSwfFields)
        return invalid("the line has " + std::to_string(fields) + (fields == 1 ? " field" : " fields") +
                       " instead of 18; write -1 for what is unknown");
    std::string shown;
    for (const char c : wrong_word.substr(0, 40)) shown += c >= ' ' && c <= '~' ? c : '?';
    return invalid("field " + std::to_string(wrong) + " is '" + shown + "', not a number of at most " +
                   std::to_string(kMaxDigits) + " digits; correct it");
}

struct LineNotes {
    bool wide = false;
    bool label = false;
};

/// Reads the first 18 fields of [at, end), whose first character is no blank.
bool scan_record(const char* at, const char* end, SwfRecord& record, LineNotes& notes) {
    for (std::size_t field = 0; field < kSwfFields; ++field) {
        std::int64_t& value = record.millionths[field];
        while (at < end && is_blank(*at)) ++at;
        const char* const word = at;
        const bool negative = at < end && *at == '-';
        at += negative ? 1 : 0;
        const char* const digits = at;
        std::int64_t number = 0;
        // Bounded by the digits, so that it cannot overflow.
        while (at < end && static_cast<unsigned char>(*at - '0') < 10 && at - digits < kMaxDigits)
            number = number * 10 + (*at++ - '0');
        if (at > digits && (at == end || is_blank(*at))) {
            value = (negative ? -number : number) * SwfRecord::kUnit;
            continue;
        }
        while (at < end && !is_blank(*at)) ++at;
        if (scan_decimal({word, static_cast<std::size_t>(at - word)}, value)) continue;
        if (at == word || must_be_number(field)) return false;
        value = -SwfRecord::kUnit;
        notes.label = true;
    }
    while (at < end && is_blank(*at)) ++at;
    notes.wide = at < end;
    return true;
}

/// The text of a header comment "NAME: text" of this name; nothing if it is another one.
std::optional<std::string_view> directive_text(std::string_view comment, std::string_view name) {
    const auto trim_front = [&comment] {
        while (!comment.empty() && is_blank(comment.front())) comment.remove_prefix(1);
    };
    trim_front();
    while (!comment.empty() && is_blank(comment.back())) comment.remove_suffix(1);
    if (!comment.starts_with(name)) return std::nullopt;
    comment.remove_prefix(name.size());
    trim_front();
    if (!comment.starts_with(':')) return std::nullopt;
    comment.remove_prefix(1);
    trim_front();
    return comment;
}

void append_value(std::string& out, std::int64_t millionths) {
    char buffer[24];
    if (millionths < 0) out += '-';
    const auto magnitude = millionths < 0 ? -millionths : millionths;
    const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, magnitude / SwfRecord::kUnit);
    ZBS_EXPECTS(error == std::errc{});
    out.append(buffer, end);
    std::int64_t part = magnitude % SwfRecord::kUnit;
    if (part == 0) return;
    out += '.';
    for (std::int64_t unit = SwfRecord::kUnit / 10; part > 0; unit /= 10) {
        out += static_cast<char>('0' + part / unit);
        part %= unit;
    }
}

}  // namespace

std::optional<std::string> SwfTrace::directive(std::string_view name) const {
    for (const std::string& comment : comments)
        if (const auto text = directive_text(comment, name)) return std::string(*text);
    return std::nullopt;
}

std::vector<std::string> SwfTrace::directives(std::string_view name) const {
    std::vector<std::string> texts;
    for (const std::string& comment : comments)
        if (const auto text = directive_text(comment, name)) texts.emplace_back(*text);
    return texts;
}

void SwfTrace::set_directive(std::string_view name, const std::string& text) {
    for (std::string& comment : comments) {
        if (!directive_text(comment, name)) continue;
        comment = " " + std::string(name) + ": " + text;
        return;
    }
}

void SwfTrace::erase_directive(std::string_view name) {
    std::erase_if(comments, [&](const std::string& comment) { return directive_text(comment, name).has_value(); });
}

std::optional<std::int64_t> SwfTrace::number(std::string_view name) const {
    const std::optional<std::string> text = directive(name);
    if (!text) return std::nullopt;
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
    // Logs add remarks: "MaxProcs: 128 (64 nodes)".
    if (error != std::errc{} || value < 0 || (end != text->data() + text->size() && !is_blank(*end)))
        return std::nullopt;
    return value;
}

std::optional<std::int64_t> SwfTrace::processors() const {
    for (const std::string_view name : {"MaxProcs", "MaxNodes"})
        if (const auto value = number(name); value && *value > 0) return value;
    return std::nullopt;
}

/// Error: what is wrong with the line.
std::optional<Error> SwfReader::read_line(std::string_view line) {
    const char* first = line.data();
    const char* const end = first + line.size();
    while (first < end && is_blank(*first)) ++first;
    if (first == end) return std::nullopt;
    if (line.size() > SwfTrace::kMaxLine)
        return invalid("the line has " + std::to_string(line.size()) + " bytes; at most " +
                       std::to_string(SwfTrace::kMaxLine) + " are read: is this a workload log?");
    if (*first == ';') {
        std::string_view comment(first + 1, static_cast<std::size_t>(end - first - 1));
        if (comment.ends_with('\r')) comment.remove_suffix(1);
        trace_.comments.emplace_back(comment);
        return std::nullopt;
    }
    SwfRecord& record = trace_.records.emplace_back();
    record.line = line_number_;
    LineNotes notes;
    if (!scan_record(first, end, record, notes)) {
        trace_.records.pop_back();
        return fault_of(line);
    }
    ++records_;
    if (notes.wide) trace_.wide_lines.add(line_number_);
    if (notes.label) trace_.label_lines.add(line_number_);
    return std::nullopt;
}

Result<std::size_t> SwfReader::read(std::string_view text, bool is_last) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    const char* at = text.data();
    const char* const text_end = at + text.size();
    if (line_number_ == 0 && text.starts_with(kByteOrderMark)) at += kByteOrderMark.size();
    while (at < text_end) {
        const void* const newline = std::memchr(at, '\n', static_cast<std::size_t>(text_end - at));
        if (newline == nullptr && !is_last) break;
        ++line_number_;
        const char* const end = newline == nullptr ? text_end : static_cast<const char*>(newline);
        std::optional<Error> fault = read_line({at, static_cast<std::size_t>(end - at)});
        at = newline == nullptr ? text_end : end + 1;
        const bool too_many = records_ > SwfTrace::kMaxRecords;
        if (too_many)
            fault = Error{ErrorCode::kTooLarge,
                          "more than " + std::to_string(SwfTrace::kMaxRecords) + " jobs; split the log",
                          {}};
        if (!fault) [[likely]]
            continue;
        fault->pointer = source_ + ":" + std::to_string(line_number_);
        if (too_many || !options_.lenient) return *std::move(fault);
        if (++trace_.skipped_lines == 1) trace_.first_skipped = std::move(fault);
    }
    return static_cast<std::size_t>(at - text.data());
}

Result<SwfTrace> read_swf(std::string_view text, std::string_view source, const SwfReadOptions& options) {
    SwfReader reader(source, options);
    // Lines of archived logs have 70 bytes or more; shorter ones make the vector grow, and so do very many.
    reader.trace().records.reserve(std::min(text.size() / 70 + 1, std::size_t{4'000'000}));
    if (const Result<std::size_t> done = reader.read(text, true); !done) return done.error();
    return std::move(reader.trace());
}

std::string write_swf(const SwfTrace& trace) {
    std::string out;
    out.reserve(trace.records.size() * 80);
    for (const std::string& comment : trace.comments) {
        out += ';';
        out += comment;
        out += '\n';
    }
    for (const SwfRecord& record : trace.records) {
        for (std::size_t i = 0; i < kSwfFields; ++i) {
            append_value(out, record.millionths[i]);
            out += i + 1 < kSwfFields ? ' ' : '\n';
        }
    }
    return out;
}

SwfTrace make_swf(const Workload& workload, std::span<const Time> start) {
    ZBS_EXPECTS(start.empty() || start.size() == workload.jobs.size());
    SwfTrace trace;
    const std::string jobs = std::to_string(workload.jobs.size());
    std::string name;
    for (const char c : workload.name) name += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    trace.comments = {" Version: 2.2",     " Computer: " + name,   " Note: written by zbs simulate",
                      " MaxJobs: " + jobs, " MaxRecords: " + jobs, " UnixStartTime: 0"};
    if (workload.processors > 0) {
        trace.comments.push_back(" MaxNodes: " + std::to_string(workload.processors));
        trace.comments.push_back(" MaxProcs: " + std::to_string(workload.processors));
    }
    trace.records.reserve(workload.jobs.size());
    for (std::size_t i = 0; i < workload.jobs.size(); ++i) {
        const auto& [job, runtime] = workload.jobs[i];
        SwfRecord& record = trace.records.emplace_back();
        record.millionths.fill(-SwfRecord::kUnit);
        const auto set = [&](SwfField field, Duration value) {
            record.millionths[static_cast<std::size_t>(field)] = value.count();
        };
        static_assert(Duration::period::den == SwfRecord::kUnit);
        record.set_whole(SwfField::kJob, job.id.value);
        set(SwfField::kSubmit, job.submit.time_since_epoch());
        if (!start.empty()) set(SwfField::kWait, start[i] - job.submit);
        set(SwfField::kRuntime, runtime);
        record.set_whole(SwfField::kAllocatedProcessors, job.processors);
        record.set_whole(SwfField::kRequestedProcessors, job.processors);
        set(SwfField::kRequestedTime, job.walltime);
        if (job.memory_bytes > 0) record.set_whole(SwfField::kRequestedMemory, job.memory_bytes / 1024);
        record.set_whole(SwfField::kStatus, 1);
        record.set_whole(SwfField::kUser, job.user);
        record.set_whole(SwfField::kGroup, job.group);
        record.set_whole(SwfField::kQueue, job.queue);
    }
    return trace;
}

}  // namespace zbs::formats
