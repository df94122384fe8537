// Work that was not saved is kept in this browser, so that a reload or a crash loses nothing: the page offers it again. One piece of
// work a page address, in IndexedDB; gone when it was saved, dropped by the user, or a week old.
const NAME = 'cutis-studio', STORE = 'work', WEEK = 7 * 24 * 3600e3, AFTER = 1200; // milliseconds

const asked = (request) => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
async function store(mode, act) {
  const opening = indexedDB.open(NAME, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const base = await asked(opening);
  try { return await asked(act(base.transaction(STORE, mode).objectStore(STORE))); } finally { base.close(); }
}

const documentOf = ({ name, file, made, files, main, options, steps, rig }) => ({ name, file, made, main, files, options, steps, rig });

export class Recovery {
  constructor(studio) { this.studio = studio; this.key = location.pathname; }
  /** The work changed: kept when it has rested a while. */
  changed() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.keep().catch(() => {}), AFTER); // a browser that keeps nothing is no failure
  }
  async keep() {
    const { studio } = this, { state } = studio;
    if (!studio.document || !studio.unsaved) { await this.forget(); return; }
    const { document, optimised, clip, pose, methods, influences, handles, cage, draft, rigid, show, split, layout, bodies } = state, strokes = state.strokes.map((id) => this.studio.brush.strokes.get(id)).filter(Boolean);
    await store('readwrite', (work) => work.put({ at: Date.now(), document: documentOf(document), optimised: optimised && documentOf(optimised), strokes, state: { clip, pose, methods, influences, handles, cage, draft, rigid, show, split, layout, bodies } }, this.key));
    this.kept = true;
  }
  async forget() { clearTimeout(this.timer); if (this.kept !== false) await store('readwrite', (work) => work.delete(this.key)).catch(() => {}); this.kept = false; }
  /** What an earlier visit left, and a word about it. */
  async offer() {
    const found = await store('readonly', (work) => work.get(this.key)).catch(() => null);
    if (!found) return;
    if (Date.now() - found.at > WEEK) { await this.forget(); return; }
    const minutes = Math.round((Date.now() - found.at) / 60e3), ago = minutes < 2 ? 'just now' : minutes < 120 ? `${minutes} minutes ago` : minutes < 2880 ? `${Math.round(minutes / 60)} hours ago` : `${Math.round(minutes / 1440)} days ago`;
    this.studio.panels.say(`There is unsaved work: ${found.document.name}`, `Changed ${ago}, kept in this browser alone.`, [['Open it again', () => this.restore(found)], ['Forget it', () => this.forget()]]);
  }
  async restore({ document, optimised, strokes = [], state }) {
    const { studio } = this, made = async ({ files, main, ...more }) => { const list = files.map(({ name, blob }) => new File([blob], name)); return studio.makeDocument(list, list.find(({ name }) => name === main), more); };
    await studio.opened({ doing: `Reading ${document.name}`, failed: 'The work could not be opened again' }, () => made(document), async () => {
      const also = optimised ? await made(optimised) : null;
      if (also) studio.documents.set(also.id, also);
      studio.edit({ ...state, strokes: await studio.brush.restore(strokes), optimised: also, pose: Object.freeze({ ...state.pose }) });
      studio.saved = { ...studio.saved, document: null }; // it never was
      studio.panels.show();
    });
  }
}
