#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

#include "algorithms/allocation/cube.hpp"
#include "tests/support/source_folder.hpp"

// The worked examples of meshes in a hypercube.
namespace zbs {
namespace {

struct Row {
    std::string published, ours, cube;
};

TEST(PartitionExamples, CubesAreThoseOfTheTable) {
    std::ifstream file(zbs::test::source_folder() + "/tests/golden/Turner1995/partition.csv");
    ASSERT_TRUE(file.good());
    std::map<std::string, std::vector<Row>> cases;
    for (std::string line; std::getline(file, line);) {
        if (line.starts_with('#') || line.starts_with("x,")) continue;
        std::vector<std::string> cells;
        std::stringstream text(line);
        for (std::string cell; std::getline(text, cell, ',');) cells.push_back(cell);
        ASSERT_EQ(cells.size(), 7u) << line;
        cases[cells[0] + "," + cells[1] + "," + cells[2] + "," + cells[3]].push_back({cells[4], cells[5], cells[6]});
    }
    ASSERT_EQ(cases.size(), 12u);
    for (const auto& [name, rows] : cases) {
        SCOPED_TRACE(name);
        int n = 0;
        MeshShape shape;
        char kind = 0;
        ASSERT_EQ(std::sscanf(name.c_str(), "%d,%d,%d,%c", &shape.x, &shape.y, &n, &kind), 4);
        const Cube host = whole_cube(n);
        ASSERT_EQ(host_dimension(shape), n);
        std::vector<std::string> found, expected;
        for (const Cube& cube : kind == 'm' ? mesh_cubes(host, shape) : leftover_cubes(host, shape))
            found.push_back(to_string(cube, n));
        for (const Row& row : rows) {
            expected.push_back(row.cube);
            EXPECT_EQ(std::to_string(parse_cube(row.cube)->dimension()), row.ours);
            if (row.published != "-") {
                EXPECT_EQ(row.published, row.ours) << "ours differs from the source";
            }
        }
        std::ranges::sort(found);
        std::ranges::sort(expected);
        EXPECT_EQ(found, expected);
    }
}

}  // namespace
}  // namespace zbs
