# Sourced by ./dev: what takes time says so in one line, with what it does, about how long and how long it took. On a terminal
# that line moves; what the commands themselves say is kept back and shown when they fail.
step_log=$(mktemp)
ticker=
stop_ticker() {
    [ -z "$ticker" ] || { kill "$ticker" && wait "$ticker"; } 2>/dev/null || true
    ticker=
}
clean_up() {
    stop_ticker
    rm -f "$step_log" "$step_log".*
}
trap clean_up EXIT
trap 'clean_up; echo; trap - INT; kill -INT $$' INT

# about SECONDS: what takes one core so long, on the cores of this machine, in words.
about() {
    seconds=$(($1 / $(nproc)))
    if [ $seconds -lt 55 ]; then echo "about $(((seconds + 10) / 10 * 10)) s"; else echo "about $(((seconds + 65) / 60)) min"; fi
}

tick() { # the line that moves: text, seconds since begin, the command's last words; narrower than any terminal
    while kill -0 $$; do
        last=$(tail -c 300 "$step_log" | tr -s '\r\n' '\n' | tail -n 1)
        printf '\r\033[K%.45s... %d s  %.22s' "$text" $(($(date +%s) - begin)) "$last"
        sleep 1
    done 2>/dev/null
}

# step WHAT COMMAND...: COMMAND must not ask anything; sudo has asked before (get_root). small_step leaves no line behind, and its
# seconds belong to the next step.
begin=
small_step() {
    begin=${begin:-$(date +%s)}
    text="dev: $1:"
    shift
    if [ -t 1 ]; then
        : >"$step_log"
        tick &
        ticker=$!
    fi
    status=0
    "$@" >"$step_log" 2>&1 </dev/null || status=$?
    stop_ticker
    [ ! -t 1 ] || printf '\r\033[K'
    [ $status = 0 ] && return 0
    echo >&2
    tail -n 60 "$step_log" >&2
    echo "dev: this failed ($status): $*" >&2
    return $status
}
step() {
    [ -t 1 ] || printf 'dev: %s:' "$1"
    small_step "$@" || return
    [ ! -t 1 ] || printf '%s' "$text"
    echo " $(($(date +%s) - begin)) s"
    begin=
}

# get_root: may we run something as root? Asks for the password, if one is needed, before anything else is on the screen.
get_root() {
    [ "$(id -u)" = 0 ] || { command -v sudo >/dev/null && sudo -v; }
}
as_root() {
    if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

# need "SIGN:PACKAGE ...": installs the packages whose sign (a command, or a path) is not there.
need() {
    missing=
    for pair in $1; do
        sign=${pair%%:*}
        case $sign in
        /*) [ -e "$sign" ] || missing="$missing ${pair##*:}" ;;
        *) command -v "$sign" >/dev/null 2>&1 || missing="$missing ${pair##*:}" ;;
        esac
    done
    [ -n "$missing" ] || return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "dev: missing:$missing (no apt-get here: install them by hand)" >&2
        exit 1
    fi
    install="apt-get install --no-install-recommends$missing"
    if ! get_root; then
        echo "dev: packages are missing, and installing them needs root. Let somebody who may run this, then try again:" >&2
        echo "apt-get update && $install" >&2
        exit 1
    fi
    small_step "asking Debian what its packages are" as_root apt-get update -q
    plan=$(as_root env LC_ALL=C $install --assume-no 2>/dev/null || true)
    plan=$(echo "$plan" | sed -n -e 's/.* \([0-9]*\) newly installed.*/\1 packages/p' -e 's/^Need to get \([^/]*\)\(\/.*\)* of archives.*/, \1 to fetch/p' | tr -d '\n')
    set -- $missing
    more=
    [ $# -le 4 ] || more=" and $(($# - 3)) more"
    step "apt installs ${plan:-packages}, for $1${2:+ $2}${3:+ $3}${more:-${4:+ $4}} (some minutes)" as_root env DEBIAN_FRONTEND=noninteractive $install -y -q
}

# modules FOLDER WHAT-FOR: what its package-lock.json names, from npm.
modules() {
    [ "$1/node_modules/.package-lock.json" -nt "$1/package-lock.json" ] ||
        step "npm fetches packages for $2" env -C "$1" npm ci --no-audit --no-fund --loglevel=error
}

# foreign: sources of the libraries that the studio's engine compiles; once.
foreign() {
    small_step "apt fetches the sources of jansson, meshoptimizer and qhull" sh tools/foreign_sources
}

# configure FOLDER [cmake options]: only when it is new or asked differently.
configure() {
    folder=$1
    shift
    # Folders of earlier versions remember BUILD_SHARED_LIBS=ON, which leaves static libraries out now.
    if [ "$(cat "$folder/.options" 2>/dev/null)" != "$*" ] || [ ! -f "$folder/build.ninja" ] ||
        grep -qs '^BUILD_SHARED_LIBS:' "$folder/CMakeCache.txt"; then
        small_step "cmake looks for compilers and libraries" cmake -S . -B "$folder" -G Ninja -UBUILD_SHARED_LIBS "$@"
        echo "$*" >"$folder/.options"
    fi
}

# compile FOLDER WHAT SECONDS [TARGET...]: SECONDS is what 100 of ninja's steps take one core. Warnings are shown.
compile() {
    folder=$1 what=$2 seconds=$3
    shift 3
    sed 's/^build build\.ninja/build no.ninja/' "$folder/build.ninja" >"$folder/count.ninja" # it would look at itself first, and stop
    steps=$(ninja -C "$folder" -f count.ninja -n "$@" | grep -c '^\[') || true
    rm "$folder/count.ninja"
    if [ "$steps" = 0 ]; then # as far as is known: a new file is found by ninja itself
        small_step "$what" ninja -C "$folder" "$@" || return
        begin=
    else
        step "$what, $steps steps ($(about $((steps * seconds / 100))))" ninja -C "$folder" "$@" || return
    fi
    grep -vE '^(\[[0-9]+/[0-9]+\]|ninja:|--) ' "$step_log" >&2 || true
}
