#!/bin/sh
# The library cutis by itself: configured where there is a C compiler and no other package's tools, and by what looks like a
# cross compiler; neither build has a step that runs what it made. Two rooms are compiled; ./dev soak compiles all of them.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
unset CMAKE_C_COMPILER_LAUNCHER # another program, which is not found here
verdict() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok $name"; else echo "not ok $name: $(tail -n 3 "$work/log" | tr '\n' ' ')"; status=1; fi
}
core="-DCUTIS_IO=OFF -DCUTIS_SKELETON=OFF -DCUTIS_RENDER=OFF -DCUTIS_TOOLS=OFF -DCUTIS_TESTS=OFF"
mkdir "$work/bin"
for tool in cc gcc as ld ar ranlib nm strip objdump objcopy readelf ninja cmake sh uname; do
    place=$(command -v "$tool") && ln -s "$place" "$work/bin/$tool"
done
alone() { # everything that is looked for and is not the compiler is not found
    PATH="$work/bin" cmake -S . -B "$work/core" -G Ninja $core -DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON \
        -DCMAKE_DISABLE_FIND_PACKAGE_meshoptimizer=ON &&
        PATH="$work/bin" ninja -C "$work/core" room_base room_model
}
whole() { PATH="$work/bin" ninja -C "$work/core" && cmake --install "$work/core" --prefix "$work/prefix" && [ -f "$work/prefix/lib/libcutis.a" ]; }
runs_nothing() { [ -s "$1/build.ninja" ] && ! grep -E '(COMMAND|POST_BUILD) = .*(\./cutis|help --man|/tests/|samples/)' "$1/build.ninja"; }
crossed() { # as for another machine, the command with it
    cmake -S . -B "$work/cross" -G Ninja -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR="$(uname -m)" -DCUTIS_TESTS=OFF
}
seen() { ! runs_nothing "$BUILD"; } # this build is for this machine, and makes the man page
refused() { ! cmake -S . -B "$work/refused" -G Ninja -DCUTIS_IO=OFF && grep -q 'CUTIS_TOOLS=OFF' "$work/log"; }
verdict core_needs_a_c_compiler_alone alone
[ -z "${CUTIS_SOAK:-}" ] || verdict core_builds_and_installs whole
verdict core_build_runs_nothing_it_made runs_nothing "$work/core"
verdict cross_build_configures crossed
verdict cross_build_runs_nothing_it_made runs_nothing "$work/cross"
verdict a_step_that_runs_something_is_seen seen
verdict parts_without_what_they_need_are_refused refused
exit $status
