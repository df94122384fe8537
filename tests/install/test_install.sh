#!/bin/sh
# An installed Cutis serves a consumer through find_package, through pkg-config, and from C++; it exports only cutis_ names.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
verdict() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok $name"; else echo "not ok $name: $(tail -n 3 "$work/log" | tr '\n' ' ')"; status=1; fi
}
verdict cmake_installs cmake --install "$BUILD" --prefix "$work/prefix"
lib=$(dirname "$(find "$work/prefix" -name 'libcutis.so' | head -n 1)")
export LD_LIBRARY_PATH="$lib" PKG_CONFIG_PATH="$lib/pkgconfig"

by_cmake() {
    cmake -S tests/install -B "$work/c" -G Ninja "-DCMAKE_PREFIX_PATH=$work/prefix" && cmake --build "$work/c" && "$work/c/consumer"
}
# The .pc files carry the prefix of configure time; pkg-config can be told where the tree stands now.
flags() { pkg-config --define-variable="prefix=$work/prefix" --cflags --libs cutis-io cutis; }
by_pkg_config() { cc -std=c17 -Wall -Wextra -Werror tests/install/consumer.c -o "$work/p" $(flags) && "$work/p"; }
by_cpp() { c++ -x c++ -std=c++17 -Wall -Wextra -Werror tests/install/consumer.c -o "$work/q" $(flags) && "$work/q"; }
exports() {
    ! nm -D --defined-only "$lib/libcutis.so" "$lib/libcutis-io.so" | awk 'NF == 3 && $3 !~ /^cutis_/ { print; bad = 1 } END { exit !bad }'
}
soname() { readelf -d "$lib/libcutis.so" | grep -q 'SONAME.*libcutis\.so\.0' && readelf -d "$lib/libcutis-io.so" | grep -q 'SONAME.*libcutis-io\.so\.0'; }
needs() { # the library cutis stands on libc, libm and threads alone
    ! readelf -d "$lib/libcutis.so" | grep NEEDED | grep -vE 'lib(c|m|pthread|dl)\.so|ld-linux'
}
verdict consumer_by_find_package by_cmake
verdict consumer_by_pkg_config by_pkg_config
verdict consumer_in_cpp by_cpp
verdict only_cutis_names_are_exported exports
verdict sonames soname
verdict libcutis_needs_libc_libm_threads_only needs
for header in include/cutis/*.h; do
    alone() { echo "#include <cutis/$(basename "$header")>" >"$work/h.c" && cc -std=c17 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$work/h.c" && c++ -x c++ -std=c++11 -Wall -Wextra -Werror -Iinclude -fsyntax-only "$work/h.c"; }
    verdict "header_$(basename "$header" .h)_compiles_alone_as_c_and_cpp" alone
done
exit $status
