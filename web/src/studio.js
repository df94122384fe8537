// The studio: what is open, how it is posed and skinned, and the loop that draws it. Panels (panels.js) change this state and
// call `changed`; everything on the stage is computed anew from the state.
import { BUILT_IN } from './characters.js';
import { Character, Engine } from './engine.js';
import { Handles } from './handles.js';
import { Jobs } from './jobs.js';
import { Panels } from './panels.js';
import { Viewport } from './viewport.js';
import { loadFiles } from './load.js';
import { paint } from './colormap.js';
import { writeGlb } from './gltf_write.js';
import { $, download, roundUp } from './dom.js';
import * as turn from './turn.js';

const MEASURE_EVERY = 200; // milliseconds between measures while a clip plays
const FIRST_JOINTS = ['forearm_l', 'lower_arm_l', 'elbow', 'bone2', 'spine'];

export class Studio {
  constructor(engine) {
    this.engine = engine;
    this.source = null; // { name, character, materials, pictures }
    this.methods = ['lbs', 'sbs-weighted'];
    this.split = false;
    this.paint = 'none';
    this.exact = false;
    this.bones = null; // true or false: as the user wants; null: where it helps
    this.reduction = { influences: 0, method: 'klargest', character: null };
    this.clip = 0;
    this.time = 0;
    this.playing = false;
    this.posed = false;
    this.joint = -1;
    this.tab = 'deform';
    this.handles = null;
    this.buffers = [];
    this.speed = { skin: [], frame: [] };
    this.jobs = new Jobs((stage, fraction) => this.panels.progress(stage, fraction));
    this.viewport = new Viewport($('canvas'), {
      invalidate: () => this.schedule(),
      pick: (marker) => this.pickMarker(marker),
      hover: (marker, event) => this.panels.hover(marker >= 0 ? this.markerName(marker) : null, event),
      grip: (what, grip) => this.grip(what, grip),
      clickSurface: (hit) => { if (this.tab === 'handles' && hit && this.adding) { this.adding = false; $('notice').hidden = true; this.handles.add(hit.point.map((x, c) => x - 0.02 * this.viewport.radius * hit.normal[c])); } },
    });
    this.panels = new Panels(this);
  }

  // Opening ---------------------------------------------------------------------------------------

  /** Show a model. The old one stays if the engine refuses this one. */
  open({ name, model, materials = [], pictures = [] }) {
    let character;
    try {
      character = new Character(this.engine, model);
      if (!character.triangleCount) throw new Error('there is nothing to show: no triangles in the scene');
    } catch (error) {
      if (character) character.destroy(); else this.engine.destroyModel(model);
      throw error;
    }
    this.close();
    this.source = { name, character, materials, pictures };
    for (let i = 0; i < 6; i++) this.buffers.push(this.engine.allocate(12 * character.vertexCount));
    this.viewport.setCharacter(character, materials);
    this.reduction.influences = 0;
    this.clip = 0;
    this.time = 0;
    this.posed = false;
    this.paintTop = 0;
    const space = !!character.description.poseSpace;
    this.methods = this.methods.map((id, i) => (this.offers(id) && !(space && i === 0) ? id : space ? ['wpsd', 'lbs'][i] : ['lbs', 'sbs-weighted'][i]));
    this.joints = this.jointNodes();
    const named = FIRST_JOINTS.map((wanted) => this.joints.find((node) => character.description.nodes[node].name === wanted)).find((node) => node !== undefined);
    this.joint = named ?? this.joints[Math.floor(this.joints.length / 3)] ?? -1;
    if (character.description.clips.length) character.sample(0, 0);
    const rest = character.rest, min = [Infinity, Infinity, Infinity], max = min.map((x) => -x);
    for (let i = 0; i < rest.length; i++) { min[i % 3] = Math.min(min[i % 3], rest[i]); max[i % 3] = Math.max(max[i % 3], rest[i]); }
    this.diagonal = Math.hypot(...max.map((x, c) => x - min[c])) || 1;
    this.restVolume = character.volume(character.rest_);
    this.viewport.frame(min, max);
    this.handles = new Handles(this.engine, this.jobs, character, () => { this.panels.showHandles(); this.changed(); }, (error) => this.panels.fail('No weights for these handles', error.message));
    if (this.tab === 'handles') this.handles.begin();
    this.panels.opened();
    this.changed();
  }
  close() {
    if (!this.source) return;
    this.handles?.destroy();
    this.reduction.character?.destroy();
    this.reduction.character = null;
    this.source.character.destroy();
    for (const buffer of this.buffers) this.engine.free(buffer);
    this.buffers = [];
    this.source = null;
  }
  async openBuiltIn(id) {
    const entry = BUILT_IN.find((each) => each.id === id) ?? BUILT_IN[0];
    const serial = this.opening = (this.opening ?? 0) + 1;
    await this.panels.busy(`Making the ${entry.name.toLowerCase()}`, async () => {
      let words;
      if (entry.file) {
        const response = await fetch(entry.file);
        if (!response.ok) throw new Error(`${entry.file}: ${response.status}`);
        words = new Uint32Array(await response.arrayBuffer());
      } else {
        words = (await this.jobs.run('synth', { options: entry.synth }))?.words;
      }
      if (words && serial === this.opening) this.open({ name: entry.id, model: this.engine.createModel(words) });
    }, entry.name);
  }
  /** Files dropped or picked. A bad one is a message; what is open stays. */
  async openFiles(files) {
    const serial = this.opening = (this.opening ?? 0) + 1;
    const title = [...files].map((file) => file.name).find((name) => /\.(glb|gltf|obj)$/i.test(name)) ?? files[0]?.name ?? 'file';
    await this.panels.busy(`Reading ${title}`, async () => {
      const read = await Promise.all([...files].map(async (file) => ({ name: file.name, bytes: new Uint8Array(await file.arrayBuffer()) })));
      const loaded = await loadFiles(read);
      if (serial !== this.opening) return;
      const model = this.engine.create(loaded.description), notes = [...loaded.notes, ...this.engine.repairs(model).map((line) => `repaired: ${line}`)];
      this.open({ ...loaded, model });
      this.panels.openedFile(title);
      if (notes.length) this.panels.say(`${title} is open`, notes.join('; '));
    }, title);
  }

