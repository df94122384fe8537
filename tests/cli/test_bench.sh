#!/bin/sh
# Benchmarks, short ones: figures that belong together agree, tables have the rows that JSON has, and what a bench makes is right.
. "$(dirname "$0")/common.sh"

near="lambda a, b: abs(a - b) <= 1e-3 * abs(b)"

passes "bench pose-space" "$CUTIS" bench pose-space --quick --json
holds "frames a second follow from the time of a vertex" "$T/stdout" \
    "all(($near)(r['frames_per_second'] * r['ns_per_vertex'] * r['vertices'], 1e9) for r in d['rows'])"
holds "plain skinning is the measure of the others" "$T/stdout" \
    "all(($near)(r['times_ssd'], r['ns_per_vertex'] / [s for s in d['rows'] if s['vertices'] == r['vertices'] and s['method'] == 'ssd'][0]['ns_per_vertex']) for r in d['rows'])"

passes "bench reduce" "$CUTIS" bench reduce --quick --json
holds "reduced weights have less energy than the largest ones kept" "$T/stdout" \
    "all(0 < r['energy_ratio'] < 1 and r['solve_seconds'] <= r['seconds'] and r['sweeps'] > 0 for r in d['rows'])"
holds "forming takes part of the time, and not less than its multiply-adds at the machine's rate" "$T/stdout" \
    "len(d['moments']) > 0 and all(0 < r['form_cpu_seconds'] < r['cpu_seconds'] and 0 < r['form_of_limit'] < 1 and ($near)(r['form_of_limit'] * r['form_cpu_seconds'] * r['multiply_adds_per_second'], r['form_multiply_adds']) for r in d['moments'])"

passes "bench cage" "$CUTIS" bench cage --quick --json
cp "$T/stdout" "$T/cage.json"
holds "rates are one over times, and all weights come before few" "$T/cage.json" \
    "all(($near)(r['seconds'] * r['per_second'], 1) and r['weights'] <= r['controls'] for r in d['rows']) and len({r['weights'] for r in d['rows']}) > 1"
passes "bench cage as text" "$CUTIS" bench cage --quick
equals "has a line for every row" "$(grep -c '^bind \|^deform ' "$T/stdout")" "$(json "$T/cage.json" "len([r for r in d['rows'] if 'bind' in r['what'] or 'deform' in r['what']])")"

passes "bench skeleton" "$CUTIS" bench skeleton --quick --json
holds "its parts take no longer than the whole" "$T/stdout" \
    "all(r['kernel_seconds'] + r['axes_seconds'] <= r['total_seconds'] and ($near)(r['microseconds_per_triangle'] * r['triangles'], 1e6 * r['total_seconds']) and r['star_shaped'] <= r['parts'] for r in d['rows'])"

passes "bench patches" "$CUTIS" bench patches --quick --instances 1 --threads 1 --json
holds "every pose of knee and body takes time" "$T/stdout" \
    "all(r['ms_per_frame'] > 0 for r in d['rows']) and {r['what'] for r in d['rows']} > {'knee'} and len({r['degrees'] for r in d['rows'] if r['what'] == 'knee'}) > 2"

passes "bench frame" "$CUTIS" bench frame --quick --json -o "$T/last.png"
holds "frames are drawn" "$T/stdout" "all(r['frames_per_second'] > 0 and r['triangles'] > 0 for r in d['rows'])"
equals "the last one is a picture" "$(head -c 4 "$T/last.png" | tail -c 3)" PNG

passes "bench crowd" "$CUTIS" bench crowd --quick --json
holds "a row says what was measured, where, and rates are one over times" "$T/stdout" \
    "len(d['rows']) > 1 and all(sorted(r) == ['deform_milliseconds', 'frames_per_second', 'instances', 'levels', 'method', 'milliseconds', 'poses_on_device', 'vertices'] and r['poses_on_device'] in (True, False) and ($near)(r['milliseconds'] * r['frames_per_second'], 1e3) for r in d['rows'])"

passes "bench growth" "$CUTIS" bench growth --quick --json
# The slope by definition, from the points that the bench tells.
slope="lambda p: (lambda x, y: sum((a - sum(x) / len(x)) * (b - sum(y) / len(y)) for a, b in zip(x, y)) / sum((a - sum(x) / len(x)) ** 2 for a in x))([__import__('math').log(q['size']) for q in p], [__import__('math').log(q['cpu_seconds']) for q in p])"
holds "exponents are slopes of log cost against log size" "$T/stdout" \
    "len(d['rows']) == 5 and all(abs(($slope)(r['points']) - r['exponent']) < 1e-3 and abs(($slope)(r['points'][1:]) - r['exponent_of_larger']) < 1e-3 for r in d['rows'])"
holds "goals are said to be reached when they are" "$T/stdout" \
    "len(d['figures']) == 5 and all(f['reached'] == (f['value'] <= f['goal']) and f['sense'] == 'at most' for f in d['figures'])"
# What no processor can change: a reduction of ten times the vertices is not done in the time of twice as many.
holds "cost grows" "$T/stdout" "all(r['points'][2]['cpu_seconds'] > 2 * r['points'][0]['cpu_seconds'] for r in d['rows'] if r['what'] in ('deform', 'crowd', 'reduce'))"

passes "bench pose" "$CUTIS" bench pose --quick
grep -Eq '^ +(reached|missed) +microseconds_a_pose' "$T/stdout" && ok "a bench tells its goals" || not_ok "a bench tells its goals" "$(cat "$T/stdout")"

here=$PWD; cd "$T" # where it makes its files
passes "bench files" "$CUTIS" bench files --quick --json --vertices 200000
cd "$here"
# Memory is counted, not timed: it is the same on every machine.
holds "a reader has at most two and a half times its file in memory" "$T/stdout" "1 < d['peak_of_file'] <= 2.5 and d['read_gb_per_second'] > 0 and d['bind_gb_per_second'] > 0"
equals "nothing is left behind" "$(ls "$T" | grep -c cutis-bench-files)" 0

passes "bench blend of every method" "$CUTIS" bench blend --quick --vertices 2972 --threads 1
equals "has a line for each" "$(for m in lbs sbs dqs cor; do grep -qi "$m" "$T/stdout" && echo "$m"; done | tr '\n' ' ')" "lbs sbs dqs cor "
fails 2 "a bench of nothing" "0|must|from" "$CUTIS" bench blend --vertices 0
fails 2 "an option that a bench has no use for" "does nothing in bench pose" "$CUTIS" bench pose --vertices 100
fails 2 "a method that blend does not time" "times lbs, sbs, dqs and cor" "$CUTIS" bench blend --method patches
fails 2 "a size that no row has" "no row" "$CUTIS" bench reduce --vertices 100
exit $failed
