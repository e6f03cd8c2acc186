#include "services/common/codec/json/fields.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::codec {
namespace {

constexpr double kMaxError = 1e7;

UnseenCalls read_unseen_calls(JsonReader& in, const char*) {
    Result<UnseenCalls> unseen = read_unseen(in);
    if (!unseen) return in.fail(unseen.error()), UnseenCalls{};
    return *std::move(unseen);
}

void check_import(JsonReader& in, const ProfileImport& wanted) {
    if (wanted.argv.empty() || wanted.argv[0].empty()) in.fail("argv", "must name a program");
    // The program is a field of the stored model, whose reader has this limit.
    else if (wanted.argv[0].size() > JsonReader::kMaxText)
        in.fail("argv/0", "is longer than " + std::to_string(JsonReader::kMaxText) + " bytes");
    if (wanted.measured && *wanted.measured <= Duration{0}) in.fail("measured_s", "must be above 0");
}

// One field a line.
// clang-format off
constexpr auto kProfileSummary = fields<ProfileSummary>(
    id("id", &ProfileSummary::id),
    id("application", &ProfileSummary::application),
    time("at_us", &ProfileSummary::at),
    text("program", &ProfileSummary::program, limits::kMaxArgumentBytes),
    text("arguments", &ProfileSummary::arguments, limits::kMaxArgumentClassBytes),
    integer("ranks", &ProfileSummary::ranks, 1, limits::kMaxRanks),
    boolean("complete", &ProfileSummary::complete),
    optional(digest("digest", &ProfileSummary::digest)),
    seconds("predicted_s", &ProfileSummary::predicted, limits::kMaxRunSeconds),
    seconds("measured_s", &ProfileSummary::measured, limits::kMaxRunSeconds),
    optional(Field{"unseen", &ProfileSummary::unseen, kAsIs, read_unseen_calls}));

constexpr auto kPredictionError = fields<PredictionError>(
    integer("runs", &PredictionError::runs, 1, 1'000),
    number("mean", &PredictionError::mean, -1, kMaxError),
    number("spread", &PredictionError::spread, 1, kMaxError),
    number("last", &PredictionError::last, -1, kMaxError));

constexpr auto kProfileRow = fields<ProfileRow>(
    Inlined{&ProfileRow::profile, kProfileSummary},
    nested("error", &ProfileRow::error, kPredictionError));

constexpr auto kProfileImport = fields<ProfileImport>(
    defaulted(id("id", &ProfileImport::id)),
    texts("argv", &ProfileImport::argv, limits::kMaxArguments, limits::kMaxArgumentBytes),
    nested("model", &ProfileImport::model, Functions{encode, decode_model}),
    seconds("measured_s", &ProfileImport::measured, limits::kMaxRunSeconds)).checked(check_import);
// clang-format on

}  // namespace

Json encode(const ProfileSummary& summary) { return kProfileSummary.encode(summary); }
Json encode(const ProfileRow& row) { return kProfileRow.encode(row); }
Result<ProfileRow> decode_profile_row(const Json& json, const std::string& pointer) {
    return kProfileRow.decode(json, pointer);
}

Json encode(const std::vector<ProfileRow>& rows) {
    Json json = Json::array();
    for (const ProfileRow& row : rows) json.push_back(encode(row));
    return {{"profiles", std::move(json)}};
}

Result<std::vector<ProfileRow>> decode_profile_rows(const Json& json) {
    JsonReader in(json);
    const Json& list = in.array("profiles", kMaxProfilesOfAnOwner);
    std::vector<ProfileRow> rows;
    for (std::size_t i = 0; i < list.size() && in.ok(); ++i) {
        Result<ProfileRow> row = decode_profile_row(list[i], in.pointer_of("profiles/" + std::to_string(i)));
        if (!row) return row.error();
        rows.push_back(*std::move(row));
    }
    return in.finish(std::move(rows));
}

Json encode(const ProfileImport& wanted) { return kProfileImport.encode(wanted); }
Result<ProfileImport> decode_profile_import(const Json& json, const ProfileId& otherwise) {
    JsonReader in(json);
    ProfileImport wanted{.id = otherwise};
    kProfileImport.read(in, wanted);
    return in.finish(std::move(wanted));
}

}  // namespace zbs::codec
