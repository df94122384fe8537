#!/bin/sh
# Every reference in the repository leads somewhere (tools/check_references), and the check can fail: a small repository with one
# mistake of each kind, each of which it must name, and one without.
set -u
HERE=$(cd "$(dirname "$0")/../.." && pwd)
T=$(mktemp -d) || exit 1
trap 'rm -rf "$T"' EXIT
failed=0
ok() { echo "ok $1"; }
not_ok() { echo "not ok $1: $2"; failed=1; }
check() { /usr/bin/python3 "$HERE/tools/check_references" "$1"; }

if found=$(check "$HERE"); then ok "every reference leads somewhere"
else echo "$found"; not_ok "every reference leads somewhere" "$(echo "$found" | head -1)"; fi

mkdir -p "$T/docs/spec" "$T/docs/design" "$T/src"
cat >"$T/docs/spec/bend.md" <<'END'
# Bends
`src/good.c` has them.
## 1. Angles
### 1.2 Signs
See 1.2 in [bends](bend.md) 1.2 and [angles](#1-angles).
## 9. Tests
1. Zero.
2. One.
END
printf '// Signs (docs/spec/bend.md 1.2 and 9.2), angles (docs/spec/bend.md\n// 1).\n' >"$T/src/good.c"
if found=$(check "$T"); then ok "right references are let pass"
else not_ok "right references are let pass" "$found"; fi

# bad FILE TEXT EXPECTED: with TEXT in FILE the check fails and says so.
bad() {
    printf '%s\n' "$2" >"$T/$1"
    if found=$(check "$T"); then not_ok "finds $3" "it did not"
    elif echo "$found" | grep -q "^$1:1: .*$3"; then ok "finds $3"
    else not_ok "finds $3" "$found"; fi
    rm "$T/$1"
}
bad src/bad.c '// As docs/spec/bend.md 1.3 has it.' 'bend.md has no section 1.3'
bad src/bad.c '// As docs/spec/bend.md 1.2 and 9.3 have it.' 'bend.md has no section 9.3'
bad src/bad.c '// As docs/spec/twist.md 1 has it.' 'twist.md does not exist'
bad src/bad.c '// As docs/design/twist.md has it.' 'docs/design/twist.md does not exist'
bad src/bad.c '// As the bending spec 1.2 has it.' "cite as .*spec 1"
bad src/bad.c '// As bend.md 1.2 has it.' "cite as .*bend.md 1.2"
bad src/bad.c "// As ../shared""/spec/bend.md has it." 'the specifications are in docs/spec'
bad README.md 'See [bends](docs/spec/bent.md).' 'the link docs/spec/bent.md leads nowhere'
bad README.md 'See ![bends](docs/bend.png).' 'the link docs/bend.png leads nowhere'
bad README.md 'See [bends](docs/spec/bend.md#3-twists).' '#3-twists: no such heading'
bad README.md 'See [bends](docs/spec/bend.md) 4.1.' 'bend.md has no section 4.1'
bad docs/design/bend.md 'It is in `src/bad.c`.' 'src/bad.c does not exist'
exit $failed
