#pragma once
#include <cxxabi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <variant>
#include <vector>

#include "tests/support/source_folder.hpp"

namespace zbs::test {

/// The alternative of a variant that it holds: the place among all, and the name without its namespaces.
struct AlternativeName {
    std::size_t place = 0;
    std::string name;
    auto operator<=>(const AlternativeName&) const = default;
};

template <class Variant>
AlternativeName name_of(const Variant& variant) {
    const auto name = [](const auto& one) {
        int status = 0;
        const std::unique_ptr<char, decltype(&std::free)> text(
            abi::__cxa_demangle(typeid(one).name(), nullptr, nullptr, &status), &std::free);
        const std::string full = text.get();
        return full.substr(full.rfind(':') + 1);
    };
    return {variant.index(), std::visit(name, variant)};
}

/// The table "phase | event | next phase | effects" of a machine, from steps that it took. Steps that keep the phase
/// and have no effect are left out. Effects that only some of the steps of a row have are in parentheses.
class MachineTable {
  public:
    void add(const AlternativeName& phase, const AlternativeName& event, const AlternativeName& next,
             const std::vector<AlternativeName>& effects) {
        phases_.insert(phase);
        events_.insert(event);
        effects_.insert(effects.begin(), effects.end());
        if (phase == next && effects.empty()) return;
        Effects& known =
            rows_[{phase, event,
                   phase == next ? AlternativeName{0, "same"} : AlternativeName{next.place, "`" + next.name + "`"}}];
        ++known.steps;
        for (const AlternativeName& effect : std::set<AlternativeName>(effects.begin(), effects.end()))
            ++known.counts[effect];
    }
    std::size_t count_phases() const { return phases_.size(); }
    std::size_t count_events() const { return count_places(events_); }
    std::size_t count_effects() const { return count_places(effects_); }

    /// Phases with the same row share it, then events.
    std::string text() const {
        std::map<std::tuple<AlternativeName, std::string, std::string>, std::vector<AlternativeName>> phases;
        for (const auto& [row, effects] : rows_)
            phases[{std::get<1>(row), std::get<2>(row).name, words_of(effects)}].push_back(std::get<0>(row));
        using Key = std::tuple<std::vector<AlternativeName>, std::string, std::string>;
        std::map<Key, std::vector<AlternativeName>> events;
        for (const auto& [row, of] : phases)
            events[{of, std::get<1>(row), std::get<2>(row)}].push_back(std::get<0>(row));
        std::string text = "| phase | event | next phase | effects |\n|---|---|---|---|\n";
        for (const auto& [key, of] : events)
            text += "| " + (std::get<0>(key).size() == phases_.size() ? "any" : join(std::get<0>(key))) + " | " +
                    join(of) + " | " + std::get<1>(key) + " | " + std::get<2>(key) + " |\n";
        return text;
    }

  private:
    struct Effects {
        std::size_t steps = 0;
        std::map<AlternativeName, std::size_t> counts;
    };
    static std::size_t count_places(const std::set<AlternativeName>& names) {
        std::set<std::size_t> places;
        for (const AlternativeName& name : names) places.insert(name.place);
        return places.size();
    }
    static std::string join(const std::vector<AlternativeName>& names) {
        std::string text;
        for (const AlternativeName& one : names) text += (text.empty() ? "`" : ", `") + one.name + "`";
        return text;
    }
    static std::string words_of(const Effects& effects) {
        std::string text;
        for (const auto& [effect, count] : effects.counts)
            text += (text.empty() ? "" : ", ") +
                    (count == effects.steps ? "`" + effect.name + "`" : "(`" + effect.name + "`)");
        return text;
    }

    std::set<AlternativeName> phases_, events_, effects_;
    std::map<std::tuple<AlternativeName, AlternativeName, AlternativeName>, Effects> rows_;
};

/// Compares the table with the one in the README of `folder`; with ZBS_WRITE_GOLDEN=1 writes it there.
inline void expect_in_readme(const MachineTable& table, const std::string& folder) {
    const std::string path = source_folder() + "/" + folder + "/README.md";
    std::ifstream in(path);
    const std::string readme{std::istreambuf_iterator<char>(in), {}};
    const std::string head = "<!-- computed by a test; ZBS_WRITE_GOLDEN=1 writes it anew -->\n";
    const std::size_t begin = readme.find(head), end = readme.find("<!-- end -->");
    ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << path << " has no place for the table";
    const std::size_t from = begin + head.size();
    if (std::getenv("ZBS_WRITE_GOLDEN") != nullptr)
        std::ofstream(path) << readme.substr(0, from) << table.text() << readme.substr(end);
    else
        EXPECT_EQ(readme.substr(from, end - from), table.text()) << "ZBS_WRITE_GOLDEN=1 writes it anew";
}

}  // namespace zbs::test
