# Third-party packages, all from Debian 12. `scripts/setup` installs them.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

if(ZBS_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()

find_package(nlohmann_json 3.11 REQUIRED)

if(ZBS_BUILD_SERVICES)
  # cpprestsdk's headers expose Boost, so the whole program stays on the one it was built with.
  find_package(Boost 1.74 EXACT REQUIRED COMPONENTS system)
  find_package(OpenSSL 3 REQUIRED)
  # By hand: Debian's cpprestsdk-config.cmake asks for a Boost build variant that is not packaged.
  find_path(ZBS_CPPREST_INCLUDE cpprest/http_client.h REQUIRED)
  find_library(ZBS_CPPREST_LIBRARY cpprest REQUIRED)
  add_library(zbs_cpprestsdk INTERFACE)
  target_include_directories(zbs_cpprestsdk SYSTEM INTERFACE ${ZBS_CPPREST_INCLUDE})
  target_link_libraries(zbs_cpprestsdk INTERFACE ${ZBS_CPPREST_LIBRARY} Boost::system OpenSSL::SSL OpenSSL::Crypto Threads::Threads)
  find_package(SQLite3 REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(spdlog REQUIRED)
  find_package(tomlplusplus REQUIRED)
endif()

if(ZBS_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

if(ZBS_BUILD_PROFILER)
  # MPICH by name: Debian can hold several MPI libraries side by side.
  find_program(ZBS_MPICC NAMES mpicc.mpich)
  find_program(ZBS_MPIF90 NAMES mpif90.mpich)
  find_program(ZBS_MPIEXEC NAMES mpiexec.mpich)
  if(NOT ZBS_MPICC OR NOT ZBS_MPIEXEC)
    message(WARNING "MPICH (mpicc.mpich, mpiexec.mpich) not found: no profiler and no MPI tests")
    set(ZBS_BUILD_PROFILER OFF)
  else()
    execute_process(COMMAND ${ZBS_MPICC} -compile_info OUTPUT_VARIABLE zbs_mpi_compile OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND ${ZBS_MPICC} -link_info OUTPUT_VARIABLE zbs_mpi_link OUTPUT_STRIP_TRAILING_WHITESPACE)
    string(REGEX MATCHALL "-I[^ ]+" zbs_mpi_includes "${zbs_mpi_compile}")
    list(TRANSFORM zbs_mpi_includes REPLACE "^-I" "")
    find_library(ZBS_MPICH_LIBRARY NAMES mpich REQUIRED)
    add_library(zbs_mpich INTERFACE)
    target_include_directories(zbs_mpich SYSTEM INTERFACE ${zbs_mpi_includes})
    target_link_libraries(zbs_mpich INTERFACE ${ZBS_MPICH_LIBRARY})
  endif()
endif()
