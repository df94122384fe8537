#!/bin/sh
# newcomer.sh [STAGE...]: the first hour of somebody who has a bare Debian and this tree; ./dev soak runs it, as root. Fails on
# what a newcomer would stumble over. Its log is the newcomer's screen: read it.
#   user    without root, in a path with a space and an accent: what is missing is named; demo; install in the home; programs
#           in C and C++ by CMake and pkg-config, shared and static; README's program; the command's manners
#   root    the same path as root: ./dev install from nothing, and a program starts
#   python  ./dev python as the user, the wheel in a venv of his own, the guide's tutorial
#   packages  what ./dev package made (in $CUTIS_PACKAGES, out/packages): README's commands without a compiler, Python, programs in C
#           and C++ against the development files, nothing left when they go
#   test    ./dev test as the user (an hour)
# Bare Debians come from debootstrap and are kept, with the packages, in $CUTIS_NEWCOMER (/var/cache/cutis-newcomer; 2 GB).
# CUTIS_DEMO_SECONDS (180) is what ./dev demo may take beyond apt and npm on a quiet machine.
set -u
[ "$(id -u)" = 0 ] || { echo "skip newcomer: it makes bare Debians, which needs root"; exit 0; }
[ "${CUTIS_UNSHARED:-}" ] || CUTIS_UNSHARED=1 exec unshare --mount --propagation private sh "$0" "$@" # its mounts go with it
tree=$(cd "$(dirname "$0")/../.." && pwd)
cache=${CUTIS_NEWCOMER:-/var/cache/cutis-newcomer}
log=$cache/log.txt
place='my projects é/cutis'
failed=0
mkdir -p "$cache/archives"
: >"$log"
say() { echo "$*" | tee -a "$log"; }
verdict() { # NAME COMMAND...: what it says goes to the log
    name=$1
    shift
    if "$@" >>"$log" 2>&1; then say "ok $name"; else say "not ok $name: see $log"; failed=1; fi
}

