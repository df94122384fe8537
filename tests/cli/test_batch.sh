# cutis check and convert on many files: folders, names that collide, one bad file among good ones, the same output whatever the
# number of threads, what is left after Ctrl-C, and the page.
here=$(dirname "$0")
. "$here/common.sh"
mkdir -p "$T/in/a" "$T/in/b/deep" "$T/in/.hidden" "$T/in/locked"
"$CUTIS" synth arm --vertices 1000 -q -o "$T/in/a/x.glb"
"$CUTIS" convert "$T/in/a/x.glb" -q -o "$T/in/b/x.stl"
"$CUTIS" convert "$T/in/a/x.glb" -q -o "$T/in/b/deep/y.ply"
"$CUTIS" convert "$T/in/a/x.glb" -q -o "$T/in/c.gltf"
printf 'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 9\n' >"$T/in/bad.off"
printf 'HIERARCHY ROOT r { OFFSET 0 0 0 JOINT j { OFFSET 0 1 0 } }\nMOTION Frames: 0\nFrame Time: 1\n' >"$T/in/b/m.bvh"
printf 'name=value\n' >"$T/in/other.cfg"
printf 'hello\n' >"$T/in/readme.txt"
cp "$T/in/b/x.stl" "$T/in/.hidden.stl"
ln -s .. "$T/in/b/back"
ln -s nowhere "$T/in/dead"

"$CUTIS" check "$T/in" >"$T/stdout" 2>"$T/stderr"
equals "check of a folder fails if one file does" "$?" 1
equals "with a line for each file, and a summary" "$(grep -c '^ok ' "$T/stdout") $(grep -c '^failed ' "$T/stdout") $(tail -1 "$T/stdout")" \
    "5 1 6 files: 5 ok, 1 failed; skipped: 2 hidden, 3 of other kinds, 2 links that lead nowhere or back"
equals "and one line on stderr" "$(cat "$T/stderr")" "cutis: 1 of 6 files failed"
equals "the bad one with its place" "$(grep -c "^failed  $T/in/bad.off: line 6: " "$T/stdout")" 1
"$CUTIS" check "$T/in" --quiet >"$T/stdout" 2>"$T/stderr"
equals "--quiet names the failed ones only" "$(wc -c <"$T/stdout") $(grep -c bad.off "$T/stderr") $(wc -l <"$T/stderr")" "0 1 2"
if [ "$(id -u)" -ne 0 ]; then
    chmod 0 "$T/in/locked"
    "$CUTIS" check "$T/in" 2>/dev/null | grep -q '1 unreadable folders' && ok "a folder that cannot be read is counted" || not_ok "a folder that cannot be read is counted" "no"
    chmod 700 "$T/in/locked"
else
    skip "a folder that cannot be read is counted" "root can read every folder"
fi

# JSON: one document, files in order, the same bytes with any number of threads.
"$CUTIS" check "$T/in" --json --threads 1 >"$T/one.json" 2>/dev/null
same=yes
for threads in 2 3 8; do
    "$CUTIS" check "$T/in" --json --threads $threads >"$T/more.json" 2>/dev/null
    cmp -s "$T/one.json" "$T/more.json" || same=no
done
equals "the JSON is the same with any number of threads" $same yes
holds "it has the files in order" "$T/one.json" "[f['file'][len('$T/in/'):] for f in d['files']] == ['a/x.glb', 'b/deep/y.ply', 'b/m.bvh', 'b/x.stl', 'bad.off', 'c.gltf']"
holds "and what each of them got" "$T/one.json" "[f['status'] for f in d['files']].count('ok') == 5 and d['failed'] == 1 and d['files'][4]['result']['issues'][0]['place'] == 'line 6' and d['files'][0]['result']['errors'] == 0"
# A file's result is what check says of it alone.
"$CUTIS" check "$T/in/a/x.glb" --json >"$T/alone.json" 2>/dev/null
/usr/bin/python3 -c "
import json
many, alone = json.load(open('$T/one.json')), json.load(open('$T/alone.json'))
print(many['files'][0]['result'] == alone)" >"$T/same"
equals "a result is what check says of the file alone" "$(cat "$T/same")" True

# convert: folders stay, the second of two that become one file fails, the others are written.
cp "$T/in/b/x.stl" "$T/in/a/x.stl"
"$CUTIS" convert "$T/in" --to glb -o "$T/out" >"$T/stdout" 2>"$T/stderr"
equals "convert of a folder fails if one file does" "$? $(tail -1 "$T/stdout")" \
    "1 7 files: 5 ok, 2 failed; skipped: 2 hidden, 3 of other kinds, 2 links that lead nowhere or back"
