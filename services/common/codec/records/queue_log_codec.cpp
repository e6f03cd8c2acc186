#include "services/common/codec/records/queue_log_codec.hpp"

#include <utility>

#include "services/common/codec/json/words.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

constexpr std::int64_t kMaxProcessors = 10'000'000;
/// Of all masks of one decision, 32 MiB: a few ranges in the text are millions of processors in memory.
constexpr std::size_t kMaxMaskBits = std::size_t{1} << 28;
constexpr std::int64_t kFarAwayUs = kMaxQueueTime.count();
constexpr std::int64_t kMostNumber = std::int64_t{1} << 53;
constexpr std::int64_t kMostPriority = 1'000'000;

/// The processors that are in it, as [first, last] pairs.
Json encode_mask(const std::vector<bool>& mask) {
    Json ranges = Json::array();
    for (std::size_t i = 0; i < mask.size();) {
        std::size_t end = i;
        while (end < mask.size() && mask[end]) ++end;
        if (end > i) ranges.push_back({i, end - 1});
        i = end + 1;
    }
    return {{"of", mask.size()}, {"ranges", std::move(ranges)}};
}

Result<std::vector<bool>> decode_mask(JsonReader in) {
    std::vector<bool> mask(static_cast<std::size_t>(in.integer("of", 1, kMaxProcessors)), false);
    const Json& ranges = in.array("ranges", mask.size());
    for (std::size_t i = 0; i < ranges.size() && in.ok(); ++i) {
        const Json& range = ranges[i];
        const bool pair = range.is_array() && range.size() == 2 && range[0].is_number_unsigned() &&
                          range[1].is_number_unsigned() &&
                          range[0].get<std::uint64_t>() <= range[1].get<std::uint64_t>() &&
                          range[1].get<std::uint64_t>() < mask.size();
        if (!pair) {
            in.fail("ranges/" + std::to_string(i), "must be the first and the last of processors that there are");
            break;
        }
        for (std::uint64_t p = range[0].get<std::uint64_t>(); p <= range[1].get<std::uint64_t>(); ++p) mask[p] = true;
    }
    return in.finish(std::move(mask));
}

Json encode_start(Duration start) { return start == kNoStart ? Json(nullptr) : Json(start.count()); }

Duration read_start(JsonReader& in, const char* key) {
    if (in.any(key).is_null()) return kNoStart;
    return Duration{in.integer(key, -kFarAwayUs, kFarAwayUs)};
}
Duration read_steady(JsonReader& in, const char* key) { return Duration{in.integer(key, -kFarAwayUs, kFarAwayUs)}; }

Json encode_ids(const std::vector<PartId>& ids) {
    Json list = Json::array();
    for (const PartId& id : ids) list.push_back(to_string(id));
    return list;
}

std::vector<PartId> read_ids(JsonReader& in, const std::string& key, const Json& list) {
    std::vector<PartId> ids;
    for (std::size_t i = 0; i < list.size() && in.ok(); ++i) {
        const auto id = list[i].is_string() ? parse_id128(list[i].get<std::string>()) : std::nullopt;
        if (id)
            ids.push_back(PartId{*id});
        else
            in.fail(key + "/" + std::to_string(i), "must be a part's id");
    }
    return ids;
}

std::vector<std::int32_t> read_processors(JsonReader& in, const std::string& key, const Json& list) {
    std::vector<std::int32_t> processors;
    for (std::size_t i = 0; i < list.size() && in.ok(); ++i) {
        if (!list[i].is_number_unsigned() || list[i].get<std::uint64_t>() >= kMaxProcessors)
            in.fail(key + "/" + std::to_string(i), "must be a processor's number");
        else
            processors.push_back(list[i].get<std::int32_t>());
    }
    return processors;
}

/// Of a list of lists; fails where it is something else.
const Json& inner(JsonReader& in, const std::string& key, const Json& list) {
    static const Json kNone = Json::array();
    if (list.is_array()) return list;
    in.fail(key, "must be an array");
    return kNone;
}

Json encode_turns(const Turns& turns) {
    Json rows = Json::array(), shares = Json::object();
    for (const std::vector<PartId>& row : turns.rows) rows.push_back(encode_ids(row));
    for (const auto& [id, percent] : turns.shares) shares[to_string(id)] = percent;
    return {{"rows", std::move(rows)},
            {"shares", std::move(shares)},
            {"stopped", encode_ids(turns.stopped)},
            {"slice_us", turns.slice.count()}};
}

