#!/bin/sh
# Seeds for fuzz_read from the real assets: each file up to 64 KiB with the byte in front that chooses its reader.
#   sh fuzz/seeds.sh SHARED_DATA OUT_FOLDER
data=$1
out=$2
mkdir -p "$out" || exit 1
find "$data" -type f -size -64k \( -name '*.gltf' -o -name '*.glb' -o -name '*.obj' -o -name '*.ply' -o -name '*.bvh' \
    -o -name '*.csf' -o -name '*.caf' -o -name '*.xaf' -o -name '*.cmf' -o -name '*.xsf' -o -name '*.xmf' -o -path '*cgltf-fuzz*' -o -path '*fuzzer_data*' \) |
    sort | while read -r file; do
    case $file in
    *.gltf) kind='\001' ;;
    *.glb) kind='\002' ;;
    *.obj) kind='\003' ;;
    *.ply) kind='\004' ;;
    *.bvh) kind='\005' ;;
    *.csf | *.cmf | *.xsf | *.xmf) kind='\006' ;;
    *.caf | *.xaf) kind='\007' ;;
    *) kind='\000' ;;
    esac
    name=$(printf '%s' "${file#"$data"/}" | tr '/ ' '__')
    { printf "$kind"; cat "$file"; } >"$out/$name"
done