# machine NAME: a bare Debian below $cache/NAME, with the user ada and the packages that were fetched before.
machine() {
    root=$cache/$1
    rm -rf --one-file-system "$root"
    if [ ! -f "$cache/bookworm.tar" ]; then
        debootstrap --variant=minbase --include=ca-certificates bookworm "$root" "$(mirror)" >>"$log" 2>&1 || exit 1
        tar -C "$root" -cf "$cache/bookworm.tar" . && rm -rf --one-file-system "$root"
    fi
    mkdir -p "$root"
    tar -C "$root" -xf "$cache/bookworm.tar"
    for suite in bookworm bookworm-updates; do echo "deb $(mirror) $suite main"; done >"$root/etc/apt/sources.list"
    cp /etc/resolv.conf /etc/hosts "$root/etc/"
    cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # the network is this machine's: a proxy of its own is trusted, by npm too
    mount -t proc proc "$root/proc" && mount --bind /sys "$root/sys" && mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts" &&
        mount -t tmpfs tmpfs "$root/dev/shm" && mount --bind "$cache/archives" "$root/var/cache/apt/archives" || exit 1
    chroot "$root" useradd -m ada
    for home in root home/ada; do
        mkdir -p "$root/$home/$place"
        sources | tar -C "$tree" --null -T - -cf - | tar -C "$root/$home/$place" -xf -
    done
    chroot "$root" chown -R ada: /home/ada
}
mirror() { cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -oE -m1 'https?://[^ ]*/debian/?( |$)' | tr -d ' ' | grep . || echo http://deb.debian.org/debian; }
sources() { # as a clone has them
    if [ -e "$tree/.git" ]; then git -C "$tree" ls-files -zco --exclude-standard
    else (cd "$tree" && find . -type f -not -path './build*' -not -path './out/*' -not -path '*/node_modules/*' -print0); fi
}

# as USER COMMANDS: in the user's copy of the tree, in a plain environment; what is said goes to the log and to $cache/said.
as() {
    user=$1 home=/home/$1
    [ "$user" != root ] || home=/root
    printf '\n%s$ %s\n' "$user" "$2" >>"$log"
    chroot --userspec="$user:" "$root" env -i HOME="$home" USER="$user" LANG=C.UTF-8 TERM=xterm NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        sh -c "cd \"\$HOME/$place\" && { $2
        }" >"$cache/said" 2>&1 </dev/null
    code=$?
    cat "$cache/said" >>"$log"
    return $code
}
# on_terminal USER COMMAND: as it looks on a terminal. Sets seconds, cpu (of all processes), silence (the longest), and lines.
on_terminal() {
    began=$(date +%s) before_cpu=$(spent)
    as "$1" "script -qec '$2' /dev/null | perl -e '\$|=1; \$t=time; while (sysread STDIN, \$b, 4096) { \$n=time; \$m=\$n-\$t if \$n-\$t>\$m; \$t=\$n; print \$b } print \"\\nsilence \", \$m+0, \"\\n\"'; true"
    seconds=$(($(date +%s) - began)) cpu=$(($(spent) - before_cpu))
    silence=$(sed -n 's/^silence //p' "$cache/said")
    lines=$(($(wc -l <"$cache/said") - 2))
}
spent() { awk '{ print int(($16 + $17) / 100) }' "/proc/$$/stat"; } # by our children, in seconds
said() { tr '\r' '\n' <"$cache/said" | grep -qE -- "$1"; }
refuses() { # USER COMMAND: says no, at once
    began=$(date +%s)
    if as "$1" "$2"; then return 1; fi
    seconds=$(($(date +%s) - began))
    [ "$seconds" -le 15 ] && ! said 'not found'
}
# fetch_as_told: root runs the line that the last refusal ended with.
fetch_as_told() {
    line=$(grep '^apt-get update' "$cache/said") || return 1
    as root "export DEBIAN_FRONTEND=noninteractive; $(echo "$line" | sed 's/install /install -y -qq /; s/apt-get update/& -qq/') >/tmp/apt.log 2>&1 || cat /tmp/apt.log"
}
packages() { chroot "$root" dpkg-query -W | wc -l; }
megabytes() { du -sxm --exclude=archives "$root" | cut -f1; }
at_most() { echo "# $1, at most $2"; [ "$1" -le "$2" ]; }
demo_limits() { # after on_terminal
    say "# the demo took $seconds s, $cpu s of processor time on $(nproc) cores (load $(cut -d' ' -f1 /proc/loadavg)); $lines lines; silent for $silence s at most"
    verdict "demo prints at most 25 lines" at_most "$lines" 25
    verdict "demo is never silent for more than 10 s" at_most "$silence" 10
}
tries_next() { # every command below "Try next" runs as it stands, but for those on a file of one's own
    tr -d '\r' <"$cache/said" | sed -n '/Try next/,$s/^  \([^ ]\)/\1/p' >"$cache/next"
    [ -s "$cache/next" ] && ! grep -vE '^(build/cutis|\./dev) ' "$cache/next" || return 1
    grep -v YOUR "$cache/next" | while read -r line; do as ada "$line" </dev/null || exit 1; done
}

