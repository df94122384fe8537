#!/bin/sh
# What ./dev promises a newcomer, as far as it shows without a bare machine (newcomer.sh has one): who may not install hears at
# once what to do, steps say little, tests are counted rightly.
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
status=0
verdict() { # NAME COMMAND...
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then echo "ok $name"; else echo "not ok $name: $(tail -n 3 "$work/log" | tr '\n' ' ')"; status=1; fi
}
# A copy of what ./dev reads, in a path with a space, for somebody without rights.
here="$work/my projects é"
mkdir -p "$here/tools"
cp "$root/dev" "$here/" && cp "$root/tools/steps.sh" "$root/tools/run_tests" "$here/tools/"
plain() { # COMMAND...: as nobody, whom sudo does not know
    if [ "$(id -u)" = 0 ]; then setpriv --reuid=65534 --regid=65534 --clear-groups env TMPDIR=/tmp "$@" </dev/null; else "$@" </dev/null; fi
}
mkdir -m 555 "$work/locked"
refused() { ! plain "$here/dev" install "$work/locked/cutis" && grep -q "writing in $work/locked needs root" "$work/log" && ! ls -d "$here"/build* 2>/dev/null; }
named() { # the packages, and the line that fetches them
    ! plain sh -c 'cd "$1" && . tools/steps.sh && need "sh:dash no-such-command:package-one /no/such/file:package-two"' sh "$here" &&
        grep -qx 'apt-get update && apt-get install --no-install-recommends package-one package-two' "$work/log"
}
steps() { cd "$here" && . tools/steps.sh && "$@"; }
quiet() { (steps step "counting" seq 1000) >"$work/said" && grep -qxE 'dev: counting: [0-9]+ s' "$work/said" && [ "$(wc -l <"$work/said")" = 1 ]; }
shown() { ! (set -e; steps step "failing" sh -c 'echo why; exit 3') && grep -qx why "$work/log"; }
verdict installing_where_one_may_not_is_refused_before_building refused
if command -v apt-get >/dev/null; then verdict missing_packages_are_named_with_the_line_that_fetches_them named
else echo "skip missing_packages_are_named_with_the_line_that_fetches_them: there is no apt-get"; fi
verdict a_step_is_one_line quiet
verdict a_step_that_fails_shows_why shown

# run_tests over what a ctest leaves behind.
mkdir "$work/bin"
cat >"$work/bin/ctest" <<'END'
#!/bin/sh
mkdir -p "$2/Testing/Temporary" && cp "$LOG" "$2/Testing/Temporary/LastTest.log"
END
chmod +x "$work/bin/ctest"
counted() { # WANTED LINE...: of the log
    wanted=$1
    shift
    { echo "1/1 Testing: room/test_it"; printf '%s\n' "$@"; } >"$work/ctest.log"
    (cd "$here" && LOG="$work/ctest.log" PATH="$work/bin:$PATH" sh tools/run_tests "the build") >"$work/said"
    cat "$work/said"
    [ "$(tail -n 1 "$work/said")" = "$wanted" ]
}
skips() { counted "1 passed, 0 failed, 2 skipped" '[  PASSED  ] 1 test(s).' 'skip: no moon' '[  SKIPPED ] wolves_howl' '[  SKIPPED ] 1 test(s), listed below:' \
    '[  SKIPPED ] wolves_howl' 'skip owls: no night' && grep -q 'wolves_howl: no moon' "$work/said" && grep -q 'owls: no night' "$work/said"; }
verdict skips_are_counted_with_their_reasons skips
verdict a_skip_without_a_reason_is_a_failure counted "1 passed, 1 failed, 1 skipped" '[  PASSED  ] 1 test(s).' '[  SKIPPED ] wolves_howl' \
    '[  SKIPPED ] 1 test(s), listed below:' '[  SKIPPED ] wolves_howl'
verdict an_end_without_a_verdict_is_a_failure counted "1 passed, 1 failed, 0 skipped" 'ok one' 'Test Failed.'
exit $status
