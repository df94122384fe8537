// The stage worker's models. A document is files (blobs) and, while it is used, an opened character; frames are computed here.
//
// Invariant: everything can be opened again from its blobs, so that memory holds few characters and a new engine loses nothing.
import { Character, Engine, EngineError, materialsOf } from './engine.js';
import { paint } from './colormap.js';
import { roundUp } from './dom.js';

const OPEN_AT_ONCE = 3; // characters in the engine's memory
const COARSE = 40; // voxels along the longest side, for handle weights that follow the pointer
const MOST_ISSUES = 4;

/** `count` vertices that lie far from each other and from `others`, or from the middle. */
function spread(positions, count, others) {
  const n = positions.length / 3, middle = [0, 0, 0];
  for (let v = 0; v < n; v++) for (let c = 0; c < 3; c++) middle[c] += positions[3 * v + c] / n;
  const distance = new Float64Array(n).fill(Infinity), chosen = [];
  const near = ([x, y, z]) => {
    for (let v = 0; v < n; v++) distance[v] = Math.min(distance[v], (positions[3 * v] - x) ** 2 + (positions[3 * v + 1] - y) ** 2 + (positions[3 * v + 2] - z) ** 2);
  };
  for (const other of others.length ? others : [middle]) near(other);
  while (chosen.length < Math.min(count, n)) {
    let best = 0;
    for (let v = 1; v < n; v++) if (distance[v] > distance[best]) best = v;
    chosen.push([...positions.subarray(3 * best, 3 * best + 3)]);
    near(chosen.at(-1));
  }
  return chosen;
}

/** Places of nodes, x y z each, from their world matrices (row-major 3x4). */
const placesOf = (world) => Float32Array.from({ length: world.length / 4 }, (_, i) => world[4 * i + 3]);

/** Their box, and their mean (of some, when they are many). */
function lie(points) {
  const min = [Infinity, Infinity, Infinity], max = [-Infinity, -Infinity, -Infinity], sum = [0, 0, 0], count = points.length / 3, step = Math.max(1, Math.floor(count / 2000));
  for (let i = 0; i < points.length; i += 3) {
    for (let c = 0; c < 3; c++) { min[c] = Math.min(min[c], points[i + c]); max[c] = Math.max(max[c], points[i + c]); }
  }
  for (let v = 0; v < count; v += step) for (let c = 0; c < 3; c++) sum[c] += points[3 * v + c] / Math.ceil(count / step);
  return { min, max, middle: sum };
}