Result<Turns> decode_turns(JsonReader in) {
    Turns turns;
    const Json& rows = in.array("rows", limits::kMaxPartsInQueue);
    for (std::size_t i = 0; i < rows.size() && in.ok(); ++i) {
        const std::string key = "rows/" + std::to_string(i);
        turns.rows.push_back(read_ids(in, key, inner(in, key, rows[i])));
    }
    const Json& shares = in.object("shares");
    for (auto it = shares.begin(); it != shares.end() && in.ok(); ++it) {
        const auto id = parse_id128(it.key());
        if (!id || !it.value().is_number_unsigned() || it.value().get<std::uint64_t>() > 100)
            in.fail("shares", "must have per cent by the ids of parts");
        else
            turns.shares.emplace(PartId{*id}, it.value().get<std::int32_t>());
    }
    turns.stopped = read_ids(in, "stopped", in.array("stopped", limits::kMaxPartsInQueue));
    turns.slice = Duration{in.integer("slice_us", 0, kFarAwayUs)};
    return in.finish(std::move(turns));
}

Json encode_time(Time at) { return at == kNever ? Json(nullptr) : Json(at.time_since_epoch().count()); }

Time read_instant(JsonReader& in, const char* key) {
    if (in.any(key).is_null()) return kNever;
    return Time{Duration{in.integer(key, -kFarAwayUs, kFarAwayUs)}};
}

Json encode_view(const QueueView& view) {
    Json parts = Json::array(), rows = Json::array();
    for (const auto& [id, record] : view.parts)
        parts.push_back({{"part", to_string(id)},
                         {"number", record.job.id.value},
                         {"place", record.arrival},
                         {"runs", record.phase == JobPhase::kRunning},
                         {"submitted_us", record.job.submit.time_since_epoch().count()},
                         {"walltime_us", record.job.walltime.count()},
                         {"processors", record.job.processors},
                         {"priority", record.job.priority},
                         {"least_share", record.job.least_share},
                         {"waiting_since_us", record.waiting_since.time_since_epoch().count()},
                         {"left_us", record.walltime_left.count()},
                         {"promised_us", encode_time(record.reserved)},
                         {"latest_us", encode_time(record.latest_start)},
                         {"promise", record.reservation_order},
                         {"share", record.share},
                         {"share_of", record.share_of},
                         {"served_us", record.served.count()},
                         {"served_until_us", record.served_until.time_since_epoch().count()},
                         {"started_us", encode_time(record.start)},
                         {"expected_end_us", encode_time(record.expected_end)}});
    for (const std::vector<QueueView::Slots>& row : view.rows) {
        Json slots = Json::array();
        for (const auto& [id, processors, is_alternative] : row)
            slots.push_back({{"part", to_string(id)}, {"processors", processors}, {"alternative", is_alternative}});
        rows.push_back(std::move(slots));
    }
    Json load = nullptr;
    if (view.load)
        load = {{"load", static_cast<int>(view.load->load)}, {"at_us", view.load->at.time_since_epoch().count()}};
    return {{"parts", std::move(parts)},           {"rows", std::move(rows)},        {"load", std::move(load)},
            {"stopped", encode_ids(view.stopped)}, {"slice_us", view.slice.count()}, {"next_number", view.next_number},
            {"next_place", view.next_arrival}};
}

