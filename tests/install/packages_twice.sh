# The same packages, byte by byte, from the source tarball in another folder, without git: ./dev soak runs it after ./dev package.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
first=$(realpath "${CUTIS_PACKAGES:-out/packages}")
tar -C "$work" -xf "$first"/cutis-*.tar.xz && cp -a web/node_modules "$work"/cutis-*/web/ || exit 1
(cd "$work"/cutis-* && cmake -S . -B build-package -G Ninja -DCMAKE_INSTALL_PREFIX=/usr -DCMAKE_SKIP_RPATH=ON -DCUTIS_TESTS=OFF -DCUTIS_STUDIO=ON -DCUTIS_NATIVE=OFF &&
    ninja -C build-package && sh tools/package build-package "$work/second") >"$work/log" 2>&1 ||
    { echo "not ok the source tarball builds without git: $(tail -n 3 "$work/log" | tr '\n' ' ')"; exit 1; }
echo "ok the source tarball builds without git"
failed=0
for file in "$first"/*.deb; do
    cmp -s "$file" "$work/second/$(basename "$file")" || { echo "not ok two builds are one: $(basename "$file") differs"; failed=1; }
done
[ $failed = 1 ] || echo "ok two builds in two folders are one, byte by byte: $(ls "$first"/*.deb | wc -l) packages"
# The tarball once more, from a clone: what git has, whatever else lies about.
git clone -q . "$work/clone" && (cd "$work/clone" && sh tools/source "$work/again.tar.xz") && cmp "$work/again.tar.xz" "$first"/cutis-*.tar.xz &&
    echo "ok and so is the source tarball" || { echo "not ok and so is the source tarball"; failed=1; }
exit $failed