  // State -----------------------------------------------------------------------------------------

  get character() { return this.source?.character; }
  get inHandles() { return this.tab === 'handles' && !!this.handles?.character; }
  /** The character whose weights side A shows. */
  get shown() { return this.inHandles ? this.handles.character : this.reduction.character ?? this.character; }
  get showsBones() { return this.bones ?? (this.tab === 'pose' || (this.paint === 'weights' && this.tab !== 'handles')); }
  method(side) { return this.engine.methods.find((each) => each.id === this.methods[side]); }
  offers(id) {
    const method = this.engine.methods.find((each) => each.id === id);
    return !!method && this.engine.offers(method, this.character?.description ?? {});
  }
  jointNodes() {
    const { skins, nodes } = this.character.description, set = new Set(skins.flatMap((skin) => [...skin.joints]));
    return nodes.map((_, i) => i).filter((i) => (set.size ? set.has(i) : !nodes[i].outside));
  }
  choice(side) { const { method, weighted } = this.method(side); return { method, weighted, exact: this.exact }; }
  setMethod(side, id) {
    if (!this.offers(id)) return;
    this.methods[side] = id;
    this.paintTop = 0;
    this.speed.skin = [];
    this.changed();
  }
  setInfluences(influences, method = this.reduction.method) {
    const { reduction } = this, most = this.character.maxInfluences;
    reduction.influences = influences >= most ? 0 : influences;
    reduction.method = method;
    reduction.character?.destroy();
    reduction.character = null;
    this.paintTop = 0;
    const serial = reduction.serial = (reduction.serial ?? 0) + 1;
    if (reduction.influences) {
      this.adoptReduction(this.engine.limit(this.character.model, reduction.influences));
      if (method === 'poisson') this.reduceInWorker(serial);
    }
    this.changed();
  }
  adoptReduction(model) {
    this.reduction.character?.destroy();
    this.reduction.character = new Character(this.engine, model);
    this.weightCache = null;
  }
  async reduceInWorker(serial) {
    const { reduction } = this, { influences } = reduction;
    this.panels.setWorking(true);
    try {
      const made = await this.jobs.run('reduce', { words: this.engine.packed(this.character.model), influences, method: 'poisson' });
      if (made && serial === reduction.serial) { this.adoptReduction(this.engine.createModel(made.words)); this.changed(); }
    } catch (error) {
      if (serial === reduction.serial) this.panels.fail('The weights could not be reduced', error.message);
    } finally {
      if (serial === reduction.serial) this.panels.setWorking(false);
    }
  }
  seek(seconds) {
    this.time = seconds;
    this.posed = false;
    this.character.sample(this.clip, seconds);
    this.panels.showTime();
    this.changed();
  }
  setPlaying(playing) {
    this.playing = playing && !!this.character?.description.clips.length;
    this.lastTick = 0;
    this.speed.frame = [];
    if (this.playing) this.posed = false;
    this.panels.showPlaying();
    this.schedule();
  }
  setTab(tab) {
    this.tab = tab;
    this.adding = false;
    if (tab === 'handles') { this.setPlaying(false); this.handles?.begin(); }
    this.paintTop = 0;
    this.changed();
  }

