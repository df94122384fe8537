// Bundles the page: node web/build.mjs ENGINE.wasm OUTPUT. What comes out is a folder any static server can serve.
import { build } from 'esbuild';
import { copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Engine } from './src/engine.js';

const [wasm, output] = process.argv.slice(2);
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
copyFileSync(wasm, join(output, 'engine.wasm'));
const licence = (title, path) => `${title}\n${'-'.repeat(title.length)}\n${readFileSync(join(here, path), 'utf8').trim()}\n`;
writeFileSync(join(output, 'licences.txt'), [
  licence('Cutis', '../LICENSE'), licence('three.js, with the loaders, controls and meshopt decoder (MIT, Arseny Kapoulkine) it ships', 'node_modules/three/LICENSE'),
  licence('Inter, the typeface', 'node_modules/@fontsource-variable/inter/LICENSE'),
].join('\n\n'));

// The characters the page opens with, so that nobody waits for them to be made. They depend on the engine alone.
const CHARACTERS = { biped: {}, quadruped: {}, arm: { examples: true }, cylinder: {}, 'biped-high': { body: 'biped', size: 3 } };
const place = (name) => join(output, 'models', `${name}.pack`), age = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
const old = Object.entries(CHARACTERS).filter(([name]) => age(place(name)) <= age(wasm));
const engine = old.length ? await Engine.create(readFileSync(wasm)) : null;
for (const [name, options] of old) {
  const model = engine.synth({ body: name, ...options });
  writeFileSync(place(name), engine.packed(options.examples ? engine.armPoseSpace(model) : model));
}