# programs USER SETTINGS: a stranger's C and C++ programs against what is installed, by pkg-config and by CMake, and README's.
programs() {
    libraries='cutis-io cutis-skeleton cutis-render'
    for language in c cpp; do
        case $language in c) compiler='cc -std=c99' ;; *) compiler='c++ -std=c++17' ;; esac
        verdict "$1: a shared $language program by pkg-config starts" as "$1" "$2
            $compiler tests/install/consumer.$language -o ~/shared_$language \$(pkg-config --cflags --libs $libraries) && ~/shared_$language"
        verdict "$1: a static $language program by pkg-config starts" as "$1" "$2
            lib=\$(pkg-config --variable=libdir cutis) && $compiler tests/install/consumer.$language -o ~/static_$language \$(pkg-config --static --cflags --libs $libraries | sed \"s|-l\\(cutis[a-z-]*\\)|\$lib/lib\\1.a|g\") &&
            ! readelf -d ~/static_$language | grep libcutis && ~/static_$language"
    done
    verdict "$1: programs by CMake, shared and static, start" as "$1" "$2
        cmake -S tests/install -B ~/by_cmake -G Ninja '-DKINDS=plain;_static' -DCOMPONENTS=cutis-io && cmake --build ~/by_cmake &&
        for program in plain_c plain_cpp _static_c _static_cpp; do ~/by_cmake/\$program || exit 1; done"
    verdict "$1: README's program compiles and runs as README says" as "$1" "$2
        awk '\$0 == \"\`\`\`c\" { on = 1; next } /^\`\`\`/ { on = 0 } on' README.md >hello.c
        $(sed -n 's/.*`\(cc hello\.c [^`]*\)`.*/\1/p' "$tree/README.md") && { [ -d out/demo ] || cutis demo -o out/demo >/dev/null; } && ./a.out"
}