  // Posing ----------------------------------------------------------------------------------------

  /** Local rotation of a joint (x y z w). */
  setRotation(node, rotation) {
    this.setPlaying(false);
    this.character.pose.set(rotation, 10 * node + 3);
    this.posed = true;
    this.changed();
  }
  rotation(node) { return this.character.pose.slice(10 * node + 3, 10 * node + 7); }
  resetPose() {
    this.setPlaying(false);
    this.character.reset();
    this.posed = true;
    this.changed();
  }
  applyExample(k) {
    const space = this.character.description.poseSpace;
    this.setPlaying(false);
    this.character.reset();
    space.joints.forEach((node, j) => {
      const at = k * space.joints.length + j;
      this.character.pose.set(space.rotations.subarray(4 * at, 4 * at + 4), 10 * node + 3);
      if (space.translations) this.character.pose.set(space.translations.subarray(3 * at, 3 * at + 3), 10 * node);
    });
    this.example = k;
    this.posed = true;
    this.changed();
  }
  pickMarker(marker) {
    if (this.tab === 'handles') this.handles.selected = marker;
    else this.joint = this.joints[marker];
    this.panels.showSelection();
    this.changed();
  }
  markerName(marker) {
    if (this.tab === 'handles') return `handle ${marker + 1}`;
    return this.character.description.nodes[this.joints[marker]].name ?? `joint ${this.joints[marker]}`;
  }
  grip(what, grip) {
    if (this.tab === 'handles') {
      if (what !== 'start') this.handles.drag(this.handles.selected, grip.position.toArray(), what === 'end');
      return;
    }
    const node = this.joint, { parent } = this.character.description.nodes[node], world = this.character.world;
    if (what === 'start') {
      const above = parent >= 0 ? turn.fromMatrix(world, 12 * parent) : turn.IDENTITY;
      this.held = { above, start: grip.quaternion.toArray(), local: this.rotation(node) };
    }
    if (what !== 'move' || !this.held) return;
    const change = turn.multiply(grip.quaternion.toArray(), turn.inverse(this.held.start));
    const local = turn.multiply(turn.multiply(turn.multiply(turn.inverse(this.held.above), change), this.held.above), this.held.local);
    this.setRotation(node, turn.unit(local));
    this.panels.showTurns();
  }

  // The frame -------------------------------------------------------------------------------------

