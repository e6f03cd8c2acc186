#!/bin/sh
# What one MPI call costs bare and under the profiler, in one run: profiler_cost.sh LIBRARY PROGRAM MPIEXEC [LIMIT_NS]
# Prints one line per kind of call; fails where the profiler adds more than LIMIT_NS (default 200) nanoseconds to a call.
set -eu
library=$1 program=$2 mpiexec=$3 limit=${4:-200}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bare=$("$mpiexec" -n 1 "$program" 1000000)
profiled=$("$mpiexec" -n 1 -genv LD_PRELOAD "$library" -genv ZBS_PROFILE_OUT "$dir/model.json" "$program" 1000000)
test -s "$dir/model.json" || { echo "the profiler was not loaded"; exit 1; }
echo "$bare $profiled" | awk -v limit="$limit" '{
    printf "message call: bare %.1f ns, profiled %.1f ns, added %.1f ns\n", $2, $6, $6 - $2
    printf "iprobe call:  bare %.1f ns, profiled %.1f ns, added %.1f ns\n", $4, $8, $8 - $4
    exit ($6 - $2 > limit || $8 - $4 > limit)
}'
