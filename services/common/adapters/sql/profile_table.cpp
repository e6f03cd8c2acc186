#include "services/common/adapters/sql/profile_table.hpp"

#include "services/common/adapters/sql/statements.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::sql {
namespace {

using codec::Json;

constexpr std::int64_t kNoTime = -1;

Error unreadable(const Error& error) {
    return {ErrorCode::kInternal, "the database holds a profile that this version cannot read: " + error.message,
            error.pointer};
}

constexpr std::string_view kSummary =
    "SELECT id, at_us, application, program, ranks, complete, digest, arguments, predicted_us, measured_us, "
    "unseen";
constexpr int kAfterSummary = 11;
Result<ProfileSummary> read_summary(const Query& query) {
    const auto id = parse_id128(query.text(0));
    const std::string of = query.text(2);
    const auto application = parse_id128(of);
    if (!id || (!of.empty() && !application)) return unreadable(invalid("bad id"));
    const auto time = [&](int column) {
        const std::int64_t us = query.integer(column);
        return us == kNoTime ? std::nullopt : std::optional(Duration{us});
    };
    const Result<Json> calls = codec::parse(query.text(10));
    if (!calls) return unreadable(invalid("not JSON"));
    Result<UnseenCalls> unseen = codec::decode_unseen(*calls);
    if (!unseen) return unreadable(unseen.error());
    return ProfileSummary{ProfileId{*id},
                          application ? std::optional(ApplicationId{*application}) : std::nullopt,
                          time_from_microseconds(query.integer(1)),
                          query.text(3),
                          static_cast<int>(query.integer(4)),
                          query.integer(5) != 0,
                          query.text(6),
                          query.text(7),
                          time(8),
                          time(9),
                          *std::move(unseen)};
}

Result<std::optional<Profile>> read_profile(Query& query, const Caller& owner) {
    const Result<bool> row = query.step();
    if (!row) return row.error();
    if (!*row) return std::optional<Profile>{};
    const Result<ProfileSummary> summary = read_summary(query);
    if (!summary) return summary.error();
    const Result<Json> json = codec::parse(query.text(kAfterSummary));
    if (!json) return unreadable(invalid("not JSON"));
    Result<ApplicationModel> model = codec::decode_model(*json);
    if (!model) return unreadable(model.error());
    return std::optional<Profile>{Profile{summary->id, owner, summary->application, summary->at, *std::move(model),
                                          summary->digest, summary->arguments, summary->predicted, summary->measured}};
}

}  // namespace

Result<void> ProfileTable::insert(const Profile& profile) {
    return database_.together([&]() -> Result<void> {
        Query query(database_,
                    "INSERT INTO profile(id, owner, program, ranks, complete, at_us, application, digest, arguments, "
                    "predicted_us, measured_us, unseen, model) VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)");
        query.bind(to_string(profile.id)).bind(to_uri(profile.owner)).bind(profile.model.program);
        query.bind(static_cast<std::int64_t>(profile.model.graph.task_count()))
            .bind(std::int64_t{profile.model.complete});
        query.bind(to_microseconds(profile.at))
            .bind(profile.application ? to_string(*profile.application) : std::string{});
        query.bind(profile.digest).bind(profile.arguments);
        for (const std::optional<Duration>& time : {profile.predicted, profile.measured})
            query.bind(std::int64_t{time ? time->count() : kNoTime});
        query.bind(codec::dump(codec::encode_unseen(profile.model.unseen)));
        query.bind(codec::dump(codec::encode(profile.model)));
        if (auto done = carry_out(query); !done) return done;
        return make_room(profile);
    });
}

Result<std::vector<ProfileSummary>> ProfileTable::of(const ProfileStore::ProgramQuery& wanted) {
    Query query(
        database_,
        std::string(kSummary) +
            " FROM profile WHERE owner=? AND (program=? OR (digest<>'' AND digest=?)) ORDER BY id DESC LIMIT ?");
    query.bind(to_uri(wanted.owner)).bind(wanted.program).bind(wanted.digest);
    query.bind(static_cast<std::int64_t>(wanted.limit));
    return rows_of(query, read_summary);
}

Result<std::optional<Profile>> ProfileTable::load(const Caller& owner, const ProfileId& id) {
    Query query(database_, std::string(kSummary) + ", model FROM profile WHERE owner=? AND id=?");
    query.bind(to_uri(owner)).bind(to_string(id));
    return read_profile(query, owner);
}

Result<std::optional<Caller>> ProfileTable::owner_of(const ProfileId& id) {
    Query query(database_, "SELECT owner FROM profile WHERE id=?");
    query.bind(to_string(id));
    const Result<bool> row = query.step();
    if (!row) return row.error();
    if (!*row) return std::optional<Caller>{};
    return parse_identity(query.text(0));
}

Result<std::vector<ProfileSummary>> ProfileTable::list(const Caller& owner) {
    Query query(database_, std::string(kSummary) + " FROM profile WHERE owner=? ORDER BY id DESC LIMIT 1000");
    query.bind(to_uri(owner));
    return rows_of(query, read_summary);
}

/// What is older than the newest of its kind, and of its owner, gives way.
Result<void> ProfileTable::make_room(const Profile& profile) {
    Query kind(database_,
               "DELETE FROM profile WHERE id IN (SELECT id FROM profile WHERE owner=? AND program=? AND digest=? AND "
               "arguments=? AND ranks=? AND complete=? ORDER BY id DESC LIMIT 9223372036854775807 OFFSET ?)");
    kind.bind(to_uri(profile.owner)).bind(profile.model.program).bind(profile.digest).bind(profile.arguments);
    kind.bind(static_cast<std::int64_t>(profile.model.graph.task_count()))
        .bind(std::int64_t{profile.model.complete})
        .bind(static_cast<std::int64_t>(kMaxProfilesOfAKind));
    if (auto done = carry_out(kind); !done) return done;
    Query all(database_,
              "DELETE FROM profile WHERE id IN (SELECT id FROM profile WHERE owner=? ORDER BY id DESC LIMIT "
              "9223372036854775807 "
              "OFFSET ?)");
    all.bind(to_uri(profile.owner)).bind(static_cast<std::int64_t>(kMaxProfilesOfAnOwner));
    return carry_out(all);
}

}  // namespace zbs::sql