const decoded = (uri) => { try { return decodeURIComponent(uri); } catch { return uri; } };
const PICTURES = { png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', webp: 'image/webp', avif: 'image/avif', ktx2: 'image/ktx2' };
const dataUri = ({ name, blob }) => new Promise((resolve, reject) => {
  const reader = new FileReader();
  reader.onload = () => resolve(reader.result);
  reader.onerror = () => reject(reader.error);
  reader.readAsDataURL(new Blob([blob], { type: PICTURES[name.split('.').at(-1).toLowerCase()] ?? 'application/octet-stream' }));
});

/** What the engine keeps for one opened document. */
class Opened {
  constructor(engine, model) {
    this.engine = engine;
    this.character = new Character(engine, model);
    this.addresses = new Map();
    this.variants = new Map(); // influences → character with the largest weights
    this.handled = null;
    this.values = { key: '' };
    this.bounds = lie(this.character.vertexCount ? this.character.rest : placesOf(this.character.world));
    const { min, max } = this.bounds;
    this.diagonal = Math.hypot(...max.map((x, c) => x - min[c])) || 1;
    this.restVolume = this.character.triangleCount ? this.character.volume(this.character.rest_) : 0;
  }
  /** Engine memory for positions or normals, by name. */
  address(name) {
    if (!this.addresses.has(name)) this.addresses.set(name, this.engine.allocate(12 * this.character.vertexCount));
    return this.addresses.get(name);
  }
  limited(influences) {
    if (!this.variants.has(influences)) {
      for (const old of this.variants.values()) old.destroy();
      this.variants.clear();
      this.variants.set(influences, new Character(this.engine, this.engine.limit(this.character.model, influences)));
    }
    return this.variants.get(influences);
  }
  /** The character bound to handles at points, on a coarse grid; made anew only when the points differ. */
  handles({ points, moves }) {
    const key = points.join();
    this.handled ??= { session: this.engine.openHandles(this.character.model, COARSE), key: '', character: null };
    if (this.handled.key !== key) {
      const start = performance.now(), made = this.engine.setHandles(this.handled.session, points), character = new Character(this.engine, made.model);
      const { nodes } = character.description, root = nodes.findLastIndex((node) => node.name === 'handles');
      this.handled.character?.destroy();
      Object.assign(this.handled, { key, character, domain: made.domain, milliseconds: performance.now() - start, nodes: nodes.flatMap((node, i) => (node.parent === root ? [i] : [])) });
    }
    const { character, nodes } = this.handled;
    character.reset();
    const { pose } = character;
    nodes.forEach((node, i) => { for (let c = 0; c < 3; c++) pose[10 * node + c] += moves[3 * i + c] ?? 0; });
    return character;
  }
  destroy() {
    for (const address of this.addresses.values()) this.engine.free(address);
    for (const character of this.variants.values()) character.destroy();
    this.handled?.character?.destroy();
    if (this.handled) this.engine.closeHandles(this.handled.session);
    this.character.destroy();
  }
}

export class Stage {
  static async create(module, progress) {
    const stage = new Stage();
    Object.assign(stage, { module, progress, documents: new Map() });
    await stage.restart();
    return stage;
  }
  /** A new instance; models are opened again when they are asked for. */
  async restart() {
    for (const document of this.documents.values()) document.opened = null;
    this.engine = await Engine.create(this.module, { progress: this.progress });
  }
  about() { return { methods: this.engine.methods, version: this.engine.version }; }
  /** Bytes of the engine: those it holds, and what of them is in use. */
  memory() { return { held: this.engine.memory.buffer.byteLength, used: this.engine.call.studio_memory() }; }

  // Documents -------------------------------------------------------------------------------------
  /** @param data { id, files: [{ name, blob }], main, options } @returns what the page shows of it */
  async open({ id, files, main, options }) {
    this.register({ id, files, main, options });
    try {
      const opened = await this.opened(id), notes = this.engine.notes, materials = await this.materials(opened, files.find(({ name }) => name === main), notes);
      return this.describe(opened, materials, notes.length > MOST_ISSUES ? [...notes.slice(0, MOST_ISSUES), `and ${notes.length - MOST_ISSUES} more`] : [...notes]);
    } catch (error) {
      this.close({ ids: [id] });
      throw error;
    }
  }
  register({ id, files, main, options }) { this.documents.set(id, { files, main, options, opened: null, used: 0 }); }
  close({ ids }) {
    for (const id of ids) {
      this.documents.get(id)?.opened?.destroy();
      this.documents.delete(id);
    }
  }
  async opened(id) {
    const document = this.documents.get(id);
    if (!document) throw new EngineError('that document is closed');
    document.used = performance.now();
    if (document.opened) return document.opened;
    const there = [...this.documents.values()].filter((each) => each.opened).sort((a, b) => b.used - a.used);
    for (const old of there.slice(OPEN_AT_ONCE - 1)) { old.opened.destroy(); old.opened = null; }
    const { files } = this.engine;
    for (const { name, blob } of document.files) files.set(name, new Uint8Array(await blob.arrayBuffer()));
    if (document.files.length > 1 && /\.gltf$/i.test(document.main)) await this.placeFiles(document);
    try {
      document.opened = new Opened(this.engine, this.engine.open(document.main, document.options));
    } finally {
      files.clear();
    }
    return document.opened;
  }
  /** Files are dropped without their folders: what a glTF names is looked for by its last step. Pictures go inside, so that a GLB has them. */
  async placeFiles({ main, files: given }) {
    const { files } = this.engine, found = (uri) => given.find(({ name }) => name === uri.split('/').at(-1));
    let json;
    try { json = JSON.parse(new TextDecoder().decode(files.get(main))); } catch { return; } // the reader says what is wrong
    const named = (list) => (Array.isArray(list) ? list : []).filter((each) => typeof each?.uri === 'string' && !each.uri.startsWith('data:'));
    for (const buffer of named(json.buffers)) { const file = found(decoded(buffer.uri)); if (file) files.set(decoded(buffer.uri).replace(/^(\.?\.?\/)+/, ''), files.get(file.name)); }
    for (const image of named(json.images)) { const file = found(decoded(image.uri)); if (file) image.uri = await dataUri(file); }
    files.set(main, new TextEncoder().encode(JSON.stringify(json)));
  }
  /** Of a GLB that was read as it is: its own. Else of one that the library writes. */
  async materials({ character }, { blob }, notes) {
    const glb = notes.length ? null : new Uint8Array(await blob.arrayBuffer());
    try { if (glb && String.fromCharCode(...glb.subarray(0, 4)) === 'glTF') return materialsOf(glb); } catch { /* the library has read it: as it writes it */ }
    return this.engine.materialsGlb(character.model);
  }
  describe(opened, materials, notes) {
    const { character, bounds, diagonal } = opened, { description } = character, look = character.look();
    const offered = description.skins.length ? this.engine.methods.filter((method) => this.engine.offers(method, description)).map(({ id }) => id) : [];
    const transfer = { indices: character.indices.slice(), texcoords: look.texcoords, colors: look.colors, materials };
    return {
      description, bounds, diagonal, notes, methods: offered, instances: character.instances,
      vertexCount: character.vertexCount, triangleCount: character.triangleCount, maxInfluences: character.maxInfluences, transfer,
    };
  }
  async save({ id, options = {} }) { return this.written((await this.opened(id)).character.model, options); }
  written(model, options) {
    try {
      this.engine.save(model, 'saved.glb', options);
      return { blob: new Blob([this.engine.files.get('saved.glb')], { type: 'model/gltf-binary' }) };
    } finally {
      this.engine.files.clear();
    }
  }
  /** The document with the shape the handles make as a morph target beside its skeleton. */
  async shape({ id, handles, name }) {
    const opened = await this.opened(id), positions = opened.address('0 positions');
    opened.handles(handles).deform({ method: 0, exact: true }, positions, 0);
    const model = this.engine.addShape(opened.character.model, name, positions);
    try { return this.written(model); } finally { this.engine.destroy(model); }
  }
  async spread({ id, count, others }) { return spread((await this.opened(id)).character.rest, count, others); }

  // Frames ----------------------------------------------------------------------------------------
  /**
   * @param asked { id, variant, clip, time, layer: [[node, ten numbers]], sides: [choice], influences, handles, show, top, measure, spare }
   * @returns arrays to show (transfer), the pose and its world matrices, and what was measured
   */
  async frame(asked) {
    const opened = await this.opened(asked.id), base = opened.character, count = base.vertexCount;
    base.reset();
    if (asked.clip >= 0) base.sample(asked.clip, asked.time);
    const { pose } = base;
    for (const [node, values] of asked.layer) pose.set(values, 10 * node);
    for (const [target, value] of asked.morphs ?? []) base.morphs[target] = value;
    const out = { pose: pose.slice(), world: base.world.slice(), transfer: { sides: [] }, paint: null, measures: null, handles: null, skin: 0 };
    if (!count) return { ...out, lie: lie(placesOf(out.world)) };
    const shown = asked.handles ? opened.handles(asked.handles) : asked.variant ? (await this.opened(asked.variant)).character : asked.influences ? opened.limited(asked.influences) : base;
    const posed = asked.handles ? shown : base, reduced = shown !== base && !asked.handles, sides = asked.handles ? asked.sides.slice(0, 1) : asked.sides;
    const needed = Math.max(asked.split ? sides.length : 1, asked.show.kind === 'error' && !reduced ? 2 : 1);
    sides.slice(0, needed).forEach((choice, i) => {
      const spent = (i ? base : shown).deform(choice, opened.address(`${i} positions`), opened.address(`${i} normals`), i ? base : posed);
      if (!i) out.skin = spent;
    });
    if (reduced) base.deform(sides[0], opened.address('reference'), 0, base);
    const spare = asked.spare ?? [], take = (address) => {
      const from = this.engine.floats(address, 3 * count), at = spare.findIndex((buffer) => buffer.byteLength === from.byteLength), to = at < 0 ? new Float32Array(from.length) : new Float32Array(spare.splice(at, 1)[0]);
      to.set(from);
      return to;
    };
    for (let i = 0; i < (asked.split ? sides.length : 1); i++) out.transfer.sides.push({ positions: take(opened.address(`${i} positions`)), normals: take(opened.address(`${i} normals`)) });
    if (asked.handles) out.handles = { nodes: opened.handled.nodes, domain: opened.handled.domain, milliseconds: opened.handled.milliseconds };
    this.paint(out, opened, shown, asked, reduced);
    if (asked.measure) out.measures = this.measure(opened, asked, reduced);
    return { ...out, lie: lie(out.transfer.sides[0].positions) };
  }
  measure(opened, asked, reduced) {
    const base = opened.character, a = opened.address('0 positions'), { restVolume } = opened;
    const change = (address) => (Math.abs(restVolume) > 1e-12 ? 100 * (base.volume(address) / restVolume - 1) : null);
    const two = asked.split && asked.sides.length > 1 && !asked.handles;
    return {
      volumes: [change(a), two ? change(opened.address('1 positions')) : null],
      distance: two ? base.compare(a, opened.address('1 positions')) : null,
      error: reduced ? base.compare(a, opened.address('reference')) : null,
    };
  }
  /** Colours of what is shown in place of the skin: weights, counts or errors. */
  paint(out, opened, shown, { show, top, handles, influences, variant }, reduced) {
    if (show.kind === 'none') return;
    const count = shown.vertexCount, colors = new Float32Array(3 * count);
    let values, map = 'heat', high = Math.max(4, opened.character.maxInfluences);
    if (show.kind === 'error') {
      values = this.distances(opened, opened.address('0 positions'), reduced ? opened.address('reference') : opened.address('1 positions'));
      let most = 0;
      for (let v = 0; v < count; v++) if (values[v] > most) most = values[v];
      high = most > top || most < 0.3 * top ? roundUp(most) : top;
    } else {
      const node = handles ? opened.handled.nodes[show.node] : show.node, key = `${show.kind} ${node} ${influences} ${variant} ${handles ? opened.handled.key : ''}`;
      if (opened.values.key !== key) opened.values = { key, list: show.kind === 'weights' ? shown.weightsOf(node) : shown.influenceCounts() };
      values = opened.values.list;
      if (show.kind === 'weights') { map = 'weight'; high = 1; }
    }
    paint(map, values, high, colors);
    out.transfer.colors = colors;
    out.paint = { map, top: high, reduced };
  }
  distances(opened, from, to) {
    const count = opened.character.vertexCount, a = this.engine.floats(from, 3 * count), b = this.engine.floats(to, 3 * count), out = new Float32Array(count);
    for (let v = 0; v < count; v++) out[v] = (100 * Math.hypot(a[3 * v] - b[3 * v], a[3 * v + 1] - b[3 * v + 1], a[3 * v + 2] - b[3 * v + 2])) / opened.diagonal;
    return out;
  }
  /** Milliseconds of skinning one frame, the mean of many. */
  async benchmark({ id, choice, frames }) {
    const opened = await this.opened(id), positions = opened.address('0 positions'), normals = opened.address('0 normals');
    opened.character.deform(choice, positions, normals);
    const start = performance.now();
    for (let i = 0; i < frames; i++) opened.character.deform(choice, positions, normals);
    return (performance.now() - start) / frames;
  }
}
