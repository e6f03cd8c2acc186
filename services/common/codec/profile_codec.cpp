#include "services/common/codec/json/words.hpp"
#include "services/common/codec/message_codec.hpp"
#include "services/common/codec/model_codec.hpp"

namespace zbs::codec {
namespace {

constexpr double kMaxError = 1e7;

std::optional<Duration> read_run_time(JsonReader& in, const char* key) {
    if (!in.has(key)) return {};
    return in.seconds(key, limits::kMaxRunSeconds);
}

}  // namespace

Json encode(const ProfileSummary& summary) {
    Json json = {{"id", to_string(summary.id)}, {"at_us", to_microseconds(summary.at)},
                 {"program", summary.program},  {"arguments", summary.arguments},
                 {"ranks", summary.ranks},      {"complete", summary.complete}};
    if (summary.application) json["application"] = to_string(*summary.application);
    if (!summary.digest.empty()) json["digest"] = summary.digest;
    if (summary.predicted) json["predicted_s"] = to_seconds(*summary.predicted);
    if (summary.measured) json["measured_s"] = to_seconds(*summary.measured);
    if (!summary.unseen.empty()) json["unseen"] = summary.unseen;
    return json;
}

Json encode(const ProfileRow& row) {
    Json json = encode(row.profile);
    if (row.error)
        json["error"] = {{"runs", row.error->runs},
                         {"mean", row.error->mean},
                         {"spread", row.error->spread},
                         {"last", row.error->last}};
    return json;
}

Result<ProfileRow> decode_profile_row(const Json& json, const std::string& pointer) {
    JsonReader in(json, pointer);
    ProfileRow row;
    ProfileSummary& profile = row.profile;
    profile.id = read_id<ProfileId>(in, "id");
    if (in.has("application")) profile.application = read_id<ApplicationId>(in, "application");
    profile.at = time_from_microseconds(in.integer("at_us", 0, INT64_MAX));
    profile.program = in.text("program", limits::kMaxArgumentBytes);
    profile.arguments = in.text("arguments", limits::kMaxArgumentClassBytes);
    profile.ranks = static_cast<int>(in.integer("ranks", 1, limits::kMaxRanks));
    profile.complete = in.boolean("complete");
    if (in.has("digest")) profile.digest = read_digest(in, "digest");
    profile.predicted = read_run_time(in, "predicted_s");
    profile.measured = read_run_time(in, "measured_s");
    Result<UnseenCalls> unseen = read_unseen(in);
    if (!unseen) return unseen.error();
    profile.unseen = *std::move(unseen);
    if (in.has("error")) {
        JsonReader e(in.object("error"), in.pointer_of("error"));
        Result<PredictionError> error =
            e.finish(PredictionError{static_cast<int>(e.integer("runs", 1, 1'000)), e.number("mean", -1, kMaxError),
                                     e.number("spread", 1, kMaxError), e.number("last", -1, kMaxError)});
        if (!error) return error.error();
        row.error = *error;
    }
    return in.finish(std::move(row));
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

Json encode(const ProfileImport& wanted) {
    Json json = {{"id", to_string(wanted.id)}, {"argv", wanted.argv}, {"model", encode(wanted.model)}};
    if (wanted.measured) json["measured_s"] = to_seconds(*wanted.measured);
    return json;
}

Result<ProfileImport> decode_profile_import(const Json& json, const ProfileId& otherwise) {
    JsonReader in(json);
    ProfileImport wanted;
    wanted.id = read_id_or(in, "id", otherwise);
    wanted.argv = in.texts("argv", limits::kMaxArguments, limits::kMaxArgumentBytes);
    if (in.ok() && (wanted.argv.empty() || wanted.argv[0].empty())) in.fail("argv", "must name a program");
    // The program is a field of the stored model, whose reader has this limit.
    if (in.ok() && wanted.argv[0].size() > JsonReader::kMaxText)
        in.fail("argv/0", "is longer than " + std::to_string(JsonReader::kMaxText) + " bytes");
    Result<ApplicationModel> model = decode_model(in.object("model"), in.pointer_of("model"));
    if (!in.ok()) return in.error();
    if (!model) return model.error();
    wanted.model = *std::move(model);
    wanted.measured = read_run_time(in, "measured_s");
    if (in.ok() && wanted.measured && *wanted.measured <= Duration{0}) in.fail("measured_s", "must be above 0");
    return in.finish(std::move(wanted));
}

}  // namespace zbs::codec