equals "files keep their folders" "$(cd "$T/out" && find . -type f | LC_ALL=C sort | tr '\n' ' ')" "./a/x.glb ./b/deep/y.glb ./b/m.glb ./b/x.glb ./c.glb "
equals "two that become one: the second fails and says why" "$(grep -c "^failed  $T/in/a/x.stl: $T/out/a/x.glb is made of $T/in/a/x.glb; rename" "$T/stdout")" 1
"$CUTIS" info "$T/out/a/x.glb" --json >"$T/first.json"
holds "and the first is whole" "$T/first.json" "d['joints'] > 1"
rm "$T/in/a/x.stl"
"$CUTIS" convert "$T/in/a/x.glb" "$T/in/b/x.stl" --to ply -o "$T/named" -q
equals "named files keep what their folders do not share" "$? $(cd "$T/named" && find . -type f | LC_ALL=C sort | tr '\n' ' ')" "0 ./a/x.ply ./b/x.ply "
(cd "$T/in/b" && "$CUTIS" convert x.stl deep/../../a/x.glb --to obj -o "$T/climbs" -q)
equals "a path with .. stays below the folder" "$(cd "$T/climbs" && find . -name '*.obj' | LC_ALL=C sort | tr '\n' ' ')" "./a/x.obj ./b/x.obj "
"$CUTIS" convert "$T/in" --to glb -o "$T/in/made" -q 2>/dev/null
"$CUTIS" convert "$T/in" --to glb -o "$T/in/made" >"$T/stdout" 2>/dev/null
equals "what an earlier run made is not converted again" "$(tail -1 "$T/stdout" | cut -d: -f1)" "6 files"
rm -r "$T/in/made"
sum=$(cksum <"$T/in/a/x.glb")
"$CUTIS" convert "$T/in/a" --to glb -o "$T/in/a" >"$T/stdout" 2>/dev/null
equals "a file is not written over itself" "$? $(cksum <"$T/in/a/x.glb") $(grep -c 'is the file itself' "$T/stdout")" "1 $sum 1"
mkdir "$T/own"
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n' >"$T/own/a.obj"
"$CUTIS" convert "$T/in/c.gltf" -q -o "$T/own/a.ply"
"$CUTIS" convert "$T/own/a.obj" -q -o "$T/own/a.gltf"
ln -s own "$T/alias"
sum=$(cat "$T/own"/* | cksum)
"$CUTIS" convert "$T/own" --to ply -o "$T/own" >"$T/stdout" 2>/dev/null
equals "nor over another file of the batch" "$? $(cat "$T/own"/* | cksum) $(grep -c "a.ply would be written over $T/own/a.ply, which" "$T/stdout")" "1 $sum 2"
"$CUTIS" convert "$T/own/a.obj" "$T/own/a.gltf" --to gltf -o "$T/alias" >"$T/stdout" 2>/dev/null
equals "whatever names and links lead to it" "$? $(cat "$T/own"/* | cksum) $(grep -c '^failed ' "$T/stdout")" "1 $sum 2"
mkdir -p "$T/kept/b/deep" "$T/sub/b/deep/new"
cp "$T/in/bad.off" "$T/sub/b/deep"
cp "$T/in/bad.off" "$T/sub/b/deep/new"
"$CUTIS" convert "$T/sub" --to glb -o "$T/kept" >/dev/null 2>&1
equals "an empty folder that was there stays" "$? $(cd "$T/kept" && find . | LC_ALL=C sort | tr '\n' ' ')" "1 . ./b ./b/deep "
"$CUTIS" convert "$T/in/bad.off" --to glb -o "$T/empty/deep" >/dev/null 2>&1
equals "no empty folder is left of what failed" "$? $([ -e "$T/empty/deep" ] && echo there)" "1 "
"$CUTIS" convert "$T/in/none.obj" "$T/in/c.gltf" --to glb -o "$T/some" >"$T/stdout" 2>/dev/null
equals "a file that is not there stops no other" "$? $(ls "$T/some")" "1 c.glb"

# Bodies of other axes and units: said for each, only where it applies.
"$CUTIS" check "$T/in" --up auto --units auto --json 2>/dev/null >"$T/stdout"
holds "guesses are each file's own" "$T/stdout" "['guesses' in (f['result'] or {}) for f in d['files']] == [False, True, True, True, False, False]"

fails 2 "many files need --to" "need --to FORMAT -o FOLDER" "$CUTIS" convert "$T/in" -o "$T/out/x.glb"
fails 2 "and -o" "need --to FORMAT -o FOLDER" "$CUTIS" convert "$T/in" --to glb
fails 2 "--fix is for one file" "for one file" "$CUTIS" check "$T/in" --fix -o "$T/out/x.glb"
fails 2 "--ascii is not for every format" "ascii is for" "$CUTIS" convert "$T/in" --to glb --ascii -o "$T/out/x"
fails 2 "--scale and --units exclude each other" "exclude each other" "$CUTIS" check "$T/in" --scale 2 --units cm
fails 1 "a folder without models says so" "no models in it" "$CUTIS" check "$T/in/locked"

# The page: one file that refers to nothing else, a row and two pictures a model, names escaped.
mkdir "$T/page"
cp "$T/in/b/x.stl" "$T/page/<b>&.stl"
cp "$T/in/bad.off" "$T/in/b/m.bvh" "$T/page"
"$CUTIS" check "$T/page" --report "$T/r.html" >"$T/stdout" 2>&1
equals "check --report writes a page" "$? $([ -s "$T/r.html" ] && echo there)" "1 there"
/usr/bin/python3 - "$T/r.html" >"$T/seen" <<'END'
import html.parser, re, sys
text = open(sys.argv[1]).read()
class Page(html.parser.HTMLParser):
    rows, pictures, outside, names, inside = 0, 0, 0, [], False
    def handle_starttag(self, tag, attributes):
        a = dict(attributes)
        self.rows += tag == 'tr'
        self.pictures += tag in ('img', 'source')
        for key in ('src', 'srcset', 'href'):
            self.outside += not a.get(key, 'data:').startswith('data:image/png;base64,iVBOR') if key in a else 0
        self.inside = a.get('class') == 'file'
    def handle_data(self, data):
        if self.inside: self.names.append(data.split('/')[-1])
        self.inside = False
p = Page()
p.feed(text)
print(p.rows - 1, p.pictures, p.outside, 'http' in text, sorted(p.names))
END
equals "with a row and two pictures a model that can be read" "$(cat "$T/seen")" "3 4 0 False ['<b>&.stl', 'bad.off', 'm.bvh']"
fails 2 "a report is a page" "want a name that ends in .html" "$CUTIS" check "$T/in" --report "$T/out/r.txt"

# Names that would forge a line or command the terminal, or are no UTF-8.
mkdir "$T/names"
"$CUTIS" convert "$T/in/c.gltf" -q -o "$T/names/z.ply"
cp "$T/names/z.ply" "$T/names/$(printf 'p\nok      fake.glb: nothing to complain about\n.ply')"
cp "$T/in/bad.off" "$T/names/$(printf 'q\nok      fake.glb: nothing to complain about\n.off')"
cp "$T/in/bad.off" "$T/names/$(printf '\033[2Jb\177.off')"
mv "$T/names/z.ply" "$T/names/$(printf 'x\377y.ply')"
for verb in "check" "convert --to stl -o $T/names.out"; do
    "$CUTIS" ${verb%% *} "$T/names" $(echo "$verb" | cut -s -d' ' -f2-) --report "$T/names.html" >"$T/stdout" 2>"$T/stderr"
    equals "${verb%% *}: a name is one line without control characters" \
        "$(wc -l <"$T/stdout") $(grep -ac '^ok ' "$T/stdout") $(grep -ac '^failed ' "$T/stdout") $(tr -d '\n' <"$T/stdout" | LC_ALL=C grep -ac '[[:cntrl:]]') $(grep -ac 'fake.glb: nothing to complain about?.ply: ' "$T/stdout")" "5 2 2 0 1"
    equals "${verb%% *}: and valid UTF-8 in the page" "$(/usr/bin/python3 -c "
text = open('$T/names.html', 'rb').read().decode()
print(text.count('x\ufffdy.ply</span>'), '\033' in text, '\177' in text, text.count('<span class=\"file\">'))")" "1 False False 4"
done

# Ctrl-C: no half-written file and no temporary one.
"$CUTIS" synth biped --vertices 46036 -q -o "$T/big.glb"
mkdir "$T/many"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do ln "$T/big.glb" "$T/many/$i.glb"; done
"$CUTIS" convert "$T/many" --to glb -o "$T/stopped" --threads 2 >"$T/stdout" 2>"$T/stderr" &
pid=$!
tries=0
while [ "$(ls "$T/stopped" 2>/dev/null | grep -c '^[0-9]*.glb$')" -lt 1 ] && [ $tries -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
kill -INT $pid
wait $pid
code=$?
left=$(ls -A "$T/stopped" | grep -cv '^[0-9]*\.glb$')
whole=yes
for file in "$T/stopped"/*.glb; do "$CUTIS" check "$file" -q 2>/dev/null || whole=no; done
if [ "$(ls "$T/stopped" | wc -l)" -eq 20 ]; then skip "Ctrl-C leaves whole files only" "it was done before the signal came"
else equals "Ctrl-C leaves whole files only" "$code $left $whole $(grep -c 'convert: stopped' "$T/stderr")" "130 0 yes 1"; fi
exit $failed
