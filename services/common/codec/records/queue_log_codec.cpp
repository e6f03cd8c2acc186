#include "services/common/codec/records/queue_log_codec.hpp"

#include <utility>

#include "services/common/codec/json/fields.hpp"
#include "services/common/messages/limits.hpp"

namespace zbs::codec {
namespace {

constexpr std::int64_t kMaxProcessors = 10'000'000;
/// Of all masks of one decision, 32 MiB: a few ranges in the text are millions of processors in memory.
constexpr std::size_t kMaxMaskBits = std::size_t{1} << 28;
constexpr std::int64_t kFarAwayUs = kMaxQueueTime.count();
constexpr std::int64_t kMostNumber = std::int64_t{1} << 53;
constexpr std::int64_t kMostPriority = 1'000'000;
constexpr std::size_t kMaxPartyBytes = 256;

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

Json write_usable(const UsableProcessors& usable) {
    Json json = Json::object();
    for (const auto& [id, mask] : usable) json[to_string(id)] = encode_mask(mask);
    return json;
}
UsableProcessors read_usable(JsonReader& in, const char* key) {
    UsableProcessors usable;
    std::size_t bits = 0;
    for (const auto& [id, ranges] : in.object(key).items()) {
        const auto part = parse_id128(id);
        if (!part) return in.fail(key, "has a key that is no part's id"), usable;
        Result<std::vector<bool>> mask =
            decode_mask(JsonReader(ranges, in.pointer_of(std::string(key) + "/" + pointer_step(id))));
        if (!mask) return in.fail(mask.error()), usable;
        bits += mask->size();
        if (bits > kMaxMaskBits) return in.fail(key, "is of more processors than one decision can be of"), usable;
        usable.emplace(PartId{*part}, *std::move(mask));
    }
    return usable;
}

Json encode_ids(const std::vector<PartId>& ids) {
    Json list = Json::array();
    for (const PartId& id : ids) list.push_back(to_string(id));
    return list;
}
Result<std::vector<PartId>> decode_ids(const Json& list, const std::string& pointer) {
    if (!list.is_array()) return invalid("must be an array", pointer);
    std::vector<PartId> ids;
    for (std::size_t i = 0; i < list.size(); ++i) {
        const auto id = list[i].is_string() ? parse_id128(list[i].get<std::string>()) : std::nullopt;
        if (!id) return invalid("must be a part's id", pointer + "/" + std::to_string(i));
        ids.push_back(PartId{*id});
    }
    return ids;
}

using Processors = std::vector<std::int32_t>;
Json encode_processors(const Processors& processors) { return processors; }
Result<Processors> decode_processors(const Json& list, const std::string& pointer) {
    if (!list.is_array()) return invalid("must be an array", pointer);
    Processors processors;
    for (std::size_t i = 0; i < list.size(); ++i) {
        if (!list[i].is_number_unsigned() || list[i].get<std::uint64_t>() >= kMaxProcessors)
            return invalid("must be a processor's number", pointer + "/" + std::to_string(i));
        processors.push_back(list[i].get<std::int32_t>());
    }
    return processors;
}

constexpr Functions kIds{encode_ids, decode_ids};
constexpr Functions kProcessors{encode_processors, decode_processors};

/// A member that is an array as a whole.
constexpr auto array(const char* key, auto member, std::size_t max_count, const auto& codec) {
    using Items = Value<decltype(member)>;
    return Field{key, member, codec.encode, [codec, max_count](JsonReader& in, const char* k) {
                     const Json& json = in.array(k, max_count);
                     Result<Items> items = in.ok() ? codec.decode(json, in.pointer_of(k)) : in.error();
                     if (!items) return in.fail(items.error()), Items{};
                     return *std::move(items);
                 }};
}
constexpr auto ids(const char* key, auto member) { return array(key, member, limits::kMaxPartsInQueue, kIds); }
constexpr auto processors(const char* key, auto member) { return array(key, member, kMaxProcessors, kProcessors); }
constexpr auto processor_count(const char* key, auto member) { return integer(key, member, 1, kMaxProcessors); }
constexpr auto steady(const char* key, auto member) { return microseconds(key, member, -kFarAwayUs, kFarAwayUs); }
constexpr auto length(const char* key, auto member, std::int64_t min = 0) {
    return microseconds(key, member, min, kFarAwayUs);
}
/// A steady time that is null where it is unknown.
constexpr auto start(const char* key, auto member) {
    return Field{key, member, [](Duration at) { return at == kNoStart ? Json(nullptr) : Json(at.count()); },
                 [](JsonReader& in, const char* k) {
                     return in.any(k).is_null() ? kNoStart : Duration{in.integer(k, -kFarAwayUs, kFarAwayUs)};
                 }};
}
constexpr auto instant(const char* key, auto member) {
    return Field{key, member, [](Time at) { return at.time_since_epoch().count(); },
                 [](JsonReader& in, const char* k) { return Time{Duration{in.integer(k, -kFarAwayUs, kFarAwayUs)}}; }};
}
/// One that is null for `kNever`.
constexpr auto instant_or_never(const char* key, auto member) {
    return Field{key, member,
                 [](Time at) { return at == kNever ? Json(nullptr) : Json(at.time_since_epoch().count()); },
                 [](JsonReader& in, const char* k) {
                     return in.any(k).is_null() ? kNever : Time{Duration{in.integer(k, -kFarAwayUs, kFarAwayUs)}};
                 }};
}

Json write_shares(const std::map<PartId, std::int32_t>& shares) {
    Json json = Json::object();
    for (const auto& [id, percent] : shares) json[to_string(id)] = percent;
    return json;
}
std::map<PartId, std::int32_t> read_shares(JsonReader& in, const char* key) {
    std::map<PartId, std::int32_t> shares;
    for (const auto& [part, percent] : in.object(key).items()) {
        const auto id = parse_id128(part);
        if (!id || !percent.is_number_unsigned() || percent.get<std::uint64_t>() > 100)
            return in.fail(key, "must have per cent by the ids of parts"), shares;
        shares.emplace(PartId{*id}, percent.get<std::int32_t>());
    }
    return shares;
}

std::map<std::string, double> read_used(JsonReader& in, const char* key) {
    std::map<std::string, double> used;
    for (const auto& [party, amount] : in.object(key).items()) {
        if (party.size() > kMaxPartyBytes || !amount.is_number() || amount.get<double>() < 0) {
            in.fail(std::string(key) + "/" + pointer_step(party), "must be processors times seconds, 0 or more");
            break;
        }
        used.emplace(party, amount.get<double>());
    }
    return used;
}

void check_interval(JsonReader& in, const ProcessorCalendar::Interval& when) {
    if (when.end < when.begin) in.fail("end_us", "is before begin_us");
}

/// As many as it asked for: none is resized live.
struct AllocatedRow {
    void write(Json&, const JobRecord&) const {}
    void read(JsonReader&, JobRecord& record) const { record.allocated = record.job.processors; }
};

// One field a line.
// clang-format off
constexpr auto kJob = fields<Job>(
    Field{"number", &Job::id, [](JobId id) { return id.value; },
          [](JsonReader& in, const char* key) { return JobId{in.integer(key, 0, kMostNumber)}; }},
    instant("submitted_us", &Job::submit),
    length("walltime_us", &Job::walltime, 1),
    processor_count("processors", &Job::processors),
    integer("priority", &Job::priority, -kMostPriority, kMostPriority),
    count("least_share", &Job::least_share, 100));

constexpr auto kRecord = fields<JobRecord>(
    Inlined{&JobRecord::job, kJob},
    AllocatedRow{},
    count("place", &JobRecord::arrival, kMostNumber),
    Field{"runs", &JobRecord::phase, [](JobPhase phase) { return phase == JobPhase::kRunning; },
          [](JsonReader& in, const char* key) { return in.boolean(key) ? JobPhase::kRunning : JobPhase::kWaiting; }},
    instant("waiting_since_us", &JobRecord::waiting_since),
    length("left_us", &JobRecord::walltime_left, 1),
    instant_or_never("promised_us", &JobRecord::reserved),
    instant_or_never("latest_us", &JobRecord::latest_start),
    count("promise", &JobRecord::reservation_order, kMostNumber),
    count("share", &JobRecord::share, 100'000),
    integer("share_of", &JobRecord::share_of, 1, 100'000),
    length("served_us", &JobRecord::served),
    instant("served_until_us", &JobRecord::served_until),
    instant_or_never("started_us", &JobRecord::start),
    instant_or_never("expected_end_us", &JobRecord::expected_end));

constexpr auto kKnown = fields<QueueView::Known>(
    id("part", &QueueView::Known::id),
    Inlined{&QueueView::Known::record, kRecord});

constexpr auto kSlots = fields<QueueView::Slots>(
    id("part", &QueueView::Slots::id),
    processors("processors", &QueueView::Slots::processors),
    boolean("alternative", &QueueView::Slots::is_alternative));

constexpr auto kFoundLoad = fields<FoundLoad>(
    Field{"load", &FoundLoad::load, [](Load load) { return static_cast<int>(load); },
          [](JsonReader& in, const char* key) { return static_cast<Load>(in.integer(key, 0, 2)); }},
    instant("at_us", &FoundLoad::at));
// clang-format on

/// A row of the slice matrix.
using SlotRow = std::vector<QueueView::Slots>;
Json encode_row(const SlotRow& row) {
    Json json = Json::array();
    for (const QueueView::Slots& slots : row) json.push_back(kSlots.encode(slots));
    return json;
}
Result<SlotRow> decode_row(const Json& json, const std::string& pointer) {
    if (!json.is_array()) return invalid("must be an array", pointer);
    SlotRow row;
    for (std::size_t i = 0; i < json.size(); ++i) {
        Result<QueueView::Slots> slots = kSlots.decode(json[i], pointer + "/" + std::to_string(i));
        if (!slots) return slots.error();
        row.push_back(*std::move(slots));
    }
    return row;
}

/// Null where there is none.
struct LoadRow {
    static constexpr auto kField = nested("load", &QueueView::load, kFoundLoad);
    void write(Json& json, const QueueView& view) const {
        json["load"] = nullptr;
        kField.write(json, view);
    }
    void read(JsonReader& in, QueueView& view) const {
        if (!in.any("load").is_null()) kField.read(in, view);
    }
};

// clang-format off
constexpr auto kView = fields<QueueView>(
    list("parts", &QueueView::parts, limits::kMaxPartsInQueue, kKnown),
    list("rows", &QueueView::rows, limits::kMaxPartsInQueue, Functions{encode_row, decode_row}),
    LoadRow{},
    ids("stopped", &QueueView::stopped),
    length("slice_us", &QueueView::slice),
    count("next_number", &QueueView::next_number, kMostNumber),
    count("next_place", &QueueView::next_arrival, kMostNumber));

constexpr auto kTurns = fields<Turns>(
    list("rows", &Turns::rows, limits::kMaxPartsInQueue, kIds),
    Field{"shares", &Turns::shares, write_shares, read_shares},
    ids("stopped", &Turns::stopped),
    length("slice_us", &Turns::slice));

constexpr auto kOutlook = fields<Outlook>(
    id("part", &Outlook::id),
    integer("place", &Outlook::place, 1, limits::kMaxPartsInQueue),
    start("start_us", &Outlook::start),
    start("promised_us", &Outlook::promised),
    word("waits_for", &Outlook::reason));

constexpr auto kDecision = fields<QueueDecision>(
    ids("starts", &QueueDecision::starts),
    list("places", &QueueDecision::places, limits::kMaxPartsInQueue, kProcessors),
    nested("turns", &QueueDecision::turns, kTurns),
    start("wake_at_us", &QueueDecision::wake_at),
    list("outlooks", &QueueDecision::outlooks, limits::kMaxPartsInQueue, kOutlook));

constexpr auto kWaitingPart = fields<WaitingPart>(
    id("part", &WaitingPart::id),
    text("party", &WaitingPart::party, kMaxPartyBytes),
    steady("since_us", &WaitingPart::since),
    processor_count("processors", &WaitingPart::processors),
    length("length_us", &WaitingPart::length, 1),
    integer("priority", &WaitingPart::priority, -kMostPriority, kMostPriority),
    count("share", &WaitingPart::share, 100));

using Promise = ProcessorCalendar::Promise;
using Interval = ProcessorCalendar::Interval;
constexpr auto kPromise = fields<Promise>(
    processors("processors", &Promise::processors),
    Inlined{&Promise::when, fields<Interval>(
        steady("begin_us", &Interval::begin),
        steady("end_us", &Interval::end)).checked(check_interval)},
    steady("expected_end_us", &Promise::expected_end),
    count("share", &Promise::share, 100));

constexpr auto kEvent = one_of_these<QueueEvent>("event",
    alternative<QueueContinued>("continued",
        steady("at_us", &QueueContinued::at),
        Field{"used", &QueueContinued::used, kAsIs, read_used},
        nested("view", &QueueContinued::view, kView)),
    alternative<QueueOpened>("opened",
        processor_count("processors", &QueueOpened::processors),
        processor_count("rows", &QueueOpened::rows)),
    alternative<DisciplineChosen>("discipline",
        text("policy", &DisciplineChosen::discipline, 1'024)),
    alternative<PartWaits>("waits",
        Inlined{&PartWaits::part, kWaitingPart}),
    alternative<PartLeaves>("leaves",
        id("part", &PartLeaves::id)),
    alternative<ProcessorsPromised>("promised",
        id("part", &ProcessorsPromised::id),
        text("party", &ProcessorsPromised::party, kMaxPartyBytes),
        steady("at_us", &ProcessorsPromised::at),
        Inlined{&ProcessorsPromised::promise, kPromise}),
    alternative<PromiseEnded>("ended",
        id("part", &PromiseEnded::id),
        steady("at_us", &PromiseEnded::at)),
    alternative<WeightSet>("weight",
        text("party", &WeightSet::party, kMaxPartyBytes),
        number("weight", &WeightSet::weight, 1e-9, 1e9)),
    alternative<Decided>("decided",
        steady("at_us", &Decided::at),
        Field{"usable", &Decided::usable, write_usable, read_usable},
        Inlined{&Decided::decision, kDecision}));
// clang-format on

}  // namespace

Json encode(const QueueEvent& event) {
    Json json;
    kEvent.write(json, event);
    return json;
}

Result<QueueEvent> decode_queue_event(const Json& json) {
    JsonReader in(json);
    QueueEvent event;
    kEvent.read(in, event);
    return in.finish(std::move(event));
}

Json encode(const QueueRecord& queue) {
    Json json = {
        {"policy", queue.policy}, {"at_us", to_microseconds(queue.at)}, {"state", encode(QueueEvent(queue.state))}};
    if (!queue.partition.empty()) json["partition"] = queue.partition;
    return json;
}

Result<QueueRecord> decode_queue_record(const Json& json) {
    JsonReader in(json);
    QueueRecord queue{.policy = in.text("policy", 1'024),
                      .at = time_from_microseconds(in.integer("at_us", 0, kMostNumber)),
                      .state = {}};
    Result<QueueEvent> state = decode_queue_event(in.object("state"));
    if (!state) return state.error();
    if (auto* continued = std::get_if<QueueContinued>(&*state))
        queue.state = std::move(*continued);
    else
        in.fail("state", "must be the state of a queue");
    if (in.has("partition")) queue.partition = in.text("partition", 64);
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
