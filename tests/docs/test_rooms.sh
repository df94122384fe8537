#!/bin/sh
# tools/check_rooms finds this tree clean, and each kind of breach of docs/design/rooms.md in a tree that has it.
set -u
HERE=$(cd "$(dirname "$0")/../.." && pwd)
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
status=0
if (cd "$HERE" && sh tools/check_rooms >"$T/log"); then echo "ok this_tree_is_clean"; else echo "not ok this_tree_is_clean: $(head -n 1 "$T/log")"; status=1; fi
# breach NAME FILE LINE
breach() {
    rm -rf "$T/tree"
    mkdir -p "$T/tree/cli" "$T/tree/samples" "$T/tree/web/wasm" "$T/tree/src/kernel" "$(dirname "$T/tree/$2")"
    echo "#include <stdio.h>" >"$T/tree/src/kernel/fine.h"
    if (cd "$T/tree" && sh "$HERE/tools/check_rooms" >"$T/log") && echo "$3" >"$T/tree/$2" && ! (cd "$T/tree" && sh "$HERE/tools/check_rooms" >"$T/log"); then
        echo "ok $1_is_found"
    else
        echo "not ok $1_is_found: $(tail -n 1 "$T/log")"
        status=1
    fi
}
breach a_room_above src/model/x.c '#include "deform/skin.h"'
breach a_room_in_angles src/device/x.c '#include <model/object.h>'
breach fits_in_pictures src/render/x.c '#include "fit/problem.h"'
breach insides_in_the_command cli/x.c '#include "skeleton/parts.h"'
breach pictures_in_samples samples/x.c '#include "render/scene.h"'
breach the_system_outside_os src/io/x.c '#include <unistd.h>'
breach a_macro_NVIDIA_refuses src/kernel/x.h '#define F(a, ...) a'
exit $status
