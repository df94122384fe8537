// The page's engine as a command on a disk: node command.mjs ENGINE.wasm WORDS... The folder below the system's temporary one that WORDS name
// is its whole disk: read before, and what is new or changed written after. For scripts that are about the command (hashes.sh).
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { runCommand } from '../../web/src/engine.js';

const [engine, ...words] = process.argv.slice(2), start = `${tmpdir()}/`;
const named = words.flatMap((word) => word.split(',')).find((word) => word.startsWith(start));
const folder = named && join(start, named.slice(start.length).split('/')[0]);
const below = (at) => readdirSync(at).flatMap((name) => (statSync(join(at, name)).isDirectory() ? below(join(at, name)) : [join(at, name)]));
const before = new Map((folder ? below(folder) : []).map((path) => [relative(folder, path), new Uint8Array(readFileSync(path))]));
const module = await WebAssembly.compile(readFileSync(engine));
const { status, stdout, stderr, files } = await runCommand(module, folder ? words.map((word) => word.replaceAll(`${folder}/`, '')) : words, new Map(before));
for (const [name, bytes] of files) {
  if (before.has(name) && Buffer.compare(before.get(name), bytes) === 0) continue;
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), bytes);
}
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = status;
