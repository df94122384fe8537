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

/** Another build in the same place: a page and a text that name it, and a list that says so; `broken`: they are still of the old build. */
function publish(build, broken = false) {
  const [list, ...code] = readFileSync(join(place, 'service.js'), 'utf8').split('\n'), hash = (text) => createHash('sha256').update(text).digest('hex');
  const made = { 'index.html': readFileSync(join(place, 'index.html'), 'utf8').replace(/<html [^>]*>/, `<html lang="en" data-build="${build}">`), 'licences.txt': build };
  if (!broken) for (const [path, text] of Object.entries(made)) writeFileSync(join(place, path), text);
  const listed = Object.entries(made).reduce((line, [path, text]) => line.replace(new RegExp(`("${path.replace('.', '\\.')}":")[0-9a-f]+`), `$1${hash(text)}`), list);
  writeFileSync(join(place, 'service.js'), [listed.replace(/BUILD = '[0-9a-f]+'/, `BUILD = '${hash(made['index.html']).slice(0, 16)}'`), ...code].join('\n'));
}

const server = await host(join(folder, 'www')), browser = await launch(name, folder);
let page;
const shown = (tab = page) => tab.evaluate(() => document.documentElement.dataset.build ?? 'first');
/** The build of a file that a page asks for later. */
const given = (tab) => tab.evaluate(() => fetch('licences.txt').then((answer) => answer.text()).then((text) => (text.length > 99 ? 'first' : text)));
/** A new build is fetched and takes over. */
const updated = () => page.evaluate(async () => {
  const registration = await (await navigator.serviceWorker.getRegistration()).update(), worker = registration.installing ?? registration.waiting;
  if (worker && worker.state !== 'activated') await new Promise((done) => { worker.addEventListener('statechange', () => { if (worker.state === 'activated') done(); }); });
  return true;
});
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
  const others = [await page.beside(`${server.origin}/deep/studio/`)];
  await others[0].ready();
  publish('second');
  await updated();
  others.push(await page.beside(`${server.origin}/deep/studio/`));
  await others[1].ready();
  const mixed = [], tabs = [page, ...others];
  for (const tab of tabs) mixed.push(`${await shown(tab)} ${await given(tab)}`);
  say('three tabs over a new build: those that were open keep theirs, the next one has the new, none a mix', mixed.join() === 'first first,first first,second second' ? '' : mixed.join());
  for (const tab of others) await tab.close();
  say('a new build is there after a reload', (await load()) === 'second' && (await given(page)) === 'second' ? '' : await shown());
  await page.until(() => window.caches.keys().then((keys) => keys.length === 1), null, 10_000).catch(() => {});
  say('and the old one is gone', (await caches()) === 1 ? '' : `${await caches()} builds kept`);
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
