// Offline: keeps whole builds of the page, and gives a page nothing but files of the build it began with, however many are open. The
// build puts the list FILES (path: SHA-256) and its hash BUILD in front (web/build.mjs). A new build is fetched beside the old one,
// taken whole or not at all, and shown by the next load; an old one goes when no page that began with it is open.
//
// Invariant: which build a page has is written down (a mark in that build's cache) before the page gets its first byte.
/* global BUILD, FILES */
const OURS = `cutis-studio ${self.registration.scope} `, CACHE = OURS + BUILD, BEGINS = 60_000; // milliseconds a page may take from its first byte to its first question
const place = (path) => new URL(path, self.registration.scope).href;
const mark = (client) => place(`.client/${client}`);
const KEPT = new Set(Object.keys(FILES).map(place)), FOREIGN = place('open/'); // what `cutis view` serves beside the page

async function sha256(bytes) {
  return Array.from(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** A host that is being written to may give files of two builds: then this one is not taken. The browser tries again. */
async function fetchAll() {
  const cache = await caches.open(CACHE);
  await Promise.all(Object.entries(FILES).map(async ([path, wanted]) => {
    const response = await fetch(place(path), { cache: 'no-cache' });
    if (!response.ok || (await sha256(await response.clone().arrayBuffer())) !== wanted) throw new Error(`${path} is not of build ${BUILD}`);
    await cache.put(place(path), response);
  })).catch(async (error) => { await caches.delete(CACHE); throw error; });
  await self.skipWaiting(); // open pages keep their build, whoever answers them
}

const builds = async () => Promise.all((await caches.keys()).filter((name) => name.startsWith(OURS)).map(async (name) => ({ name, cache: await caches.open(name) })));
/** Marks of pages that are gone go, and with the last one its build. A page that begins is not among the clients yet. */
async function tidy() {
  const open = new Set((await self.clients.matchAll({ type: 'window', includeUncontrolled: true })).map(({ id }) => mark(id)));
  for (const { name, cache } of await builds()) {
    const marks = (await cache.keys()).filter(({ url }) => url.startsWith(mark(''))), used = await Promise.all(marks.map(async (each) => open.has(each.url) || Date.now() - Number(await (await cache.match(each))?.text()) < BEGINS));
    await Promise.all(marks.map((each, i) => used[i] || cache.delete(each)));
    if (name !== CACHE && !used.includes(true) && !self.registration.installing && !self.registration.waiting) await caches.delete(name); // not one on its way
  }
}

/** The build that a page began with; where that is not known, this one. */
async function buildOf(event) {
  for (const { cache } of event.clientId ? await builds() : []) {
    const address = mark(event.clientId), found = await cache.match(address);
    if (!found) continue;
    if ((await found.text()) !== '0') { await cache.put(address, new Response('0')); event.waitUntil(tidy()); } // it has begun: it is among the clients, what it took the place of is not
    return cache;
  }
  return caches.open(CACHE);
}

async function answer(event, address) {
  if (event.request.mode !== 'navigate') return (await (await buildOf(event)).match(address)) ?? fetch(event.request);
  const cache = await caches.open(CACHE);
  if (event.resultingClientId) await cache.put(mark(event.resultingClientId), new Response(String(Date.now())));
  return (await cache.match(address)) ?? fetch(event.request);
}

self.addEventListener('install', (event) => event.waitUntil(fetchAll()));
self.addEventListener('activate', (event) => event.waitUntil(tidy()));
self.addEventListener('fetch', (event) => {
  const asked = new URL(event.request.url), address = asked.origin + asked.pathname;
  const file = address === self.registration.scope ? place('index.html') : address;
  if (event.request.method !== 'GET' || !(KEPT.has(file) || (event.clientId && file.startsWith(self.registration.scope) && !file.startsWith(FOREIGN)))) return;
  event.respondWith(answer(event, file));
});
