// The stage worker's models. A document is files (blobs) and, while it is used, an opened character; frames are computed here.
//
// Invariant: everything can be opened again from its blobs, so that memory holds few characters and a new engine loses nothing.
import { Character, Engine, EngineError, PATCHES_METHOD, RIGID_HANDLES, materialsOf } from './engine.js';
import { hull } from './hull.js';
import { facets, mixPart, paint, paintParts } from './colormap.js';
import { orderParts } from './order.js';
import { Painting, runs } from './painting.js';
import { roundUp } from './dom.js';

const OPEN_AT_ONCE = 3; // characters in the engine's memory
const COARSE = 40; // voxels along the longest side, for handle weights that follow the pointer
const MOST_ISSUES = 4, MOST_GUESSED = 20e6; // bytes of a file that is read twice
const AXELESS = /\.(obj|ply|off|stl)$/i; // formats that say neither what is up nor their unit
const SLOW_BIND = 150; // milliseconds of binding beyond which the shape waits for the end of a stroke

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
    this.character = this.original = new Character(engine, model); // the former is as painted
    this.painting = null;
    this.version = 0; // of its weights
    this.stale = false; // the character has older ones
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
  /** The weights as strokes have them, and as dabs of the brush make them. @returns vertices whose weights changed, or null */
  paint(strokes, find, dabs = null) {
    if (!strokes.length && !dabs && !this.painting?.list.length && this.painting?.live == null) return null;
    this.painting ??= new Painting(this.original);
    const { painting } = this, goesOn = dabs && painting.live === dabs.id;
    if (!goesOn && painting.put(strokes, find)) this.stale = true;
    if (dabs) { painting.live = dabs.id; dabs.apply(painting); }
    const changed = painting.changed();
    if (changed.length) { this.stale = true; this.version++; }
    if (dabs?.end) {
      dabs.made = painting.stroke();
      painting.live = null;
      if (dabs.made.vertices.length) painting.list.push(dabs.id);
    }
    if (this.stale && !(painting.live !== null && this.character.bindTime > SLOW_BIND)) this.repaint();
    return changed;
  }
  /** A character of the weights as they are now in place of the one before. */
  repaint() {
    const { painting, original } = this, plain = !painting.list.length && painting.live === null, old = this.character;
    this.character = plain ? original : new Character(this.engine, painting.finish(), original);
    this.character.bindTime = old.bindTime;
    if (old !== original) old.destroy();
    for (const variant of this.variants.values()) variant.destroy();
    this.variants.clear();
    this.values = { key: '' };
    this.stale = false;
  }
  /** The character bound to handles at points, on a coarse grid; made anew only when the points differ. */
  handles({ ends, moves, turns, rigid }) {
    const key = ends.join();
    if (this.handled && this.handled.rigid !== rigid) { this.handled.character?.destroy(); this.engine.closeHandles(this.handled.session); this.handled = null; }
    this.handled ??= { rigid, session: this.engine.openHandles(this.original.model, COARSE, rigid), key: '', character: null };
    if (this.handled.key !== key) {
      const start = performance.now(), made = this.engine.setHandles(this.handled.session, ends), character = new Character(this.engine, made.model);
      const { nodes } = character.description, root = nodes.findLastIndex((node) => node.name === 'handles');
      this.handled.character?.destroy();
      Object.assign(this.handled, { key, character, domain: made.domain, milliseconds: performance.now() - start, nodes: nodes.flatMap((node, i) => (node.parent === root ? [i] : [])) });
    }
    const { character, nodes } = this.handled;
    character.reset();
    const { pose } = character;
    nodes.forEach((node, i) => { for (let c = 0; c < 3; c++) pose[10 * node + c] += moves[3 * i + c] ?? 0; pose.set(turns.slice(4 * i, 4 * i + 4), 10 * node + 3); });
    return character;
  }
  destroy() {
    for (const address of this.addresses.values()) this.engine.free(address);
    for (const character of this.variants.values()) character.destroy();
    this.handled?.character?.destroy();
    if (this.handled) this.engine.closeHandles(this.handled.session);
    this.painting?.destroy();
    if (this.character !== this.original) this.character.destroy();
    this.original.destroy();
  }
}