Result<QueueView::Known> decode_known(JsonReader in) {
    QueueView::Known known{.id = read_id<PartId>(in, "part"), .record = {}};
    JobRecord& record = known.record;
    const auto at = [&in](const char* key) { return Time{read_steady(in, key)}; };
    record.job = {.id = JobId{in.integer("number", 0, kMostNumber)},
                  .submit = at("submitted_us"),
                  .walltime = Duration{in.integer("walltime_us", 1, kFarAwayUs)},
                  .processors = static_cast<std::int32_t>(in.integer("processors", 1, kMaxProcessors)),
                  .priority = static_cast<std::int32_t>(in.integer("priority", -kMostPriority, kMostPriority)),
                  .least_share = static_cast<std::int8_t>(in.integer("least_share", 0, 100))};
    record.allocated = record.job.processors;
    record.arrival = static_cast<std::uint64_t>(in.integer("place", 0, kMostNumber));
    record.phase = in.boolean("runs") ? JobPhase::kRunning : JobPhase::kWaiting;
    record.waiting_since = at("waiting_since_us");
    record.walltime_left = Duration{in.integer("left_us", 1, kFarAwayUs)};
    record.reserved = read_instant(in, "promised_us");
    record.latest_start = read_instant(in, "latest_us");
    record.reservation_order = static_cast<std::uint64_t>(in.integer("promise", 0, kMostNumber));
    record.share = static_cast<std::int32_t>(in.integer("share", 0, 100'000));
    record.share_of = static_cast<std::int32_t>(in.integer("share_of", 1, 100'000));
    record.served = Duration{in.integer("served_us", 0, kFarAwayUs)};
    record.served_until = at("served_until_us");
    record.start = read_instant(in, "started_us");
    record.expected_end = read_instant(in, "expected_end_us");
    return in.finish(std::move(known));
}

Result<QueueView> decode_view(JsonReader in) {
    QueueView view;
    const Json& parts = in.array("parts", limits::kMaxPartsInQueue);
    for (std::size_t i = 0; i < parts.size() && in.ok(); ++i) {
        Result<QueueView::Known> known =
            decode_known(JsonReader(parts[i], in.pointer_of("parts/" + std::to_string(i))));
        if (!known) return known.error();
        view.parts.push_back(*std::move(known));
    }
    const Json& rows = in.array("rows", limits::kMaxPartsInQueue);
    for (std::size_t i = 0; i < rows.size() && in.ok(); ++i) {
        const std::string key = "rows/" + std::to_string(i);
        const Json& row = inner(in, key, rows[i]);
        std::vector<QueueView::Slots>& slots = view.rows.emplace_back();
        for (std::size_t k = 0; k < row.size() && in.ok(); ++k) {
            JsonReader one(row[k], in.pointer_of(key + "/" + std::to_string(k)));
            QueueView::Slots each{.id = read_id<PartId>(one, "part"), .processors = {}};
            each.processors = read_processors(one, "processors", one.array("processors", kMaxProcessors));
            each.is_alternative = one.boolean("alternative");
            Result<QueueView::Slots> done = one.finish(std::move(each));
            if (!done) return done.error();
            slots.push_back(*std::move(done));
        }
    }
    if (!in.any("load").is_null()) {
        JsonReader one(in.object("load"), in.pointer_of("load"));
        const FoundLoad load{static_cast<Load>(one.integer("load", 0, 2)), Time{read_steady(one, "at_us")}};
        const Result<FoundLoad> done = one.finish(load);
        if (!done) return done.error();
        view.load = *done;
    }
    view.stopped = read_ids(in, "stopped", in.array("stopped", limits::kMaxPartsInQueue));
    view.slice = Duration{in.integer("slice_us", 0, kFarAwayUs)};
    view.next_number = in.integer("next_number", 0, kMostNumber);
    view.next_arrival = static_cast<std::uint64_t>(in.integer("next_place", 0, kMostNumber));
    return in.finish(std::move(view));
}

struct Writer {
    Json operator()(const QueueOpened& e) const {
        return {{"event", "opened"}, {"processors", e.processors}, {"rows", e.rows}};
    }
    Json operator()(const DisciplineChosen& e) const { return {{"event", "discipline"}, {"policy", e.discipline}}; }
    Json operator()(const PartWaits& e) const {
        return {{"event", "waits"},
                {"part", to_string(e.part.id)},
                {"party", e.part.party},
                {"since_us", e.part.since.count()},
                {"processors", e.part.processors},
                {"length_us", e.part.length.count()},
                {"priority", e.part.priority},
                {"share", e.part.share}};
    }
    Json operator()(const PartLeaves& e) const { return {{"event", "leaves"}, {"part", to_string(e.id)}}; }
    Json operator()(const ProcessorsPromised& e) const {
        return {{"event", "promised"},
                {"part", to_string(e.id)},
                {"party", e.party},
                {"processors", e.promise.processors},
                {"begin_us", e.promise.when.begin.count()},
                {"end_us", e.promise.when.end.count()},
                {"expected_end_us", e.promise.expected_end.count()},
                {"share", e.promise.share},
                {"at_us", e.at.count()}};
    }
    Json operator()(const PromiseEnded& e) const {
        return {{"event", "ended"}, {"part", to_string(e.id)}, {"at_us", e.at.count()}};
    }
    Json operator()(const WeightSet& e) const {
        return {{"event", "weight"}, {"party", e.party}, {"weight", e.weight}};
    }
    Json operator()(const Decided& e) const {
        Json usable = Json::object();
        for (const auto& [id, mask] : e.usable) usable[to_string(id)] = encode_mask(mask);
        Json starts = Json::array(), outlooks = Json::array();
        for (const PartId& id : e.decision.starts) starts.push_back(to_string(id));
        for (const Outlook& outlook : e.decision.outlooks)
            outlooks.push_back({{"part", to_string(outlook.id)},
                                {"place", outlook.place},
                                {"start_us", encode_start(outlook.start)},
                                {"promised_us", encode_start(outlook.promised)},
                                {"waits_for", to_string(outlook.reason)}});
        return {{"event", "decided"},
                {"at_us", e.at.count()},
                {"usable", std::move(usable)},
                {"starts", std::move(starts)},
                {"places", e.decision.places},
                {"outlooks", std::move(outlooks)},
                {"turns", encode_turns(e.decision.turns)},
                {"wake_at_us", encode_start(e.decision.wake_at)}};
    }
    Json operator()(const QueueContinued& e) const {
        return {{"event", "continued"}, {"at_us", e.at.count()}, {"used", e.used}, {"view", encode_view(e.view)}};
    }
};

Result<QueueEvent> read_promised(JsonReader& in) {
    ProcessorsPromised event{read_id<PartId>(in, "part"), in.text("party", 256), {}, read_steady(in, "at_us")};
    event.promise.processors = read_processors(in, "processors", in.array("processors", kMaxProcessors));
    event.promise.when = {read_steady(in, "begin_us"), read_steady(in, "end_us")};
    event.promise.expected_end = read_steady(in, "expected_end_us");
    event.promise.share = static_cast<std::int32_t>(in.integer("share", 0, 100));
    if (in.ok() && event.promise.when.end < event.promise.when.begin) in.fail("end_us", "is before begin_us");
    return in.finish(QueueEvent(std::move(event)));
}

Result<QueueEvent> read_decided(JsonReader& in) {
    Decided event{.at = read_steady(in, "at_us")};
    const Json& usable = in.object("usable");
    if (!in.ok()) return in.error();
    std::size_t bits = 0;
    for (auto it = usable.begin(); it != usable.end(); ++it) {
        const auto id = parse_id128(it.key());
        if (!id) {
            in.fail("usable", "has a key that is no part's id");
            return in.error();
        }
        Result<std::vector<bool>> mask =
            decode_mask(JsonReader(it.value(), in.pointer_of("usable/" + pointer_step(it.key()))));
        if (!mask) return mask.error();
        bits += mask->size();
        if (bits > kMaxMaskBits) {
            in.fail("usable", "is of more processors than one decision can be of");
            return in.error();
        }
        event.usable.emplace(PartId{*id}, *std::move(mask));
    }
    event.decision.starts = read_ids(in, "starts", in.array("starts", limits::kMaxPartsInQueue));
    const Json& places = in.array("places", limits::kMaxPartsInQueue);
    for (std::size_t i = 0; i < places.size() && in.ok(); ++i) {
        const std::string key = "places/" + std::to_string(i);
        event.decision.places.push_back(read_processors(in, key, inner(in, key, places[i])));
    }
    if (!in.ok()) return in.error();
    Result<Turns> turns = decode_turns(JsonReader(in.object("turns"), in.pointer_of("turns")));
    if (!turns) return turns.error();
    event.decision.turns = *std::move(turns);
    event.decision.wake_at = read_start(in, "wake_at_us");
    const Json& outlooks = in.array("outlooks", limits::kMaxPartsInQueue);
    for (std::size_t i = 0; i < outlooks.size() && in.ok(); ++i) {
        JsonReader o(outlooks[i], in.pointer_of("outlooks/" + std::to_string(i)));
        Outlook outlook{.id = read_id<PartId>(o, "part"),
                        .place = static_cast<std::size_t>(o.integer("place", 1, limits::kMaxPartsInQueue)),
                        .start = read_start(o, "start_us"),
                        .promised = read_start(o, "promised_us"),
                        .reason = read_word<WaitsFor>(o, "waits_for")};
        Result<Outlook> done = o.finish(outlook);
        if (!done) return done.error();
        event.decision.outlooks.push_back(*done);
    }
    return in.finish(QueueEvent(std::move(event)));
}

Result<QueueEvent> read_continued(JsonReader& in) {
    QueueContinued event{.at = read_steady(in, "at_us"), .used = {}, .view = {}};
    const Json& used = in.object("used");
    for (auto it = used.begin(); it != used.end() && in.ok(); ++it) {
        const bool good = it.key().size() <= 256 && it.value().is_number() && it.value().get<double>() >= 0;
        if (good)
            event.used.emplace(it.key(), it.value().get<double>());
        else
            in.fail("used/" + pointer_step(it.key()), "must be processors times seconds, 0 or more");
    }
    if (!in.ok()) return in.error();
    Result<QueueView> view = decode_view(JsonReader(in.object("view"), in.pointer_of("view")));
    if (!view) return view.error();
    event.view = *std::move(view);
    return in.finish(QueueEvent(std::move(event)));
}

}  // namespace

Json encode(const QueueEvent& event) { return std::visit(Writer{}, event); }

Result<QueueEvent> decode_queue_event(const Json& json) {
    JsonReader in(json);
    const std::string kind = in.text("event", 32);
    if (!in.ok()) return in.error();
    if (kind == "opened")
        return in.finish(QueueEvent(QueueOpened{static_cast<std::int32_t>(in.integer("processors", 1, kMaxProcessors)),
                                                static_cast<std::int32_t>(in.integer("rows", 1, kMaxProcessors))}));
    if (kind == "discipline") return in.finish(QueueEvent(DisciplineChosen{in.text("policy", 1024)}));
    if (kind == "waits") {
        WaitingPart part{.id = read_id<PartId>(in, "part"),
                         .party = in.text("party", 256),
                         .since = read_steady(in, "since_us"),
                         .processors = static_cast<std::int32_t>(in.integer("processors", 1, kMaxProcessors)),
                         .length = Duration{in.integer("length_us", 1, kFarAwayUs)},
                         .priority = static_cast<std::int32_t>(in.integer("priority", -kMostPriority, kMostPriority)),
                         .share = static_cast<std::int32_t>(in.integer("share", 0, 100))};
        return in.finish(QueueEvent(PartWaits{std::move(part)}));
    }
    if (kind == "leaves") return in.finish(QueueEvent(PartLeaves{read_id<PartId>(in, "part")}));
    if (kind == "promised") return read_promised(in);
    if (kind == "ended")
        return in.finish(QueueEvent(PromiseEnded{read_id<PartId>(in, "part"), read_steady(in, "at_us")}));
    if (kind == "weight")
        return in.finish(QueueEvent(WeightSet{in.text("party", 256), in.number("weight", 1e-9, 1e9)}));
    if (kind == "decided") return read_decided(in);
    if (kind == "continued") return read_continued(in);
    in.fail("event",
            one_of({"continued", "opened", "discipline", "waits", "leaves", "promised", "ended", "weight", "decided"}));
    return in.error();
}

Json encode(const QueueRecord& queue) {
    return {{"policy", queue.policy}, {"at_us", to_microseconds(queue.at)}, {"state", Writer{}(queue.state)}};
}

Result<QueueRecord> decode_queue_record(const Json& json) {
    JsonReader in(json);
    QueueRecord queue{.policy = in.text("policy", 1024),
                      .at = time_from_microseconds(in.integer("at_us", 0, kMostNumber)),
                      .state = {}};
    Result<QueueEvent> state = decode_queue_event(in.object("state"));
    if (!state) return state.error();
    if (auto* continued = std::get_if<QueueContinued>(&*state))
        queue.state = std::move(*continued);
    else
        in.fail("state", "must be the state of a queue");
    return in.finish(std::move(queue));
}

Result<std::vector<QueueEvent>> read_queue_log(std::string_view text) {
    if (text.size() > limits::kMaxQueueLogBytes)
        return Error{
            ErrorCode::kTooLarge,
            "a queue's log may have " + std::to_string(limits::kMaxQueueLogBytes) + " bytes; take a part of it",
            {}};
    std::vector<QueueEvent> events;
    for (std::size_t line = 1; !text.empty(); ++line) {
        const std::size_t end = text.find('\n');
        if (end == std::string_view::npos) break;  // unfinished
        const auto wrong = [&](const Error& error) {
            return Error{error.code, "line " + std::to_string(line) + ": " + error.message, error.pointer};
        };
        const Result<Json> json = parse(text.substr(0, end));
        if (!json) return wrong(json.error());
        Result<QueueEvent> event = decode_queue_event(*json);
        if (!event) return wrong(event.error());
        events.push_back(*std::move(event));
        text.remove_prefix(end + 1);
    }
    return events;
}

}  // namespace zbs::codec