  changed() { this.stale = true; this.schedule(); }
  schedule() {
    if (this.scheduled) return;
    this.scheduled = true;
    requestAnimationFrame((now) => { this.scheduled = false; this.tick(now); });
  }
  tick(now) {
    if (!this.source) return;
    if (this.playing) this.advance(now);
    if (this.stale) this.compute(now);
    if (this.viewport.dirty) this.viewport.render();
    if (this.playing) this.schedule();
    this.panels.showSpeed();
  }
  advance(now) {
    const duration = this.character.description.clips[this.clip].duration;
    if (this.lastTick) {
      this.time = duration > 0 ? (this.time + (now - this.lastTick) / 1000) % duration : 0;
      this.keep('frame', now - this.lastTick);
    }
    this.lastTick = now;
    this.character.sample(this.clip, this.time);
    this.stale = true;
    this.panels.showTime();
  }
  keep(name, milliseconds) {
    const list = this.speed[name];
    list.push(milliseconds);
    if (list.length > 40) list.shift();
  }
  floats(buffer) { return this.engine.floats(buffer, 3 * this.character.vertexCount); }
  compute(now) {
    this.stale = false;
    const [positionsA, normalsA, positionsB, normalsB, reference] = this.buffers, base = this.character;
    try {
      if (this.inHandles) {
        this.keep('skin', this.shown.deform({ method: 0, exact: this.exact }, positionsA, normalsA));
      } else {
        this.keep('skin', this.shown.deform(this.choice(0), positionsA, normalsA, base));
        if (this.split || this.paint === 'error') base.deform(this.choice(1), positionsB, normalsB, base);
      }
      if (this.reduction.character && !this.inHandles) base.deform(this.choice(0), reference, 0, base);
    } catch (error) {
      this.panels.fail(`${this.method(0).name} cannot do this model`, error.message);
      if (this.methods[0] !== 'lbs' || this.methods[1] !== 'lbs') { this.methods = ['lbs', 'lbs']; this.panels.showMethods(); this.changed(); }
      return;
    }
    const split = this.split && !this.inHandles;
    this.viewport.update(0, this.floats(positionsA), this.floats(normalsA));
    if (split) this.viewport.update(1, this.floats(positionsB), this.floats(normalsB));
    this.viewport.setGround(this.floats(positionsA), this.playing);
    this.viewport.split = split ? this.panels.dividerAt : null;
    this.paintSides(split);
    this.showMarkers();
    if (!this.playing || now - (this.measuredAt ?? 0) > MEASURE_EVERY) { this.measuredAt = now; this.measure(split); }
    this.panels.showStage();
  }
  measure(split) {
    const [positionsA, , positionsB, , reference] = this.buffers, { character } = this;
    const change = (buffer) => (Math.abs(this.restVolume) > 1e-12 ? 100 * (character.volume(buffer) / this.restVolume - 1) : null);
    this.panels.showMeasures({
      volumes: [change(positionsA), split ? change(positionsB) : null],
      distance: split ? character.compare(positionsA, positionsB) : null,
      error: this.reduction.character && !this.inHandles ? character.compare(positionsA, reference) : null,
    });
  }

  /** What is painted: { values, map, top, title } of side A, or null for the skin itself. */
  paintKind() {
    if (this.inHandles) return this.handles.mode === 'place' || this.paint === 'weights' ? 'weights' : 'none';
    return this.paint;
  }
  paintValues(kind) {
    if (kind === 'error') {
      const [a, , b, , reference] = this.buffers, from = this.floats(a), to = this.floats(this.reduction.character ? reference : b), out = new Float32Array(from.length / 3);
      let most = 0;
      for (let v = 0; v < out.length; v++) {
        out[v] = (100 * Math.hypot(from[3 * v] - to[3 * v], from[3 * v + 1] - to[3 * v + 1], from[3 * v + 2] - to[3 * v + 2])) / this.diagonal;
        most = Math.max(most, out[v]);
      }
      if (most > (this.paintTop ?? 0) || most < 0.3 * this.paintTop) this.paintTop = roundUp(most);
      return { values: out, map: 'heat', top: this.paintTop, title: `Distance to ${this.reduction.character ? 'all weights' : this.method(1).name.toLowerCase()}, %` };
    }
    const node = this.inHandles ? this.handles.nodes[this.handles.selected] : this.joint, key = `${kind} ${node}`;
    if (this.weightCache?.key !== key || this.weightCache.of !== this.shown)
      this.weightCache = { key, of: this.shown, values: kind === 'weights' ? this.shown.weightsOf(node) : this.shown.influenceCounts() };
    const { values } = this.weightCache;
    if (kind === 'count') return { values, map: 'heat', top: Math.max(4, this.character.maxInfluences), title: 'Influences of a vertex' };
    const name = this.inHandles ? `handle ${this.handles.selected + 1}` : this.character.description.nodes[node]?.name ?? 'joint';
    return { values, map: 'weight', top: 1, title: `Weight of ${name}` };
  }
  paintSides(split) {
    const kind = this.paintKind();
    this.painted = kind === 'none' ? null : this.paintValues(kind);
    for (const side of split ? [0, 1] : [0]) {
      const painted = !!this.painted && !(kind === 'error' && side === 1);
      if (painted) paint(this.painted.map, this.painted.values, this.painted.top, this.viewport.sides[side].paint.array);
      this.viewport.setPainted(side, painted);
    }
  }
  showMarkers() {
    const { viewport } = this;
    if (this.tab === 'handles') {
      const list = this.handles.list, i = this.handles.selected;
      viewport.setMarkers(list.map((_, k) => ({ position: this.handles.position(k), parent: -1 })), i, { bones: false, size: 15 });
      viewport.setGrip(list.length ? 'translate' : null, list.length ? this.handles.position(i) : null);
      return;
    }
    const world = this.character.world, { nodes } = this.character.description, at = (node) => [world[12 * node + 3], world[12 * node + 7], world[12 * node + 11]];
    const place = new Map(this.joints.map((node, i) => [node, i]));
    const visible = this.showsBones && this.character.description.skins.length > 0;
    viewport.setMarkers(visible ? this.joints.map((node) => ({ position: at(node), parent: place.get(nodes[node].parent) ?? -1 })) : [], this.joints.indexOf(this.joint));
    const turning = visible && this.tab === 'pose' && this.joint >= 0;
    viewport.setGrip(turning ? 'rotate' : null, turning ? at(this.joint) : null, turning ? turn.fromMatrix(world, 12 * this.joint) : null);
  }

