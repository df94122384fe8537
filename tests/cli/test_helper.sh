#!/bin/sh
# The program cutis-draco is looked for where cutis is, never in the folder it is called from.
. "$(dirname "$0")/common.sh"
real=$(command -v "$CUTIS")
real=$(cd "$(dirname "$real")" && pwd)
if [ ! -x "$real/libexec/cutis/cutis-draco" ]; then
    skip helper "$real/libexec/cutis/cutis-draco is not there"
    exit 0
fi
mkdir -p "$T/here/libexec/cutis"
printf '#!/bin/sh\ntouch "%s/run"\n' "$T" > "$T/here/libexec/cutis/cutis-draco"
chmod 755 "$T/here/libexec/cutis/cutis-draco"
: > "$T/here/cutis" # what the name alone means here
passes "a character is made" "$CUTIS" synth arm -o "$T/plain.glb"
passes "it is compressed" "$CUTIS" convert "$T/plain.glb" --compress draco -o "$T/arm.glb"
cd "$T/here" || exit 1
PATH=$real:$PATH
passes "cutis found through PATH reads it" cutis info ../arm.glb
if [ -e "$T/run" ]; then not_ok "a helper of the current folder is not run" "it was"; else ok "a helper of the current folder is not run"; fi
exit $failed
