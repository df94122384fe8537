// The studio's folder on a plain host: node static.mjs STUDIO FOLDER chromium|firefox. WebAssembly with a foreign type, in a sub
// folder, offline after the first load, and from one build to the next without a mix of two.
import { createHash } from 'node:crypto';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './drive.mjs';
import { host } from './host.mjs';
import { claims } from './say.mjs';

const [studio, folder, name] = process.argv.slice(2);
const { say, end } = claims(`${name}, static host: `);
const place = join(folder, 'www', 'deep', 'studio');
cpSync(studio, place, { recursive: true });

/** Another build in the same place: a page that names it, and a list that says so; `broken`: one file is still of the old build. */
function publish(build, broken = false) {
  const page = readFileSync(join(place, 'index.html'), 'utf8').replace(/<html [^>]*>/, `<html lang="en" data-build="${build}">`);
  const [list, ...code] = readFileSync(join(place, 'service.js'), 'utf8').split('\n');
  const hash = createHash('sha256').update(page).digest('hex');
  if (!broken) writeFileSync(join(place, 'index.html'), page);
  writeFileSync(join(place, 'service.js'), [list.replace(/("index\.html":")[0-9a-f]+/, `$1${hash}`).replace(/BUILD = '[0-9a-f]+'/, `BUILD = '${hash.slice(0, 16)}'`), ...code].join('\n'));
}

const server = await host(join(folder, 'www')), browser = await launch(name, folder);
let page;
const shown = () => page.evaluate(() => document.documentElement.dataset.build ?? 'first');
const caches = () => page.evaluate(async () => (await window.caches.keys()).length);
/** A load, and what it says. */
async function load() { await page.reload(); await page.ready(20_000).catch(() => {}); return shown(); }

try {
  page = await browser.open(`${server.origin}/deep/studio/`);
  await page.until(() => 'ready' in document.documentElement.dataset || document.getElementById('notice')?.hidden === false);
  say('the page starts where WebAssembly comes as application/octet-stream', (await page.state('s?.source?.name')) ? '' : await page.text('#notice'));
  await page.evaluate(() => navigator.serviceWorker.ready.then(() => true));
  await page.until(() => navigator.serviceWorker.getRegistration().then((r) => r.active?.state === 'activated'));
  await server.stop();
  say('without its host it opens again', (await load()) === 'first' && (await page.state('s?.source?.name')) ? '' : await page.text('body'));
  await page.choose('#character', 'quadruped');
  await page.until(() => window.studio.source?.name === 'quadruped' || !document.getElementById('notice').hidden);
  say('without its host every built-in character opens', (await page.state('s.source.name')) === 'quadruped' ? '' : await page.text('#notice'));
  await server.start();
  publish('second');
  await load();
  await page.evaluate(() => navigator.serviceWorker.getRegistration().then((r) => r.update()));
  await page.until(() => navigator.serviceWorker.getRegistration().then((r) => !!r.waiting || document.documentElement.dataset.build === 'second'));
  for (let i = 0; i < 3 && (await shown()) !== 'second'; i++) await load();
  say('a new build is there after a reload, and the old one is gone', (await shown()) === 'second' && (await caches()) === 1 ? '' : `${await shown()}, ${await caches()} builds kept`);
  publish('third', true);
  const refused = await page.evaluate(() => navigator.serviceWorker.getRegistration().then((r) => r.update()).then((r) => new Promise((done) => {
    const worker = r.installing;
    if (!worker) done(!r.waiting); else worker.addEventListener('statechange', () => { if (worker.state !== 'installing') done(worker.state === 'redundant'); });
  }), () => true));
  say('files of two builds on the host: neither is mixed, the old one stays', refused && (await load()) === 'second' && (await caches()) === 1 ? '' : `${refused}, ${await shown()}`);
  say('no errors or warnings on the console', page.complaints.filter((text) => !/service\.js|ServiceWorker|is not of build|install/.test(text)).slice(0, 3).join(' | '));
} catch (error) {
  say('the steps ran to their end', error.message.split('\n')[0]);
} finally {
  await browser.close();
  await server.stop().catch(() => {});
}
end();