  // Saving ----------------------------------------------------------------------------------------

  /** The character with the weights side A shows; a pose made by hand is kept as the clip "pose". */
  glb() {
    if (this.inHandles) return writeGlb(this.handles.description(), this.source.pictures);
    const { description } = this.shown, { nodes } = description, pose = this.character.pose, channels = [];
    if (this.posed) {
      nodes.forEach((node, i) => {
        if (node.matrix) return;
        [[0, 0, 3], [1, 3, 7], [2, 7, 10]].forEach(([path, from, to]) => {
          const values = pose.slice(10 * i + from, 10 * i + to);
          if (values.some((x, c) => Math.abs(x - node.rest[from + c]) > 1e-7)) channels.push({ node: i, path, interpolation: 0, times: Float32Array.of(0), values });
        });
      });
    }
    const clips = channels.length ? [...description.clips, { name: 'pose', duration: 0, channels }] : description.clips;
    return writeGlb({ ...description, clips }, this.source.pictures);
  }
  saveGlb() { download(new Blob([this.glb()], { type: 'model/gltf-binary' }), `${this.source.name}.glb`); }
  async savePicture() {
    this.compute(performance.now());
    download(await this.viewport.picture(), `${this.source.name}.png`);
  }
  /** Small pictures of the example poses. */
  thumbnails(size) {
    const keep = [this.character.pose.slice(), this.posed, this.example, this.split, this.paint];
    this.split = false;
    this.paint = 'none';
    const out = Array.from({ length: this.character.description.poseSpace.poseCount }, (_, k) => {
      this.applyExample(k);
      this.compute(0);
      return this.viewport.thumbnail(size);
    });
    this.character.pose.set(keep[0]);
    [, this.posed, this.example, this.split, this.paint] = keep;
    this.changed();
    return out;
  }

  /** For the browser's tests: milliseconds of one frame of skinning, the mean of many. */
  benchmark(method, frames) {
    const choice = this.engine.methods.find((each) => each.id === method), [positions, normals] = this.buffers;
    this.character.deform({ ...choice, exact: false }, positions, normals);
    const start = performance.now();
    for (let i = 0; i < frames; i++) this.character.deform({ ...choice, exact: false }, positions, normals);
    return (performance.now() - start) / frames;
  }
}

async function main() {
  const engine = await Engine.create(fetch('engine.wasm'));
  const studio = new Studio(engine);
  window.studio = studio;
  const wanted = new URLSearchParams(location.hash.slice(1)).get('open');
  if (wanted && !wanted.includes('/')) {
    const response = await fetch(`open/${encodeURIComponent(wanted)}`);
    if (response.ok) await studio.openFiles([new File([await response.blob()], wanted)]);
    else studio.panels.fail(`${wanted} cannot be read`, `the server says ${response.status}`);
  }
  if (!studio.source) await studio.openBuiltIn('biped');
  await new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }); // the first frame is drawn
  studio.readyAfter = performance.now(); // since the page was opened
  document.documentElement.dataset.ready = '';
}

main().catch((error) => {
  $('notice').hidden = false;
  $('notice-title').textContent = 'The studio cannot start';
  $('notice-text').textContent = `${error.message}. It needs WebGL 2 and WebAssembly with SIMD: a browser of 2023 or later.`;
});
