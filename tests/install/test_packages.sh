# The packages of this build (tools/package; ./dev package makes those that are given away): lintian accepts them, they say what they
# need, and what is in them works where they are unpacked. That two builds are one, and a bare Debian: ./dev soak.
. "$(dirname "$0")/../cli/common.sh"
for need in lintian dpkg-shlibdeps; do
    command -v $need >/dev/null || { skip packages "Debian's $need is not there, and ./dev test could not install it"; exit 0; }
done
CUTIS_XZ=0 passes "packages are made" sh tools/package "$BUILD" "$T/packages" || exit 1
# This build has its libraries in lib, not in a machine's own folder as ./dev package has: of that lintian says this.
equals "lintian has nothing to say" "$(lintian --allow-root --suppress-tags pkg-config-unavailable-for-cross-compilation "$T"/packages/*.deb 2>&1 | head -n 5)" ""
mkdir "$T/root"
for deb in "$T"/packages/*.deb; do dpkg-deb -x "$deb" "$T/root"; done
# An assertion brings the name of its file, with the folder it was compiled in: then two folders make two packages.
equals "nothing in them names the folder they were compiled in" "$(grep -rlF "$PWD/" "$T/root/usr" | head -n 3)" ""
depends=$(dpkg-deb -f "$T"/packages/libcutis0*.deb Depends)
equals "the core needs the C library alone" "$(echo "$depends" | sed 's/ (.*//')" "libc6"
export LD_LIBRARY_PATH=$T/root/usr/lib PKG_CONFIG_LIBDIR=$T/root/usr/lib/pkgconfig:$(pkg-config --variable pc_path pkg-config)
passes "the command runs" "$T/root/usr/bin/cutis" synth arm --size low -q -o "$T/arm.glb"
passes "and finds Draco's helper" "$T/root/usr/bin/cutis" convert "$T/arm.glb" --compress draco -q -o "$T/draco.glb"
passes "Python finds the libraries" env -u CUTIS_LIBRARY_PATH PYTHONPATH="$T/root/usr/lib/python3/dist-packages" /usr/bin/python3 -c "
import cutis, sys
assert cutis.__file__.startswith('$T'), cutis.__file__
cutis.read('$T/arm.glb')"
passes "a program is linked statically as pkg-config says" sh -c "cc samples/04_file_in_file_out.c -o '$T/sample' \$(pkg-config --static --cflags --libs cutis-io cutis | sed 's|-l\(cutis[a-z-]*\)|$T/root/usr/lib/lib\1.a|g') -lm"
passes "and runs without the libraries" env -u LD_LIBRARY_PATH "$T/sample" "$T/arm.glb" "$T/out.glb" "$T/frames.npy"
# The SBOM: every package is described, and what it names is there.
passes "the SBOM describes every package and hash" /usr/bin/python3 -c "
import glob, hashlib, json
sbom = json.load(open(glob.glob('$T/packages/*.spdx.json')[0]))
names = {each['SPDXID'] for each in sbom['packages']} | {'SPDXRef-DOCUMENT'}
assert sbom['spdxVersion'] == 'SPDX-2.3' and len(names) == len(sbom['packages']) + 1
assert all(r['spdxElementId'] in names and r['relatedSpdxElement'] in names for r in sbom['relationships'])
hashes = {each['packageFileName']: each['checksums'][0]['checksumValue'] for each in sbom['packages'] if 'packageFileName' in each}
files = glob.glob('$T/packages/*.deb') + glob.glob('$T/packages/*.tar.xz')
assert len(hashes) == len(files) and all(hashes[f.split('/')[-1]] == hashlib.sha256(open(f, 'rb').read()).hexdigest() for f in files)"
exit $failed
