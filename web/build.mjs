// Bundles the page: node web/build.mjs ENGINE.wasm OUTPUT. What comes out is a folder any static server can serve.
import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand } from './src/engine.js';

const [wasm, output] = process.argv.slice(2).map((path) => resolve(path));
const here = dirname(fileURLToPath(import.meta.url)), source = join(here, 'src');
mkdirSync(join(output, 'models'), { recursive: true });

await build({
  entryPoints: [join(source, 'studio.js'), join(source, 'worker.js')],
  bundle: true, minify: true, format: 'esm', target: 'es2022', outdir: output, legalComments: 'none', logLevel: 'warning',
  banner: { js: '// Cutis studio. Licences: licences.txt' },
});
await build({ entryPoints: [join(source, 'studio.css')], minify: true, outdir: output, logLevel: 'warning' });
for (const name of ['index.html', 'icon.svg']) copyFileSync(join(source, name), join(output, name));
copyFileSync(join(here, 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'), join(output, 'inter.woff2'));
copyFileSync(join(here, '../docs/gallery/journey.png'), join(output, 'journey.png')); // docs/guide/studio_film.mjs
copyFileSync(wasm, join(output, 'engine.wasm'));
const licence = (title, path) => `${title}\n${'-'.repeat(title.length)}\n${readFileSync(resolve(here, path), 'utf8').trim()}\n`;
const compiledIn = join(dirname(wasm), 'foreign/licences'); // cmake/foreign.cmake
writeFileSync(join(output, 'licences.txt'), [
  licence('Cutis', '../LICENSE'), licence('three.js, with the loader and controls it ships', 'node_modules/three/LICENSE'),
  licence('Inter, the typeface', 'node_modules/@fontsource-variable/inter/LICENSE'),
  ...readdirSync(compiledIn).sort().map((name) => licence(`${name}, in the engine`, join(compiledIn, name))),
  licence('wasi-libc, in the engine', '/usr/share/doc/wasi-libc/copyright'),
].join('\n\n'));

// The characters the page opens with, so that nobody waits for them to be made: by the command in the engine, on which alone they
// depend. The arm learns its sculpted poses.
const CHARACTERS = {
  biped: ['biped'], quadruped: ['quadruped'], cylinder: ['cylinder'], 'biped-high': ['biped', '--size', 'high'], arm: ['arm', '--examples', 'sculpts'],
  'motions-two': ['biped', '--motions', '--vertices', '1500'], 'motions-four': ['quadruped', '--motions', '--size', 'low'], // to put on others
};
const FIT = ['fit', 'arm.glb', '--poses', 'examples', '--shapes', 'sculpts/examples.npy', '-o', 'arm.glb'];
const place = (name) => join(output, 'models', `${name}.glb`), age = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const old = Object.entries(CHARACTERS).filter(([name]) => age(place(name)) <= age(wasm));
const module = old.length ? await WebAssembly.compile(readFileSync(wasm)) : null;
for (const [name, words] of old) {
  let files = [];
  for (const command of [['synth', ...words, '-o', `${name}.glb`], ...(name === 'arm' ? [FIT] : [])]) {
    const done = await runCommand(module, command, files);
    if (done.status) throw new Error(done.stderr);
    ({ files } = done);
  }
  writeFileSync(place(name), files.get(`${name}.glb`));
}

// What service.js keeps: every file with its hash, so that a page is of one build. What it kept of an older build, and this one did
// not make, goes.
const parts = ['engine.wasm', 'icon.svg', 'index.html', 'inter.woff2', 'journey.png', 'licences.txt', ...Object.keys(CHARACTERS).sort().map((name) => `models/${name}.glb`), 'studio.css', 'studio.js', 'worker.js'];
const service = join(output, 'service.js'), [, kept] = (existsSync(service) && /FILES = (\{.*\});$/m.exec(readFileSync(service, 'utf8'))) || [null, '{}'];
for (const path of Object.keys(JSON.parse(kept))) if (!parts.includes(path)) rmSync(join(output, path), { force: true });
const files = Object.fromEntries(parts.map((path) => [path, createHash('sha256').update(readFileSync(join(output, path))).digest('hex')]));
const hash = createHash('sha256').update(JSON.stringify(files)).digest('hex').slice(0, 16);
writeFileSync(service, `const BUILD = '${hash}', FILES = ${JSON.stringify(files)};\n${readFileSync(join(source, 'service.js'), 'utf8')}`);