export class Stage {
  static async create(module, progress) {
    const stage = new Stage();
    Object.assign(stage, { module, progress, documents: new Map(), strokes: new Map() });
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
      const guess = AXELESS.test(main) && !Object.keys(options).length ? await this.guess(files, main) : null; // first: two models at once would take more memory
      const opened = await this.opened(id), notes = this.engine.notes, materials = await this.materials(opened, files.find(({ name }) => name === main), notes);
      const told = this.describe(opened, materials, notes.length > MOST_ISSUES ? [...notes.slice(0, MOST_ISSUES), `and ${notes.length - MOST_ISSUES} more`] : [...notes]);
      return { ...told, guess };
    } catch (error) {
      this.close({ ids: [id] });
      throw error;
    }
  }
  /** How the library would read a mesh that says neither what is up nor its unit: { up, units, why } where not as it stands, else null. */
  async guess(files, main) {
    const { engine } = this, blob = files.find(({ name }) => name === main).blob;
    if (blob.size > MOST_GUESSED) return null;
    engine.files.set(main, new Uint8Array(await blob.arrayBuffer()));
    try {
      engine.destroy(engine.open(main, { up: 'auto', units: 'auto' }));
      const [up, units] = ['up', 'units'].map((option) => new RegExp(`guessed --${option} (\\w+): (.*)$`).exec(engine.notes.find((note) => note.includes(`--${option} `)) ?? '') ?? [null, null, '']);
      const why = [up[1] === 'y' ? '' : up[2], units[1] === 'm' ? '' : units[2]].filter(Boolean).join('; ');
      return why && up[1] && units[1] ? { up: up[1], units: units[1], why } : null;
    } catch { return null; } finally { engine.files.clear(); } // it was read as it stands
  }
  register({ id, files, main, options }) { this.documents.set(id, { files, main, options, opened: null, used: 0 }); }
  close({ ids }) {
    for (const id of ids) {
      this.documents.get(id)?.opened?.destroy();
      this.documents.delete(id);
    }
  }
  /** What the worker before this one knew. @param list [[id, arrays]] */
  keepStrokes({ list }) { for (const [id, arrays] of list) this.strokes.set(id, arrays); }
  dropStrokes({ ids }) { for (const id of ids) this.strokes.delete(id); }
  stroke(id) {
    if (!this.strokes.has(id)) throw new EngineError('a stroke is lost');
    return this.strokes.get(id);
  }
  /** @param strokes that the weights have */
  async opened(id, strokes = []) {
    const opened = await this.openedPlain(id);
    opened.paint(strokes, (each) => this.stroke(each));
    return opened;
  }
  async openedPlain(id) {
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
    const counts = character.instances.flatMap(({ mesh }) => description.meshes[mesh].primitives.filter(({ topology }) => topology === 0).map(({ indexCount }) => indexCount)); // as the stage groups them
    const transfer = { indices: orderParts(character.indices.slice(), counts), texcoords: look.texcoords, colors: look.colors, materials };
    return {
      description, bounds, diagonal, notes, methods: offered, instances: character.instances,
      vertexCount: character.vertexCount, triangleCount: character.triangleCount, maxInfluences: character.maxInfluences, transfer,
    };
  }
  async save({ id, strokes, options = {} }) { return this.written((await this.opened(id, strokes)).character.model, options); }
  written(model, options) {
    try {
      this.engine.save(model, 'saved.glb', options);
      return { blob: new Blob([this.engine.files.get('saved.glb')], { type: 'model/gltf-binary' }) };
    } finally {
      this.engine.files.clear();
    }
  }
  /** The document with the shape the handles make as a morph target beside its skeleton. */
  async shape({ id, strokes, handles, cage, name }) {
    const opened = await this.opened(id, strokes), positions = opened.address('0 positions');
    if (cage) opened.original.caged(cage, positions, 0);
    else opened.handles(handles).deform({ method: 0, exact: true }, positions, 0);
    const model = this.engine.addShape(opened.character.model, name, positions);
    try { return this.written(model); } finally { this.engine.destroy(model); }
  }
  async spread({ id, count, others }) { return spread((await this.openedPlain(id)).character.rest, count, others); }

  // Frames ----------------------------------------------------------------------------------------
  /**
   * @param asked { id, variant, clip, time, layer: [[node, ten numbers]], sides: [choice], influences, handles, show, top, measure, spare }
   * @returns arrays to show (transfer), the pose and its world matrices, and what was measured
   */
  async frame(asked) {
    const brushed = asked.brush ? await this.brush(asked) : { opened: await this.opened(asked.id, asked.strokes) };
    const { opened } = brushed, base = opened.character, count = base.vertexCount;
    base.reset();
    if (asked.clip >= 0) base.sample(asked.clip, asked.time);
    base.hold(asked.layer);
    for (const [target, value] of asked.morphs ?? []) base.morphs[target] = value;
    const out = { pose: base.pose.slice(), world: base.world.slice(), transfer: { sides: [] }, paint: null, measures: null, handles: null, skin: 0 };
    if (!count) return { ...out, lie: lie(placesOf(out.world)) };
    if (asked.cage) return this.cageFrame(opened, asked, out);
    const shown = asked.handles ? opened.handles(asked.handles) : asked.variant ? (await this.opened(asked.variant)).character : asked.influences ? opened.limited(asked.influences) : base;
    const posed = asked.handles ? shown : base, reduced = shown !== base && !asked.handles, rigid = asked.handles?.rigid && shown.description.virtualCount > 0; // none where every place is near a handle
    const sides = asked.handles ? [{ ...asked.sides[0], method: rigid ? RIGID_HANDLES : 0 }] : asked.sides;
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
    const still = asked.partial && !asked.split && !reduced, part = still ? brushed.runs : null; // but for what the brush changed
    if (part) out.transfer.part = { runs: part, positions: this.cut(opened.address('0 positions'), part), normals: this.cut(opened.address('0 normals'), part) };
    for (let i = 0; !still && i < (asked.split ? sides.length : 1); i++) out.transfer.sides.push({ positions: take(opened.address(`${i} positions`)), normals: take(opened.address(`${i} normals`)) });
    if (asked.factor > 1 && out.transfer.sides.length > 1) this.exaggerate(out.transfer.sides, asked.factor);
    if (asked.show.kind === 'parts' && sides[0].method === PATCHES_METHOD) out.transfer.own = facets(shown.ownPatches(sides[0], posed));
    if (asked.handles) out.handles = { nodes: opened.handled.nodes, domain: opened.handled.domain, milliseconds: opened.handled.milliseconds };
    Object.assign(out, { brush: brushed.told ?? null, still });
    this.paint(out, opened, shown, asked, reduced, brushed);
    if (asked.measure) out.measures = this.measure(opened, asked, reduced);
    return { ...out, lie: lie(this.engine.floats(opened.address('0 positions'), 3 * count)) };
  }
  /** The body as its cage moves it. */
  cageFrame(opened, { cage, measure, spare = [] }, out) {
    const { original: body } = opened, count = body.vertexCount, address = (name) => opened.address(`0 ${name}`);
    out.skin = body.caged(cage, address('positions'), address('normals'));
    const take = (name) => { const from = this.engine.floats(address(name), 3 * count), at = spare.findIndex((each) => each.byteLength === from.byteLength), to = at < 0 ? new Float32Array(from.length) : new Float32Array(spare.splice(at, 1)[0]); to.set(from); return to; };
    out.transfer.sides.push({ positions: take('positions'), normals: take('normals') });
    if (measure) out.measures = { volumes: [Math.abs(opened.restVolume) > 1e-12 ? 100 * (body.volume(address('positions')) / opened.restVolume - 1) : null, null], distance: null, error: null };
    return { ...out, lie: lie(out.transfer.sides[0].positions) };
  }
  /** A closed mesh around the body, as an OBJ. @param cells along its longest side */
  async hull({ id, cells }) { const { character } = await this.openedPlain(id); return { text: hull(character.rest, character.indices, cells) }; }
  /** Side A as many times as far from side B. */
  exaggerate([{ positions: a }, { positions: b }], factor) { for (let i = 0; i < a.length; i++) a[i] = b[i] + factor * (a[i] - b[i]); }
  /** Numbers of runs of vertices, one after the other. */
  cut(address, list) {
    const from = this.engine.floats(address, 3 * list.at(-1)[1]), out = new Float32Array(list.reduce((sum, [start, end]) => sum + 3 * (end - start), 0));
    let at = 0;
    for (const [start, end] of list) { out.set(from.subarray(3 * start, 3 * end), at); at += 3 * (end - start); }
    return out;
  }
  /** Dabs of the brush, before a frame is made. @param asked.brush { stroke, samples: [{ ray, strength }], side, end, toward, kind, joint, ... } */
  async brush({ id, strokes, brush }) {
    const opened = await this.openedPlain(id), source = brush.toward ? await this.openedPlain(brush.toward) : null, version = opened.version, name = `${brush.side} positions`;
    if (source) source.painting ??= new Painting(source.original);
    let hit = null;
    const dabs = { id: brush.stroke, end: brush.end, apply: (painting) => {
      for (const { ray, strength } of opened.addresses.has(name) ? brush.samples : []) {
        const here = painting.pick(ray, opened.address(name));
        if (here) { hit = here; painting.dab(brush, strength, source?.painting); }
      }
    } };
    const changed = opened.paint(strokes, (each) => this.stroke(each), dabs), list = changed?.length ? runs(changed) : [];
    if (dabs.made?.vertices.length) this.strokes.set(brush.stroke, dabs.made);
    return { opened, version, runs: list.length ? list : null, told: { hit, changed: changed?.length ?? 0, stroke: dabs.made ? structuredClone(dabs.made) : null } };
  }
  /** Where the pointer is on the body that is shown: { point, normal, node } or null. */
  async pick({ id, strokes, ray, side = 0 }) {
    const opened = await this.openedPlain(id), name = `${side} positions`;
    if (!opened.addresses.has(name) || !opened.original.description.skins.length) return null;
    opened.painting ??= new Painting(opened.original);
    const hit = opened.painting.pick(ray, opened.address(name));
    return hit && { ...hit, node: opened.painting.strongest() };
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
  /** Over a clip: RMS and largest distance of every side from the first, % of the size, and volume against rest, %. */
  async series({ id, variant, strokes, clip, layer, influences, sides, times }) {
    const opened = await this.opened(id, strokes), base = opened.character, shown = variant ? (await this.opened(variant)).character : influences ? opened.limited(influences) : base, out = { errors: [], largest: [], volumes: [] };
    const count = base.vertexCount, { restVolume, diagonal } = opened;
    for (const time of times) {
      base.reset();
      base.sample(clip, time);
      base.hold(layer);
      sides.forEach((choice, i) => (i ? base : shown).deform(choice, opened.address(`series ${i}`), 0, base));
      const first = this.engine.floats(opened.address('series 0'), 3 * count), errors = [], largest = [];
      sides.forEach((_, i) => {
        const other = this.engine.floats(opened.address(`series ${i}`), 3 * count);
        let sum = 0, most = 0;
        for (let v = 0; v < 3 * count; v += 3) { const d = (first[v] - other[v]) ** 2 + (first[v + 1] - other[v + 1]) ** 2 + (first[v + 2] - other[v + 2]) ** 2; sum += d; if (d > most) most = d; }
        errors.push((100 * Math.sqrt(sum / count)) / diagonal);
        largest.push((100 * Math.sqrt(most)) / diagonal);
      });
      out.errors.push(errors);
      out.largest.push(largest);
      out.volumes.push(sides.map((_, i) => (Math.abs(restVolume) > 1e-12 ? 100 * (base.volume(opened.address(`series ${i}`)) / restVolume - 1) : 0)));
    }
    return out;
  }
  /** Colours of what is shown in place of the skin: weights, counts or errors. */
  paint(out, opened, shown, { show, top, handles, influences, variant, colors: has }, reduced, brushed) {
    if (show.kind === 'none') return;
    const count = shown.vertexCount;
    let values, map = 'heat', high = Math.max(4, opened.character.maxInfluences);
    if (show.kind === 'parts') { this.showParts(out, opened, has); return; }
    if (show.kind === 'joints') { this.showJoints(out, shown, `joints ${influences} ${variant} ${opened.version}`, has); return; }
    if (show.kind === 'error') {
      values = this.distances(opened, opened.address('0 positions'), reduced ? opened.address('reference') : opened.address('1 positions'));
      let most = 0;
      for (let v = 0; v < count; v++) if (values[v] > most) most = values[v];
      high = most > top || most < 0.3 * top ? roundUp(most) : top;
    } else {
      const node = handles ? opened.handled.nodes[show.node] : show.node, keyOf = (version) => `${show.kind} ${node} ${influences} ${variant} ${version} ${handles ? opened.handled.key : ''}`, key = keyOf(opened.version);
      const painted = opened.painting && !handles && !reduced; // as the brush has them, though the shape may wait
      if (opened.values.key !== key) opened.values = { key, list: show.kind === 'count' ? shown.influenceCounts() : painted ? opened.painting.weightsOf(node) : shown.weightsOf(node) };
      values = opened.values.list;
      if (show.kind === 'weights') { map = 'weight'; high = 1; }
      out.paint = { map, top: high, reduced, key };
      if (has === key) return; // the page has them
      if (brushed.runs && has === keyOf(brushed.version)) { this.paintPart(out, brushed.runs, values, map, high); return; }
    }
    const colors = new Float32Array(3 * count);
    paint(map, values, high, colors);
    out.transfer.colors = colors;
    out.paint ??= { map, top: high, reduced, key: null };
  }
  /** Every part in a colour of its own. */
  showParts(out, { original }, has) {
    out.paint = { map: null, key: 'parts' };
    if (has === 'parts') return;
    out.transfer.colors = new Float32Array(3 * original.vertexCount);
    paintParts(original.parts(), out.transfer.colors);
  }
  /** Every joint in a colour of its own, mixed by its weights. */
  showJoints(out, shown, key, has) {
    out.paint = { map: null, key };
    if (has === key) return;
    out.transfer.colors = new Float32Array(3 * shown.vertexCount);
    const joints = new Set(shown.description.skins.flatMap((skin) => skin.joints));
    [...joints].forEach((node, i) => mixPart(i, shown.weightsOf(node), out.transfer.colors));
  }
  /** Colours of what the brush changed. */
  paintPart(out, list, values, map, high) {
    const part = Float32Array.from(list.flatMap(([start, end]) => [...values.subarray(start, end)])), colors = new Float32Array(3 * part.length);
    paint(map, part, high, colors);
    out.transfer.colorPart = { runs: list, colors };
  }
  distances(opened, from, to) {
    const count = opened.character.vertexCount, a = this.engine.floats(from, 3 * count), b = this.engine.floats(to, 3 * count), out = new Float32Array(count);
    for (let v = 0; v < count; v++) out[v] = (100 * Math.hypot(a[3 * v] - b[3 * v], a[3 * v + 1] - b[3 * v + 1], a[3 * v + 2] - b[3 * v + 2])) / opened.diagonal;
    return out;
  }
  /** Milliseconds of skinning one frame, the mean of many. */
  async benchmark({ id, choice, frames }) {
    const opened = await this.openedPlain(id), positions = opened.address('0 positions'), normals = opened.address('0 normals');
    opened.character.deform(choice, positions, normals);
    const start = performance.now();
    for (let i = 0; i < frames; i++) opened.character.deform(choice, positions, normals);
    return (performance.now() - start) / frames;
  }
}
