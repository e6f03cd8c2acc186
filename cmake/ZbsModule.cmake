# One library target per module folder: zbs_<name>, alias zbs::<name>.
#   zbs_module(mapping SOURCES a.cpp b.cpp PUBLIC zbs::model PRIVATE METIS)
function(zbs_module name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  set(target zbs_${name})
  if(ARG_SOURCES)
    add_library(${target} STATIC ${ARG_SOURCES})
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} PUBLIC ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE} zbs_build_flags)
    if(ZBS_SANITIZE AND CMAKE_CURRENT_SOURCE_DIR MATCHES "/algorithms/|/studies/models|/common/codec|/zone_scheduler/program")
      target_compile_options(${target} PRIVATE -O1)  # tests spend minutes here, and seconds in the studies and the services
      target_precompile_headers(${target} REUSE_FROM zbs_headers_o1)
    else()
      target_precompile_headers(${target} REUSE_FROM zbs_headers)
    endif()
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} INTERFACE ${ARG_PUBLIC})
  endif()
  add_library(zbs::${name} ALIAS ${target})
endfunction()

# A program, and the package it belongs to (none: it is not installed): zbs_program(zbs-zone PACKAGE server SOURCES main.cpp LIBRARIES zbs::zone)
function(zbs_program name)
  cmake_parse_arguments(ARG "" "PACKAGE" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} zbs_build_flags)
  if(ARG_PACKAGE)
    install(TARGETS ${name} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT ${ARG_PACKAGE})
  endif()
endfunction()

# A GoogleTest program, labelled (unit, property, golden, integration). One ctest entry per program, or SHARDS entries
# with every n-th of its tests, where all together take over 30 s.
#   zbs_test(unit_mapping LABEL unit SOURCES x_test.cpp LIBRARIES zbs::mapping)
function(zbs_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT;SHARDS" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_LIBRARIES} zbs_build_flags zbs_source_folder GTest::gtest GTest::gmock GTest::gtest_main)
  target_precompile_headers(${name} REUSE_FROM zbs_headers_test)
  # Of this project, hence not in the precompiled header: GCC takes a header of another clone's for another header.
  set_target_properties(${name} PROPERTIES UNITY_BUILD_CODE_BEFORE_INCLUDE "#include \"tests/support/printed_values.hpp\"")
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 400)  # four times the longest under sanitizers with others beside it, 101 s
  endif()
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(entry ${name})
    if(ARG_SHARDS GREATER 1)
      set(entry ${name}_${shard})
    endif()
    if(ARG_LABEL MATCHES "golden|property")
      zbs_computing_test(${entry} LABEL ${ARG_LABEL} COMMAND $<TARGET_FILE:${name}>)
    else()
      add_test(NAME ${entry} COMMAND ${name})
      set_tests_properties(${entry} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT ${ARG_TIMEOUT})
    endif()
    math(EXPR index "${shard} - 1")
    set_property(TEST ${entry} PROPERTY ENVIRONMENT "GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
  if(ARG_LABEL STREQUAL "integration")
    add_dependencies(zbs_integration_tests ${name})
  elseif(ARG_LABEL MATCHES "golden|property")
    add_dependencies(zbs_model_tests ${name})
  else()
    add_dependencies(zbs_unit_tests ${name})
  endif()
endfunction()

# A test that computes for long and waits for nothing. One of them runs at a time, at the lowest priority, beside tests
# of services, which wait for most of their time. The longest start first: COST is about their seconds.
#   zbs_computing_test(simulation LABEL simulation COST 90 COMMAND simulation --seeds 60)
function(zbs_computing_test name)
  cmake_parse_arguments(ARG "" "LABEL;COST" "COMMAND" ${ARGN})
  add_test(NAME ${name} COMMAND nice -n 19 ${ARG_COMMAND})
  if(NOT ARG_COST)
    set(ARG_COST 20)
  endif()
  math(EXPR cost "1000 + ${ARG_COST}")
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABEL}" TIMEOUT 1800 COST ${cost} RESOURCE_LOCK computing)
endfunction()

