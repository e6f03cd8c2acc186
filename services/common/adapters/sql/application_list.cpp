#include "services/common/adapters/sql/application_list.hpp"

#include <algorithm>

#include "services/common/adapters/sql/statements.hpp"
#include "services/common/codec/json/words.hpp"
#include "services/common/codec/records/record_codec.hpp"

namespace zbs::sql {
namespace {

using codec::Json;

constexpr std::string_view kInOrder = " ORDER BY submitted_us DESC, id DESC LIMIT ?";

Error corrupt(const Error& error) {
    return {ErrorCode::kInternal, "the database holds an application that this version cannot read: " + error.message,
            error.pointer};
}

Result<ApplicationSummary> summary_in(const Query& row) {
    Result<Json> outline = codec::parse(row.text(5));
    if (!outline) return corrupt(invalid("not JSON"));
    Result<ApplicationSummary> summary = codec::decode_stored_summary({.id = row.text(0),
                                                                       .owner = row.text(1),
                                                                       .program = row.text(3),
                                                                       .name = row.text(4),
                                                                       .ranks = row.integer(2),
                                                                       .submitted_us = row.integer(6),
                                                                       .outline = *std::move(outline)});
    if (!summary) return corrupt(summary.error());
    return summary;
}

/// How many `application_list_sql` has.
std::size_t reads_of(const ApplicationQuery& wanted) { return std::max<std::size_t>(1, wanted.states.size()); }

}  // namespace

std::string application_list_sql(const ApplicationQuery& wanted) {
    std::string read = "SELECT id, owner, ranks, program, name, outline, submitted_us FROM application";
    const char* glue = " WHERE ";
    const auto where = [&](bool is_asked, const char* condition) {
        if (!is_asked) return;
        read += std::string(glue) + condition;
        glue = " AND ";
    };
    where(!wanted.states.empty(), "state=?");
    where(wanted.owner.has_value(), "owner=?");
    where(wanted.since.has_value(), "submitted_us>=?");
    where(wanted.after.has_value(), "(submitted_us, id)<(?,?)");
    read += std::string(kInOrder);
    if (reads_of(wanted) == 1) return read;
    std::string sql;
    for (std::size_t i = 0; i < reads_of(wanted); ++i)
        sql += (i == 0 ? "SELECT * FROM (" : " UNION ALL SELECT * FROM (") + read + ") AS page";
    return sql + std::string(kInOrder);
}

void bind_application_list(Query& query, const ApplicationQuery& wanted) {
    const auto limit = static_cast<std::int64_t>(wanted.limit);
    for (std::size_t i = 0; i < reads_of(wanted); ++i) {
        if (!wanted.states.empty()) query.bind(to_string(wanted.states[i]));
        if (wanted.owner) query.bind(to_uri(*wanted.owner));
        if (wanted.since) query.bind(to_microseconds(*wanted.since));
        if (wanted.after) query.bind(to_microseconds(wanted.after->submitted)).bind(to_string(wanted.after->id));
        query.bind(limit);
    }
    if (reads_of(wanted) > 1) query.bind(limit);
}

Result<std::vector<ApplicationSummary>> list_applications(Database& database, const ApplicationQuery& wanted) {
    Query query(database, application_list_sql(wanted));
    bind_application_list(query, wanted);
    return rows_of(query, summary_in);
}

std::string application_count_sql(bool of_one_owner) {
    // A bare column would draw SQLite to an index that begins with it.
    const std::string whose = of_one_owner ? " AND owner || ''=?" : "";
    const auto count = [&](const char* which) {
        return std::string("SELECT state || '', count(*) FROM application WHERE ") + which + whose +
               " GROUP BY state || ''";
    };
    return count("open=1") + " UNION ALL " + count("open=0 AND ended_us>?");
}

Result<std::map<ApplicationState, std::size_t>> count_applications(Database& database,
                                                                   const std::optional<Caller>& owner,
                                                                   Time ended_after) {
    Query query(database, application_count_sql(owner.has_value()));
    if (owner) query.bind(to_uri(*owner));
    query.bind(to_microseconds(ended_after));
    if (owner) query.bind(to_uri(*owner));
    std::map<ApplicationState, std::size_t> counts;
    const Result<void> read = for_each_row(query, [&](const Query& row) -> Result<void> {
        const std::optional<ApplicationState> state = find_word<ApplicationState>(row.text(0));
        if (!state) return corrupt(invalid("bad state"));
        counts[*state] += static_cast<std::size_t>(row.integer(1));  // an ended one may still be open
        return {};
    });
    if (!read) return read.error();
    return counts;
}

}  // namespace zbs::sql
