#!/bin/sh
# cutis reproduce: a quick run of all five papers, its page and its file; what it refuses.
. "$(dirname "$0")/common.sh"
HERE=$(dirname "$0")

passes "reproduces all five papers" "$CUTIS" reproduce --quick -o "$T/papers"
if found=$(/usr/bin/python3 "$HERE/report_check.py" "$T/papers/index.html"); then ok "the page parses and refers to nothing outside ($found)"
else not_ok "the page parses and refers to nothing outside" "$found"; fi
J=$T/papers/reproduce.json
holds "the file has the documented keys" "$J" 'sorted(d) == ["cpu", "gpu", "isa", "papers", "quick", "version"] and all(sorted(p) == ["authors", "key", "machine", "missing", "seconds", "tables", "title"] for p in d["papers"])'
holds "all five papers are there" "$J" '[p["key"] for p in d["papers"]] == ["sbs", "pose-space", "reduction", "handles", "patches"]'
holds "tables have the documented keys" "$J" 'all(sorted(t) == ["metrics", "note", "ours", "own", "place", "rows", "title"] for p in d["papers"] for t in p["tables"])'
holds "every row has a cell for every metric" "$J" 'all(len(r["cells"]) == len(t["metrics"]) for p in d["papers"] for t in p["tables"] for r in t["rows"])'
holds "every table has a figure of ours beside the paper's" "$J" 'all(any(c["ours"] is not None for r in t["rows"] for c in r["cells"]) for p in d["papers"] for t in p["tables"])'
holds "times and rates of ours are positive" "$J" 'all(c["ours"] is None or c["ours"] > 0 for p in d["papers"] for t in p["tables"] for r in t["rows"] for m, c in zip(t["metrics"], r["cells"]) if m["better"] != "plain")'
holds "what is missing says why" "$J" 'all(n["what"] and n["why"] for p in d["papers"] for n in p["missing"])'
/usr/bin/python3 "$HERE/reproduce_check.py" "$J" "$HERE/../../docs/spec" || failed=1
# What the papers found, and the order of methods they report, on our bodies.
TABLE='[t for p in d["papers"] if p["key"] == K for t in p["tables"] if t["place"] == P][0]["rows"]'
table() { echo "$TABLE" | sed "s/K\]/\"$1\"]/; s/== K/== \"$1\"/; s/== P/== \"$2\"/"; }
holds "spherical blending loses less volume than linear in each of its figures" "$J" "all(abs(r['cells'][1]['ours']) < abs(r['cells'][0]['ours']) for r in $(table sbs 'Figures 5-7'))"
holds "WPSD is nearer to unseen shapes than PSD, PSD than SSD" "$J" "(lambda e: e[2] < 0.5 * e[1] and e[1] < 0.8 * e[0])([r['cells'][0]['ours'] for r in $(table pose-space 'Figures 5, 6')])"
holds "errors fall from 4 weights to 8" "$J" "(lambda e: e[-1] < 0.5 * e[0])([r['cells'][0]['ours'] for r in $(table reduction 'Figure 11')])"
holds "over the animation poisson has half of geometric's normal error, a third of k-largest's" "$J" "(lambda e: e[3] < 0.5 * e[1] and e[3] < 0.33 * e[0])([r['cells'][0]['ours'] for r in $(table reduction 'Figure 12')])"
holds "our patches keep the knee's volume within 0.1 %" "$J" "all(abs(r['cells'][4]['ours']) <= 0.1 for r in $(table patches 'Figure 22'))"

passes "one paper alone" "$CUTIS" reproduce --paper sbs --quick --json -o "$T/one"
cp "$T/stdout" "$T/one.json"
holds "--json prints what the file holds" "$T/one.json" '[p["key"] for p in d["papers"]] == ["sbs"]'
cmp -s "$T/one.json" "$T/one/reproduce.json" && ok "the same bytes" || not_ok "the same bytes" "they differ"
fails 2 "an unknown paper is a usage error" 'paper' "$CUTIS" reproduce --paper sbz -o "$T/out/x"
fails 2 "no folder is a usage error" '-o DIR' "$CUTIS" reproduce --paper sbs
echo text >"$T/file"
fails 1 "a folder below a file cannot be made" 'folder' "$CUTIS" reproduce --paper sbs -o "$T/file/x"
fails 1 "a file is no folder" 'folder' "$CUTIS" reproduce --paper sbs -o "$T/file"
fails 2 "a device that does not exist is named" 'tpu' "$CUTIS" reproduce --paper sbs --device tpu -o "$T/out/x"
exit $failed
