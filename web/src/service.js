// Offline: keeps the whole page of one build, and gives a page nothing but files of one build. The build puts the list FILES
// (path: SHA-256) and its hash BUILD in front (web/build.mjs). A new build is fetched beside the old one, taken whole or not at
// all, and shown by the next load of a page that is the only one open; until then what is open keeps the files it began with.
/* global BUILD, FILES */
const OURS = `cutis-studio ${self.registration.scope} `, CACHE = OURS + BUILD;
const place = (path) => new URL(path, self.registration.scope).href;
const KEPT = new Set(Object.keys(FILES).map(place));

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
}

async function dropOthers() {
  for (const name of await caches.keys()) if (name.startsWith(OURS) && name !== CACHE) await caches.delete(name);
}

async function answer(event, address) {
  if (event.request.mode === 'navigate' && self.registration.waiting && (await self.clients.matchAll({ type: 'window' })).length < 2) {
    self.registration.waiting.postMessage('begin');
    return new Response('<!doctype html><link rel="icon" href="data:,"><meta http-equiv="refresh" content="0"><title>Cutis Studio</title>', { headers: { 'Content-Type': 'text/html' } });
  }
  return (await (await caches.open(CACHE)).match(address)) ?? fetch(event.request);
}

self.addEventListener('install', (event) => event.waitUntil(fetchAll()));
self.addEventListener('activate', (event) => event.waitUntil(dropOthers()));
self.addEventListener('message', (event) => { if (event.data === 'begin') self.skipWaiting(); });
self.addEventListener('fetch', (event) => {
  const asked = new URL(event.request.url), address = asked.origin + asked.pathname;
  const file = address === self.registration.scope ? place('index.html') : address;
  if (event.request.method === 'GET' && KEPT.has(file)) event.respondWith(answer(event, file));
});
