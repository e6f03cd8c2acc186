#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>

#include "services/common/codec/model_codec.hpp"
#include "tests/support/source_folder.hpp"

// Every file in schemas/examples: KIND.WHAT.json. Mappings are read against valid/resources.two_zones.json, mappings
// onto a hierarchy for one of 8 processors.

namespace zbs::codec {
namespace {
namespace fs = std::filesystem;

const fs::path kExamples = fs::path(zbs::test::source_folder()) / "schemas/examples";

std::string text_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
}

const ResourceGraph& two_zones() {
    static const ResourceGraph graph = *decode_resources(*parse(text_of(kExamples / "valid/resources.two_zones.json")));
    return graph;
}

/// Reads, writes, reads again: equal values and equal texts; the fault where the first reading fails.
template <class Value>
Result<void> round(const Json& json, const std::function<Result<Value>(const Json&)>& decode,
                   const std::function<Json(const Value&)>& write) {
    const Result<Value> value = decode(json);
    if (!value) return value.error();
    const Json written = write(*value);
    const Result<Value> again = decode(*parse(dump(written)));
    if (!again) return again.error();
    EXPECT_EQ(*again == *value, true);
    EXPECT_EQ(write(*again), written);
    return {};
}

Result<void> read_example(const std::string& kind, const std::string& text) {
    const Result<Json> json = parse(text);
    if (!json) return json.error();
    if (kind == "model")
        return round<ApplicationModel>(
            *json, [](const Json& j) { return decode_model(j); }, [](const ApplicationModel& m) { return encode(m); });
    if (kind == "resources")
        return round<ResourceGraph>(*json, decode_resources, [](const ResourceGraph& r) { return encode(r); });
    if (kind == "mapping") {
        return round<Mapping>(
            *json, [](const Json& j) { return decode_mapping(j, two_zones()); },
            [](const Mapping& m) {
                return encode_mapping(two_zones(), m, {}, 0.5, {"zbs 1", {{"seed", 1}}});
            });
    }
    if (kind == "tree-mapping") {
        using Processors = std::vector<ProcessorIndex>;
        return round<Processors>(
            *json, [](const Json& j) { return decode_tree_mapping(j, 8); },
            [](const Processors& p) {
                return *parse(tree_mapping_text(p, 8, {.cost = 1.5}, 3, 0.5, {"zbs 1", {{"seed", 1}}}));
            });
    }
    ADD_FAILURE() << "no example of kind " << kind;
    return {};
}

std::vector<fs::path> files(const char* folder) {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(kExamples / folder)) all.push_back(entry.path());
    std::sort(all.begin(), all.end());
    return all;
}
std::string kind_of(const fs::path& path) {
    return path.filename().string().substr(0, path.filename().string().find('.'));
}

TEST(Examples, ValidOnesAreReadAndWrittenBack) {
    std::map<std::string, int> count;
    for (const fs::path& path : files("valid")) {
        SCOPED_TRACE(path.filename());
        const Result<void> read = read_example(kind_of(path), text_of(path));
        EXPECT_TRUE(read) << read.error();
        ++count[kind_of(path)];
    }
    EXPECT_EQ(count.size(), 4U);
}

TEST(Examples, InvalidOnesAreRefusedWithAMessageAndAPlace) {
    std::map<std::string, int> count;
    for (const fs::path& path : files("invalid")) {
        SCOPED_TRACE(path.filename());
        const Result<void> read = read_example(kind_of(path), text_of(path));
        ++count[kind_of(path)];
        ASSERT_FALSE(read);
        EXPECT_EQ(read.error().code, ErrorCode::kInvalidArgument);
        EXPECT_FALSE(read.error().message.empty());
        const bool whole_document = path.filename().string().find(".is_") != std::string::npos;
        EXPECT_TRUE(!read.error().pointer.empty() || whole_document) << read.error();
    }
    EXPECT_EQ(count.size(), 4U);
}

/// A file that differs from a valid one in one place is refused for that place.
TEST(Examples, TheFaultIsFoundWhereItIs) {
    const std::map<std::string, std::string> places = {
        {"model.newer_format", "/format"},
        {"model.unknown_field", "/colour"},
        {"model.no_ranks", "/ranks"},
        {"model.duplicate_key", "/format"},
        {"model.duplicate_key_inside", "/complete/a"},
        {"model.compute_too_short", "/compute"},
        {"model.compute_negative", "/compute/2"},
        {"model.edge_to_missing_rank", "/edges/1"},
        {"model.edge_to_itself", "/edges/1"},
        {"model.edge_twice", "/edges"},
        {"model.edge_bytes_negative", "/edges/1/2"},
        {"model.edge_rank_huge", "/edges/1/1"},
        {"resources.no_processors", "/zones/0/machines/0/processors"},
        {"resources.speed_zero", "/zones/0/machines/0/speed"},
        {"resources.link_twice", "/links/1"},
        {"resources.link_to_unknown_zone", "/links/0/b"},
        {"resources.machine_unknown_field", "/zones/0/machines/0/cores"},
        {"mapping.task_twice", "/mapping/1/task"},
        {"mapping.newer_version", "/version"},
        {"mapping.version_is_text", "/version"},
        {"tree-mapping.newer_version", "/version"},
        {"mapping.processor_past_the_last", "/mapping/0/processor"},
        {"tree-mapping.of_another_hierarchy", "/processors"},
        {"tree-mapping.task_twice", "/mapping/1/task"},
        {"tree-mapping.processor_past_the_last", "/mapping/0/processor"}};
    for (const auto& [name, pointer] : places) {
        const Result<void> read =
            read_example(name.substr(0, name.find('.')), text_of(kExamples / "invalid" / (name + ".json")));
        ASSERT_FALSE(read) << name;
        EXPECT_EQ(read.error().pointer, pointer) << name << ": " << read.error();
    }
}

}  // namespace
}  // namespace zbs::codec