stage_user() {
    machine user
    before=$(packages) size=$(megabytes)
    verdict "demo without packages and sudo refuses at once" refuses ada './dev demo'
    verdict "and names the packages in an apt line" said '^apt-get update && apt-get install .*cmake'
    verdict "that line is all root has to do" fetch_as_told
    say "# the demo wants $(($(packages) - before)) packages, $(($(megabytes) - size)) MB"
    verdict "the demo wants at most 220 packages" at_most $(($(packages) - before)) 220
    on_terminal ada './dev demo'
    demo_limits
    verdict "demo in time, on a quiet machine" at_most $((cpu / $(nproc))) "${CUTIS_DEMO_SECONDS:-180}"
    verdict "demo says what to try next, and that works as it stands" tries_next
    on_terminal ada './dev demo'
    verdict "a second demo compiles nothing" at_most "$cpu" 60
    verdict "default install without root and sudo refuses at once" refuses ada './dev install'
    as ada 'touch stamp; find build -name "*.o" | sort >before'
    verdict "install in the home" as ada './dev install ~/prefix'
    settings=$(grep '^export ' "$cache/said")
    verdict "it compiles nothing twice" as ada 'find build -name "*.o" -newer stamp | sort | comm -12 - before >twice; ! [ -s twice ] && ! ls -d build-*'
    as root 'apt-get install -y -qq --no-install-recommends g++ >/tmp/apt.log 2>&1 || cat /tmp/apt.log'
    programs ada "$settings"
    as ada 'sh tests/install/newcomer_command.sh build/cutis'
    grep -E '^(not )?ok |^skip ' "$cache/said"
    ! grep -q '^not ok' "$cache/said" || failed=1
}
stage_root() {
    machine root
    on_terminal root './dev install'
    say "# ./dev install from nothing took $seconds s, $cpu s of processor time; $lines lines; silent for $silence s at most"
    verdict "install from nothing is never silent for more than 10 s" at_most "$silence" 10
    verdict "install says how long apt took" said 'apt installs .* [0-9]+ s$'
    verdict "install ends well" as root 'command -v cutis && cutis version'
    as root 'apt-get install -y -qq --no-install-recommends g++ >/tmp/apt.log 2>&1 || cat /tmp/apt.log'
    programs root :
}
stage_python() {
    machine python
    verdict "python without packages and sudo refuses at once" refuses ada './dev python'
    verdict "root fetches them" fetch_as_told
    verdict "the wheel is made" as ada './dev python'
    line=$(sed -n 's/.*to have it: //p' "$cache/said")
    as root 'apt-get install -y -qq --no-install-recommends python3-matplotlib >/tmp/apt.log 2>&1 || cat /tmp/apt.log'
    verdict "it is installed as it says" as ada "$line"
    verdict "the tutorial runs with it" as ada 'awk "\$0 == \"\`\`\`python\" { on = 1; next } /^\`\`\`/ { on = 0 } on" docs/guide/python.md >tutorial.py &&
        MPLBACKEND=Agg venv/bin/python tutorial.py && [ -s methods.png ] && venv/bin/python -c "import cutis; print(cutis.__file__)" | grep venv'
}
stage_packages() {
    machine packages
    debs=${CUTIS_PACKAGES:-$tree/out/packages}
    mkdir "$root/debs"
    cp "$debs"/*.deb "$root/debs" || { say "not ok packages: none in $debs; ./dev package makes them"; failed=1; return; }
    before=$(packages) size=$(megabytes)
    install='DEBIAN_FRONTEND=noninteractive apt-get install -y -qq'
    as root 'apt-get update -qq'
    verdict "packages: the command installs with what it needs" as root "$install /debs/cutis_*.deb"
    say "# the command wants $(($(packages) - before)) packages, $(($(megabytes) - size)) MB"
    verdict "packages: no compiler came with it" as ada '! command -v cc || ! command -v gcc || ! command -v ld'
    verdict "packages: README's commands run as they stand" as ada "cutis demo -o out/demo && $(awk '$0 == "```sh" { on = 1; next } /^```/ { on = 0 } on' "$tree/README.md" | sed 's|^build/cutis|cutis|') && [ -s out/walking.glb ]"
    verdict "packages: the man page and completion are there" as ada 'zcat /usr/share/man/man1/cutis.1.gz | head -n 1 | grep -q "^.TH" && grep -q cutis /usr/share/bash-completion/completions/cutis'
    verdict "packages: a file with Draco's compression is written and read" as ada 'cutis convert out/demo/biped.glb --compress draco -q -o out/draco.glb && cutis info out/draco.glb'
    verdict "packages: the studio and Python install" as root "$install --no-install-recommends /debs/cutis-studio_*.deb /debs/python3-cutis_*.deb /debs/libcutis0*.deb /debs/libcutis-io*.deb /debs/libcutis-skeleton*.deb /debs/libcutis-render*.deb"
    verdict "packages: the page is where cutis view looks" as ada '[ -s /usr/share/cutis/studio/index.html ]'
    verdict "packages: Python reads a model and deforms it" as ada 'python3 -c "
import cutis
assert cutis.__file__.startswith(\"/usr/lib/python3\"), cutis.__file__
model = cutis.read(\"out/demo/biped.glb\")
frames = model.deform(\"dqs\", clip=\"walk\", fps=10)
assert frames.ndim == 3 and frames.shape[2] == 3, frames.shape
print(cutis.__version__, frames.shape)"'
    verdict "packages: the development files install" as root "$install --no-install-recommends /debs/libcutis-dev_*.deb gcc g++ libc6-dev cmake ninja-build pkg-config"
    programs ada :
    verdict "packages: every sample compiles against them" as ada 'for sample in samples/*.c; do cc $sample -o ~/sample $(pkg-config --cflags --libs cutis-io cutis) -lm || exit 1; done'
    verdict "packages: they go and leave nothing" as root 'apt-get purge -y -qq "*cutis*" && ! find /usr /etc -name "*cutis*" | grep .'
}
stage_test() {
    machine test
    verdict "test without packages and sudo refuses at once" refuses ada './dev test'
    verdict "root fetches them" fetch_as_told
    on_terminal ada './dev test'
    say "# ./dev test took $seconds s, $cpu s of processor time; silent for $silence s at most"
    verdict "no test fails" said '[0-9]{4} passed, 0 failed'
    verdict "nothing warns" eval '! said "warning:"'
    verdict "test is never silent for more than 10 s" at_most "$silence" 10
}

for stage in ${*:-user root python packages test}; do "stage_$stage"; done
say "newcomer: $log"
exit $failed
