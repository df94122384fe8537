#!/bin/sh
# An installed Cutis serves C and C++ through find_package and through pkg-config, shared and static; so does one that is a
# folder of another project. Its libraries export what the public headers declare, and nothing else. Nothing is compiled but
# the consumers: static-only installs are made of the archives that this build has.
set -u
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0
verdict() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok $name"; else echo "not ok $name: $(tail -n 3 "$work/log" | tr '\n' ' ')"; status=1; fi
}
verdict cmake_installs cmake --install "$BUILD" --prefix "$work/both"
lib=$(dirname "$(find "$work/both" -name 'libcutis.so' | head -n 1)")
only_static() { # as -DBUILD_SHARED_LIBS=OFF installs it
    cmake -S . -B "$work/build" -G Ninja -DBUILD_SHARED_LIBS=OFF -DCUTIS_TOOLS=OFF -DCUTIS_TESTS=OFF &&
        cp "$BUILD"/libcutis*.a "$work/build" && { [ ! -d "$BUILD/libexec" ] || cp -r "$BUILD/libexec" "$work/build"; } && cmake --install "$work/build" --prefix "$work/static" &&
        ! find "$work/static" -name '*.so*' | grep .
}
verdict static_libraries_install_alone only_static
# The helper program is found from where the command was installed, and nowhere else.
packs() { # PREFIX
    "$1/bin/cutis" synth arm --size low -q -o "$work/arm.glb" && "$1/bin/cutis" convert "$work/arm.glb" --compress draco -o "$work/packed.glb" &&
        "$1/bin/cutis" info "$work/packed.glb"
}
lacks() { mv "$work/moved/libexec" "$work/moved/elsewhere" && ! packs "$work/moved" && grep -q libdraco-dev "$work/log"; }
if [ -x "$BUILD/libexec/cutis/cutis-draco" ]; then
    verdict draco_is_installed packs "$work/both"
    cp -r "$work/both" "$work/moved"
    verdict draco_is_found_where_the_folder_was_moved packs "$work/moved"
    verdict draco_is_missed_in_one_line lacks
else
    echo "skip draco_is_installed: cutis-draco is not built: libdraco-dev is not there"
fi

runs() { # PROGRAM shared|static: it does, and stands on the libraries, or does not
    if [ "$2" = shared ]; then
        readelf -d "$1" | grep -q 'NEEDED.*libcutis-io\.so' && LD_LIBRARY_PATH="$lib" "$1"
    else
        ! readelf -d "$1" | grep 'NEEDED.*libcutis' && "$1"
    fi
}
configured() { # FOLDER PREFIX KINDS COMPONENTS CMAKE-OPTION...
    folder=$work/$1 prefix=$2 kinds=$3 components=$4
    shift 4
    cmake -S tests/install -B "$folder" -G Ninja "-DCMAKE_PREFIX_PATH=$prefix" "-DKINDS=$kinds" "-DCOMPONENTS=$components" \
        -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON "$@"
}
by_cmake() { configured "$@" && cmake --build "$work/$1"; }
verdict consumers_by_find_package by_cmake c "$work/both" "plain;_static" "cutis;cutis-io_static"
verdict consumers_by_find_package_where_all_is_static by_cmake s "$work/static" plain "cutis-io;cutis-io_static"
unknown() { ! configured u "$work/both" plain cutis-smell >"$work/u.log" 2>&1 && grep -q 'no component cutis-smell' "$work/u.log"; }
verdict unknown_component_is_refused unknown
# Without a package that a static library needs the shared one still serves; who asks for the static one by name hears of it.
without() { configured "$1" "$work/both" plain "$2" -DCMAKE_DISABLE_FIND_PACKAGE_meshoptimizer=ON; }
verdict shared_libraries_need_no_packages without v cutis-io
refused() { ! without w cutis-io_static && grep -q 'no cutis::cutis-io_static, which needs meshoptimizer' "$work/log"; }
verdict static_library_without_its_package_is_refused refused
by_pkg_config() { # PROGRAM PREFIX OPTION COMPILER...: the .pc files find their prefix by themselves
    program=$1 prefix=$2 option=$3
    shift 3
    flags=$(PKG_CONFIG_PATH="$prefix/${lib#"$work/both/"}/pkgconfig" pkg-config $option --cflags --libs cutis-io cutis-skeleton cutis-render) &&
        "$@" -Wall -Wextra -pedantic -Werror -o "$work/$program" $flags
}
cp -r "$work/both" "$work/archives" && find "$work/archives" -name '*.so*' -exec rm {} + # so that --static finds archives alone
for language in c cpp; do
    case $language in c) compiler='cc -std=c99' ;; *) compiler='c++ -std=c++17' ;; esac
    verdict shared_${language}_by_find_package_runs runs "$work/c/plain_$language" shared
    verdict static_${language}_by_find_package_runs runs "$work/c/_static_$language" static
    verdict only_static_${language}_by_find_package_runs runs "$work/s/plain_$language" static
    verdict shared_${language}_by_pkg_config by_pkg_config p_$language "$work/both" "" $compiler tests/install/consumer.$language
    verdict shared_${language}_by_pkg_config_runs runs "$work/p_$language" shared
    verdict static_${language}_by_pkg_config by_pkg_config q_$language "$work/archives" --static $compiler tests/install/consumer.$language
    verdict static_${language}_by_pkg_config_runs runs "$work/q_$language" static
    verdict only_static_${language}_by_pkg_config by_pkg_config r_$language "$work/static" "" $compiler tests/install/consumer.$language
    verdict only_static_${language}_by_pkg_config_runs runs "$work/r_$language" static