add_library(zbs_build_flags INTERFACE)
target_compile_options(zbs_build_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Wno-missing-field-initializers
  -fno-omit-frame-pointer -fstack-protector-strong)
target_compile_definitions(zbs_build_flags INTERFACE _GLIBCXX_ASSERTIONS $<$<CONFIG:Release>:_FORTIFY_SOURCE=2>)
target_link_options(zbs_build_flags INTERFACE -Wl,-z,relro,-z,now)
if(ZBS_WERROR)
  target_compile_options(zbs_build_flags INTERFACE -Werror)
endif()
if(ZBS_SANITIZE)
  add_compile_options(-fsanitize=${ZBS_SANITIZE} -fno-sanitize-recover=all)
  if(ZBS_SANITIZE MATCHES undefined)
    # A check at every use of a pointer doubles the time of a build with Boost; the address sanitizer stops at null pointers
    # and at objects that are none, too.
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size)
  endif()
  add_link_options(-fsanitize=${ZBS_SANITIZE})
  # 80 programs of 50 MB and more: 3.4 s of a processor for one with ld, 0.8 s with lld.
  find_program(ZBS_LLD ld.lld)
  if(ZBS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
  # GCC documents this warning as unreliable together with sanitizers (it fires inside <regex> and <functional>).
  target_compile_options(zbs_build_flags INTERFACE -Wno-maybe-uninitialized)
  if(ZBS_SANITIZE MATCHES thread)
    # Asio uses atomic_thread_fence, which the thread sanitizer does not model; GCC warns of each use.
    target_compile_options(zbs_build_flags INTERFACE -Wno-tsan)
  endif()
endif()
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  # Without the first ccache keeps nothing that was compiled with a precompiled header; no source here uses __TIME__. With the others it
  # finds what another clone compiled, whose folder is not in objects: names of files begin with `.` there.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_BASEDIR=${CMAKE_SOURCE_DIR}
    CCACHE_NOHASHDIR=true ${CCACHE_PROGRAM})
  add_compile_options($<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>)
endif()

# The standard library and GoogleTest, read once for all: a sixth of the time of a build went into reading them again. A compiler takes
# a precompiled header only with the very flags it was made with, hence one for each kind of target. Every file still names
# what it includes: `-DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_UNITY_BUILD=OFF` shows what is missing.
if(NOT ZBS_SANITIZE)
  # GCC 12 warns at -O2 of std::string's own copying (array-bounds, wrongly) and keeps quiet only where it sees that the code is a system
  # header's; in a precompiled header it does not see it.
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
set(zbs_standard_headers <algorithm> <array> <charconv> <chrono> <cmath> <cstdint> <filesystem> <fstream> <functional> <limits> <map>
  <memory> <numeric> <optional> <ranges> <set> <span> <sstream> <string> <string_view> <thread> <unordered_map> <utility> <vector>)
function(zbs_precompiled name)
  cmake_parse_arguments(ARG "" "" "HEADERS;OPTIONS;LIBRARIES" ${ARGN})
  add_library(${name} OBJECT EXCLUDE_FROM_ALL ${CMAKE_SOURCE_DIR}/cmake/precompiled.cpp)
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
  target_link_libraries(${name} PRIVATE zbs_build_flags ${ARG_LIBRARIES})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()
zbs_precompiled(zbs_headers HEADERS ${zbs_standard_headers})
if(ZBS_SANITIZE)
  zbs_precompiled(zbs_headers_o1 HEADERS ${zbs_standard_headers} OPTIONS -O1)
endif()
if(ZBS_BUILD_TESTS)
  zbs_precompiled(zbs_headers_test HEADERS ${zbs_standard_headers} <gmock/gmock.h> <gtest/gtest.h> OPTIONS -fPIE LIBRARIES GTest::gtest)
  set_target_properties(zbs_headers_test PROPERTIES POSITION_INDEPENDENT_CODE OFF)  # as programs: -fPIE, not -fPIC
endif()