done
names() { PKG_CONFIG_PATH="$lib/pkgconfig" pkg-config --static --libs "$1" | grep -e "$2"; }
verdict pkg_config_names_jansson names cutis-io '-ljansson'
verdict pkg_config_names_meshoptimizer names cutis-io '-lmeshoptimizer'
verdict pkg_config_names_qhull names cutis-skeleton '-lqhull_r'
embedded() { # NAME LIBRARY CMAKE-OPTION...: a project's consumer would be linked with it (and under ./dev soak, is)
    folder=$work/$1 library=$2
    shift 2
    cmake -S tests/install -B "$folder" -G Ninja -DEMBED=ON -DKINDS=plain "$@" &&
        ninja -C "$folder" -t inputs plain_c | grep "^cutis/$library" &&
        ! ninja -C "$folder" -t inputs all | grep -E 'cli/|tests/base|samples/' &&
        { [ -z "${CUTIS_SOAK:-}" ] || { ninja -C "$folder" && "$folder/plain_c"; }; }
}
verdict embedded_is_static_unless_asked embedded e 'libcutis-io\.a'
verdict embedded_shared embedded f 'libcutis-io\.so' -DBUILD_SHARED_LIBS=ON
verdict embedded_static embedded g 'libcutis-io\.a' -DBUILD_SHARED_LIBS=OFF

version=$(sed -n 's/^#define CUTIS_VERSION_[MP][A-Z]* \([0-9]*\)$/\1/p' include/cutis/base.h | paste -sd .)
soname() { # while the major number is 0 the minor one is in it
    for one in cutis cutis-io cutis-skeleton cutis-render; do
        readelf -d "$lib/lib$one.so" | grep "SONAME.*\[lib$one\.so\.${version%.*}\]" || return 1
    done
}
case $version in 0.*) verdict sonames soname ;; esac
has_version() { [ "$(PKG_CONFIG_PATH="$lib/pkgconfig" pkg-config --modversion cutis)" = "$version" ] && "$work/q_c" | grep "^$version "; }
verdict version_is_the_headers_everywhere has_version
needs() { # the library cutis stands on libc, libm and threads alone
    ! readelf -d "$lib/libcutis.so" | grep NEEDED | grep -vE 'lib(c|m|pthread|dl)\.so|ld-linux'
}
verdict libcutis_needs_libc_libm_threads_only needs
# Exports against declarations, as the compiler sees these: headers of the library, without what it includes of others.
declared() { # HEADER...
    for header in "$@"; do
        cc -E -Iinclude "include/cutis/$header.h" | awk -v want="include/cutis/$header.h" '/^# / { mine = index($3, want) } mine' |
            tr '\n;' ' \n' | sed -n 's/.*visibility("default"))).*[ *]\(cutis_[a-z0-9_]*\) *(.*/\1/p'
    done | sort
}
exports() { # LIBRARY HEADER...
    so=$lib/lib$1.so
    shift
    declared "$@" >"$work/declared"
    [ -s "$work/declared" ] || return 1
    nm -D --defined-only "$so" | awk '$2 != "A" && $3 !~ /@@CUTIS_PRIVATE_/ { sub(/@.*/, "", $3); print $3 }' | sort | diff "$work/declared" -
}
verdict cutis_exports_its_headers exports cutis $(sed -n 's/#include <cutis\/\(.*\)\.h>/\1/p' include/cutis/cutis.h)
verdict cutis_io_exports_its_header exports cutis-io io
verdict cutis_skeleton_exports_its_headers exports cutis-skeleton skeleton retarget rig
verdict cutis_render_exports_its_header exports cutis-render render
every() { # no header is left out above
    ls include/cutis | sed 's/\.h$//' | grep -vxE "cutis|io|skeleton|retarget|rig|render|$(sed -n 's/#include <cutis\/\(.*\)\.h>/\1/p' include/cutis/cutis.h | paste -sd '|')" && return 1
    return 0
}
verdict every_header_belongs_to_a_library every
# What our libraries call of each other carries the whole version, and none of it is declared in public.
private() {
    nm -D --defined-only "$lib"/libcutis*.so | sed -n 's/.* \(cutis_.*\)@@CUTIS_PRIVATE_/\1 /p' | sort >"$work/private"
    [ -s "$work/private" ] && ! grep -v " $version$" "$work/private" && cut -d' ' -f1 "$work/private" >"$work/names" &&
        ! declared $(ls include/cutis | sed 's/\.h$//') | grep -xFf "$work/names"
}
verdict private_symbols_are_of_one_version private
for header in include/cutis/*.h; do
    alone() {
        echo "#include <cutis/$(basename "$header")>" >"$work/h.c"
        strict="-Wall -Wextra -pedantic -Werror -Iinclude -fsyntax-only"
        cc -std=c99 $strict "$work/h.c" && cc -std=c11 $strict "$work/h.c" &&
            c++ -x c++ -std=c++11 $strict "$work/h.c" && c++ -x c++ -std=c++17 $strict "$work/h.c"
    }
    verdict "header_$(basename "$header" .h)_compiles_alone_as_c_and_cpp" alone
done
exit $status
