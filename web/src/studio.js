// The studio: what is open and what was made of it. The work is one immutable state after another (history.js), so that every
// change can be undone; panels ask for changes (`edit`), frames.js shows the present state. Nothing is computed here.
import { Brush, NO_STROKES } from './brush.js';
import { BUILT_IN, EXAMPLES } from './characters.js';
import { Remote, compileEngine } from './client.js';
import { Cages } from './cages.js';
import { Compare } from './compare.js';
import { Frames } from './frames.js';
import { History } from './history.js';
import { Panels } from './panels.js';
import { Viewport } from './viewport.js';
import { extension, mainFile, stem } from './files.js';
import { loadLook } from './look.js';
import { $, download } from './dom.js';
import * as turn from './turn.js';

const FIRST_JOINTS = ['forearm_l', 'lower_arm_l', 'elbow', 'bone2', 'spine'];
const START_HANDLES = 6, HANDLE_INFLUENCES = 8, MOST_DOCUMENTS = 8, MOST_RECENT = 5;
const NO_POSE = Object.freeze({});
const WORK = ['document', 'pose', 'strokes', 'influences', 'optimised', 'handles', 'cage', 'draft']; // what a save would keep, or a bind
const START = { document: null, clip: -1, pose: NO_POSE, strokes: NO_STROKES, methods: ['lbs', 'sbs-weighted', 'dqs', 'sbs'], split: false, layout: 'wipe', bodies: 2, show: 'none', exact: false, bones: null, influences: 0, optimised: null, handles: null, cage: null, draft: null, rigid: false, morphs: null };
const documentsOf = (states) => new Set(states.flatMap(({ document, optimised }) => [document, optimised]).filter(Boolean));

export class Studio {
  constructor(module) {
    const progress = (stage, fraction) => this.panels.progress(stage, fraction);
    this.stage = new Remote(module, true, progress);
    this.jobs = new Remote(module, false, progress);
    this.started = this.stage.start(); // while the stage is being made
    this.documents = new Map();
    this.stage.prepare = () => [...this.documents.values()].map(({ id, files, main, options }) => ['register', { id, files, main, options }]).concat([['keepStrokes', { list: [...this.brush.strokes] }]]);
    this.history = new History((left) => this.release(left));
    this.history.begin({ ...START });
    this.saved = this.state;
    this.recent = [];
    this.made = this.opening = 0;
    Object.assign(this, { time: 0, playing: false, joint: -1, joints: [], tab: 'start', pace: 1, range: null, handle: 0, handleMode: 'move', handleGrip: 'translate', startHandles: null, adding: false, methodList: [] });
    this.viewport = new Viewport($('canvas'), {
      invalidate: () => this.frames?.schedule(),
      resized: () => { this.compare?.place(); this.compare?.draw(); },
      pick: (marker) => this.pickMarker(marker),
      hover: (marker, event) => this.panels.hover(marker >= 0 ? this.markerName(marker) : null, event),
      grip: (what, grip) => this.grip(what, grip),
      draggable: () => (this.tab === 'handles' && !this.adding) || this.inJoints,
      drawn: () => this.panels?.journey.placePins(),
      clickSurface: (hit, { ray }) => { if (this.cages.draft) this.cages.click(ray); else if (this.adding === 'end' && hit) this.setBar(hit.point); else if (this.adding && hit) this.addHandle(hit.point.map((x, c) => x - 0.02 * this.viewport.radius * hit.normal[c])); },
    });
    this.brush = new Brush(this);
    this.compare = new Compare(this);
    this.cages = new Cages(this);
    this.frames = new Frames(this);
    this.panels = new Panels(this);
  }
  async start() {
    const about = await this.started;
    this.methodList = about.methods;
    this.panels.begin(about.version);
  }

  // State -----------------------------------------------------------------------------------------
  get state() { return this.history?.state ?? START; }
  get document() { return this.state.document; }
  get source() { return this.document && { name: this.document.name }; }
  get info() { return this.document?.info; }
  get clip() { return this.state.clip; }
  get methods() { return this.state.methods; }
  get clipInfo() { return this.info?.description.clips[this.state.clip]; }
  get skinned() { return !!this.info?.methods.length; }
  get unsaved() { return WORK.some((key) => this.state[key] !== this.saved[key]); }
  /** What derived work starts from: optimised weights, or a cap on all. */
  get reduced() { const { document, optimised, influences, strokes } = this.state; return optimised ? { from: optimised, influences: 0, strokes: NO_STROKES } : { from: document, influences, strokes }; }
  get inHandles() { return this.tab === 'handles' && !this.cages.active && !!this.info?.vertexCount && this.handles.length > 0; }
  /** Joints are edited at rest. */
  get inJoints() { return this.tab === 'joints' && this.skinned; }
  /** Rigged here and not moved yet: its joints and their weights are shown, until a motion or another tab is chosen. */
  get fresh() { return this.tab === 'start' && this.skinned && !!this.document.rig && this.state.clip < 0 && this.state.show === 'none'; }
  get handles() { return this.state.handles ?? this.startHandles ?? []; }
  get showsBones() { return this.state.bones ?? (this.tab === 'pose' || this.inJoints || this.fresh || !this.info?.triangleCount || (this.state.show === 'weights' && this.tab !== 'handles')); }
  get canPlay() { return !!this.clipInfo && this.tab !== 'handles' && !this.inJoints; }
  get canSplit() { return this.skinned && this.tab !== 'handles' && !this.inJoints; }
  method(side) { return this.methodList.find((each) => each.id === this.state.methods[side]) ?? this.methodList[0]; }
  offers(id) { return !!this.info?.methods.includes(id); }

  /** The next state. @param gesture changes with the same one are one step, until the gesture is over (history.seal) */
  edit(change, gesture = null, how = 'push') {
    const before = this.state;
    this.history[how]({ ...before, ...change }, gesture);
    while (documentsOf(this.history.states).size > MOST_DOCUMENTS) this.history.forget();
    this.applied(before);
  }
  amend(change) { this.edit(change, null, 'amend'); }
  applied(before) {
    const now = this.state;
    if (now.document !== before.document) this.adopt(before.document);
    if (now.clip !== before.clip || now.document !== before.document) { this.time = Math.min(this.time, this.clipInfo?.duration ?? 0); this.range = null; this.frames.jumped = true; }
    if (['document', 'methods', 'exact', 'influences'].some((key) => now[key] !== before[key])) this.frames.forget();
    this.handle = Math.max(0, Math.min(this.handle, this.handles.length - 1));
    if (!this.canPlay) this.setPlaying(false);
    if (WORK.some((key) => now[key] !== before[key])) this.panels.recovery.changed();
    this.panels.show();
    this.frames.changed();
  }
  undo(by = -1) {
    const before = this.state;
    this.viewport.release();
    this.brush.cancel();
    if (!this.history.go(by)) return;
    this.applied(before);
    this.panels.announce(by < 0 ? 'Undone' : 'Redone');
  }
  redo() { this.undo(1); }
  /** What is being dragged or added is let go, as if it had not begun. @returns whether there was something */
  cancel() {
    const before = this.state;
    if (this.adding) { this.setAdding(false); return true; }
    if (this.brush.cancel()) return true;
    if (!this.viewport.dragging && this.history.gesture === null) return false;
    this.panels.joints.letGo();
    this.history.abandon();
    this.viewport.release();
    this.applied(before);
    return true;
  }
  /** Documents that no state holds any more are closed. */
  release(left) {
    const used = new Set([...documentsOf(left), ...this.brush.documents]), ids = [];
    this.brush.release(left);
    for (const document of this.documents.values()) {
      if (used.has(document)) continue;
      ids.push(document.id);
      document.look.dispose();
      this.documents.delete(document.id);
    }
    if (ids.length && this.stage.worker) this.stage.call('close', { ids }).catch(() => {});
  }

  // Opening ---------------------------------------------------------------------------------------
  /** Opens files in the stage worker. @param files [File] @param more { name, made } of the new document */
  async makeDocument(files, main, more = {}) {
    const id = `d${++this.made}`, list = files.map((file) => ({ name: file.name, blob: file }));
    const { options = {} } = more, asked = this.stage.call('open', { id, files: list, main: main.name, options });
    if (this.made === 1) setTimeout(() => this.viewport.rehearse()); // the worker has its work
    const info = await asked;
    try {
      if (!info.triangleCount && info.description.nodes.length < 2) throw new Error('there is nothing to show: no triangles and no skeleton');
      const look = await loadLook(info.transfer.materials);
      look.warm = await this.viewport.warm(info, look);
      info.transfer.materials = null;
      info.notes.push(...look.notes);
      return { id, name: stem(main.name), made: [], files: list, main: main.name, options, info, look, ...more };
    } catch (error) {
      this.discard({ id });
      throw error;
    }
  }
  /** A document that a verb (or the page) made of another one. */
  makeChild(from, blob, verb, words = []) {
    const file = new File([blob], `${from.name}.glb`);
    return this.makeDocument([file], file, { name: from.name, file: from.file, made: [...from.made, verb], steps: [...(from.steps ?? []), verb === words[0] ? [...words, ...(from.options.up && from.options.up !== 'y' ? ['--up', from.options.up] : []), ...(from.options.units && from.options.units !== 'm' ? ['--units', from.options.units] : [])] : [verb]] });
  }
  /** A document that no state will hold. */
  discard({ id, look }) {
    look?.dispose();
    this.stage.call('close', { ids: [id] }).catch(() => {});
  }
  /** A new document begins a new history. */
  begin(document) {
    const { methods, description } = document.info, space = !!description.poseSpace, old = this.state;
    const wanted = [...(space ? ['wpsd', 'lbs'] : ['lbs', 'sbs-weighted']), 'dqs', 'sbs'], chosen = old.methods.map((id, i) => (methods.includes(id) && !(space && i === 0) ? id : wanted[i]));
    this.setPlaying(false);
    this.time = 0;
    this.joint = -1;
    this.documents.set(document.id, document);
    this.history.begin({ ...START, document, methods: chosen, exact: old.exact, bones: old.bones, split: old.split && methods.length > 0, layout: old.layout, bodies: old.bodies, show: methods.length ? old.show : 'none', clip: description.clips.length ? 0 : -1 });
    this.saved = this.state;
    this.applied(old);
    this.panels.opened();
  }
  adopt(before) {
    const { info, look } = this.document, { nodes, skins } = info.description, name = before?.info.description.nodes[this.joint]?.name;
    this.viewport.setCharacter(info, look);
    const near = before && [...info.bounds.min, ...info.bounds.max].every((x, i) => Math.abs(x - [...before.info.bounds.min, ...before.info.bounds.max][i]) < 0.02 * info.diagonal);
    if (!near || this.history.states.length === 1) this.viewport.frame(info.bounds);
    const set = new Set(info.instances.flatMap(({ skin }) => (skin >= 0 ? skins[skin].joints : []))); // skins that move something
    this.joints = nodes.map((_, i) => i).filter((i) => (set.size ? set.has(i) : !nodes[i].outside));
    const named = [name, ...FIRST_JOINTS].map((wanted) => this.joints.find((node) => wanted && nodes[node].name === wanted)).find((node) => node !== undefined);
    this.joint = named ?? this.joints[Math.floor(this.joints.length / 3)] ?? -1;
    this.startHandles = null;
    this.frames.shown = null;
    this.history.sweep(); // what no state holds is closed: the stage has another, the worker is asked for nothing of it yet
    if (this.tab === 'handles') this.beginHandles();
    this.panels.documentChanged();
  }
  /** @param work makes a document; @param after what is done when it is open */
  async opened(title, work, after = null) {
    if (this.unsaved && !(await this.panels.sheet.askToLeave())) { this.panels.fillCharacters(); return; }
    const serial = ++this.opening;
    await this.panels.busy(title, async () => {
      const document = await work();
      if (!document) return;
      if (serial !== this.opening) { this.discard(document); return; }
      this.panels.closeNotice();
      this.begin(document);
      await after?.();
      if (document.info.guess) this.panels.journey.offerReading(document.info.guess, document.info.notes);
      else if (document.info.notes.length) this.panels.say(`${document.file ?? document.name} is open`, document.info.notes.join('; '));
    }, { cancel: () => { this.opening++; this.stop(); } });
  }
  /** Ends what the workers do; the next ones open again what is asked for. */
  stop() {
    for (const remote of [this.stage, this.jobs]) if (remote.busy) remote.cancel();
    this.frames.changed();
  }
  async openBuiltIn(id) {
    const entry = [...BUILT_IN, ...EXAMPLES].find((each) => each.id === id) ?? BUILT_IN[0];
    await this.opened({ doing: `Making the ${entry.name.toLowerCase()}`, failed: `${entry.name} cannot be opened` }, async () => {
      let blob;
      if (entry.file) {
        const response = await fetch(entry.file);
        if (!response.ok) throw new Error(`${entry.file}: the server says ${response.status}`);
        blob = await response.blob();
      } else {
        blob = await this.command([...entry.words, '-o', `${entry.id}.glb`], [], `${entry.id}.glb`);
      }
      const file = new File([blob], `${entry.id}.glb`);
      return this.makeDocument([file], file, { name: entry.id });
    });
  }
  /** Files dropped or chosen. A bad one is a message; what is open stays. */
  async openFiles(given) {
    const title = (given.find((file) => extension(file.name) === 'gltf') ?? given[0])?.name ?? 'file';
    if (given.length && given.every(({ name }) => /\.(npy|pc2)$/i.test(name)) && this.skinned) { this.offerFit(given); return; }
    let main, files;
    try {
      main = mainFile(given);
      files = await Promise.all(given.map(async (file) => new File([await file.arrayBuffer()], file.name))); // now: on the disk it may change
      main = files[given.indexOf(main)];
    } catch (error) { this.panels.fail(`${title} cannot be opened`, error.message); return; }
    const open = () => this.opened({ doing: `Reading ${main.name}`, failed: `${main.name} cannot be opened` }, async () => {
      if (!main.size) throw new Error(`${main.name} is empty`);
      const document = await this.makeDocument(files, main, { file: main.name });
      this.recent = [{ name: main.name, files }, ...this.recent.filter((each) => each.name !== main.name)].slice(0, MOST_RECENT);
      return document;
    });
    if (extension(main.name) !== 'bvh' || !this.info?.triangleCount) { await open(); return; }
    const { name } = this.document, before = this.document;
    if (this.skinned) { // at once: it can be undone
      await this.panels.journey.motionFile([main]);
      if (this.document !== before) this.panels.say(`${main.name} is on ${name}`, 'It is a clip of its own now.', [['Open it alone', open]]);
      return;
    }
    this.panels.say(`${main.name} is a motion`, `${name} has no skeleton yet: give it one with this motion, or open the motion’s skeleton alone.`, [
      [`Rig ${name} and move it`, () => this.runVerb('rig', ['--motion', main.name], [main])], ['Open it alone', open],
    ]);
  }

  /** The file of the body again, with another axis up or in another unit: formats of meshes alone say neither. */
  async readAs({ up, units }) {
    const { files, main, file } = this.document.bare ?? this.document, list = files.map(({ name, blob }) => new File([blob], name));
    await this.opened({ doing: `Reading ${main}`, failed: `${main} cannot be opened` }, () => this.makeDocument(list, list.find(({ name }) => name === main), { file, options: { up, units } }));
  }

  /** Shapes that were dropped: one for every key of the clip that is chosen. */
  offerFit(files) {
    const { name } = this.document, clip = this.clipInfo?.name;
    if (!clip) { this.panels.fail(`${files[0].name} holds shapes`, 'Choose the clip whose keys are their poses first.'); return; }
    this.panels.say(`${files[0].name} holds shapes`, `One for every key of the clip “${clip}”: ${name} can learn from them how it looks in between.`, [[`Fit ${name} to them`, () => this.runVerb('fit', ['--poses', clip, '--shapes', ...files.map((each) => each.name)], files)]]);
  }

  // Commands --------------------------------------------------------------------------------------
  /** Runs a command of `cutis` in the jobs worker. @returns the file it made; its words are in `said` */
  async command(words, files, output, said = {}) {
    const result = await this.jobs.call('command', { words, files });
    Object.assign(said, result);
    const made = result.files.find((file) => file.name === output);
    if (made && (result.status === 0 || words.includes('--keep'))) return made.blob;
    throw new Error(result.stderr.trim().split('\n').at(-1).replace(/^cutis: /, '') || `cutis ${words[0]} ended with ${result.status}`);
  }
  /** A document as a GLB, as the library writes it. */
  async glb(document, influences, strokes) {
    if (!influences && !strokes.length && extension(document.main) === 'glb') return document.files.find((file) => file.name === document.main).blob;
    return (await this.stage.call('save', { id: document.id, strokes, options: { influences } })).blob;
  }
  /** A document that a verb makes of another. @param words its options @param files [File] that they name */
  async derive({ from, influences = 0, strokes = NO_STROKES }, verb, words, files = [], said = {}) {
    let safe = from.name.replace(/[^\w.-]/g, '_').replace(/^-/, '_');
    while (files.some(({ name }) => [`${safe}.glb`, `${safe}-${verb}.glb`].includes(name))) safe = `_${safe}`;
    const output = `${safe}-${verb}.glb`, input = { name: `${safe}.glb`, blob: await this.glb(from, influences, strokes) };
    const blob = await this.command([verb, input.name, ...words, '-o', output], [input, ...files.map((file) => ({ name: file.name, blob: file }))], output, said);
    return this.makeChild(from, blob, verb, [verb, ...words]);
  }
  /** A verb on the open model; its result is the new document. */
  async runVerb(verb, words, files = []) {
    const said = {}, before = this.state;
    this.panels.closeNotice();
    await this.panels.busy({ doing: `cutis ${verb}`, failed: `cutis ${verb} did not work` }, async () => {
      const document = await this.derive(this.reduced, verb, words, files, said);
      this.replace(before, document, verb === 'retarget' || words.includes('--motion') ? document.info.description.clips.length - 1 : null);
    });
    this.panels.verbs.ran(verb, said);
  }
  /** The work goes on with another document made of a state's one. @returns whether: not where something else is open by now */
  replace(before, document, clip = null, more = {}, gesture = null) {
    if (this.document !== before.document || this.state.optimised !== before.optimised) { this.discard(document); return false; }
    const names = ({ info }) => info.description.nodes.map((node) => node.name).join('\n'), same = names(document) === names(this.document), { clips } = document.info.description;
    const index = clip ?? clips.findIndex((each) => each.name === this.clipInfo?.name), { methods } = document.info;
    document.bare ??= before.document.bare; // where it can be rigged again from
    document.rig ??= before.document.rig;
    this.documents.set(document.id, document);
    this.edit({
      document, pose: same ? this.state.pose : NO_POSE, clip: index >= 0 || !clips.length ? index : this.clip < 0 ? -1 : 0, strokes: NO_STROKES, influences: 0, optimised: null,
      handles: document.info.vertexCount === this.info.vertexCount ? this.state.handles : null, cage: null,
      methods: this.state.methods.map((id) => (methods.includes(id) || !methods.length ? id : 'lbs')), show: methods.length ? this.state.show : 'none', morphs: null, ...more,
    }, gesture);
    return true;
  }

  // Time and pose ---------------------------------------------------------------------------------
  seek(seconds) {
    this.time = Math.min(Math.max(0, seconds), this.clipInfo?.duration ?? 0);
    this.panels.showTime();
    this.frames.changed();
  }
  /** A time of the clip, or of the part of it that is repeated. */
  loop(seconds, duration) {
    const [from, to] = this.range ?? [0, duration];
    return to > from ? from + ((((seconds - from) % (to - from)) + (to - from)) % (to - from)) : from;
  }
  /** The clip is repeated from here, or to here; what would be empty is the whole clip again. */
  setRange(end) {
    const { duration } = this.clipInfo ?? {}, range = duration ? [...(this.range ?? [0, duration])] : null;
    if (range) range[end] = this.time;
    this.range = range && range[1] - range[0] > 0.02 && range[1] - range[0] < duration - 0.001 ? range : null;
    this.panels.showTime();
  }
  setClip(clip) { this.time = 0; this.edit({ clip }); }
  setPlaying(playing) {
    this.playing = playing && this.canPlay;
    this.frames.begin();
    this.panels.showPlaying();
  }
  setTab(tab) {
    this.tab = tab;
    this.adding = false;
    if (!this.canPlay) this.setPlaying(false);
    if (tab === 'handles') this.beginHandles();
    this.frames.jumped = true;
    this.panels.show();
    this.frames.changed();
  }
  /** Local rotation of a joint in the frame that is shown (x y z w). */
  rotation(node) { return [...(this.frames.shown?.pose ?? this.info.description.nodes[node].rest).slice(...(this.frames.shown ? [10 * node + 3, 10 * node + 7] : [3, 7]))]; }
  /** Joints turned by hand lie over the clip: they stay as they were put while it plays. */
  setRotation(node, rotation, gesture) {
    const { pose } = this.frames.shown ?? {};
    if (!pose) return;
    const values = [...(this.state.pose[node] ?? pose.slice(10 * node, 10 * node + 10))];
    values.splice(3, 4, ...rotation);
    this.edit({ pose: Object.freeze({ ...this.state.pose, [node]: values }) }, gesture);
  }
  resetPose() { if (this.state.pose !== NO_POSE) this.edit({ pose: NO_POSE }); }
  dropJoint(node = this.joint) {
    if (!this.state.pose[node]) return;
    const { [node]: gone, ...pose } = this.state.pose;
    this.edit({ pose: Object.keys(pose).length ? Object.freeze(pose) : NO_POSE });
  }
  applyExample(k) { this.setPlaying(false); this.edit({ clip: -1, pose: Object.freeze(this.examplePose(k)) }); }
  examplePose(k) {
    const { poseSpace, nodes } = this.info.description, { joints, rotations, translations } = poseSpace, pose = {};
    joints.forEach((node, j) => {
      const at = k * joints.length + j;
      pose[node] = [...nodes[node].rest];
      pose[node].splice(3, 4, ...rotations.slice(4 * at, 4 * at + 4));
      if (translations) pose[node].splice(0, 3, ...translations.slice(3 * at, 3 * at + 3));
    });
    return pose;
  }
  clipName(wanted = 'pose') {
    const taken = new Set(this.info.description.clips.map((clip) => clip.name));
    for (let i = 1; ; i++) { const name = i > 1 ? `${wanted} ${i}` : wanted; if (!taken.has(name)) return name; }
  }
  /** The pose that is shown becomes a clip of the model. */
  async keyPose() {
    const before = this.state, { from, influences, strokes } = this.reduced, name = this.clipName(), asked = this.frames.pose();
    await this.panels.busy({ doing: 'Keying the pose', failed: 'The pose was not kept' }, async () => {
      const { blob } = await this.stage.call('save', { id: from.id, strokes, options: { clip: { name, poses: await asked } } }), document = await this.makeChild(from, blob, 'pose');
      const kept = this.replace(before, document, document.info.description.clips.findIndex((clip) => clip.name === name), { pose: NO_POSE, influences });
      if (kept) this.panels.announce(`The pose is the clip ${name}`);
    });
  }

  // Markers and handles ---------------------------------------------------------------------------
  pickMarker(marker) {
    if (this.cages.active) { this.cages.control = marker; this.panels.show(); this.frames.changed(); return; }
    if (this.tab === 'handles') { const { length } = this.handles; this.handle = marker < length ? marker : this.handles.flatMap(({ to }, i) => (to ? [i] : []))[marker - length]; }
    else this.joint = this.joints[marker];
    this.panels.show();
    this.frames.changed();
  }
  markerName(marker) {
    if (this.cages.active) return `corner ${marker + 1}`;
    if (this.tab === 'handles') return `handle ${marker + 1}`;
    return this.info.description.nodes[this.joints[marker]]?.name ?? `joint ${this.joints[marker]}`;
  }
  grip(what, grip) {
    if (this.inJoints) { if (what === 'move') this.panels.joints.pull(grip.position.toArray()); else if (what === 'end') this.panels.joints.drop(); return; }
    if (what === 'end') { this.history.seal(); this.held = null; this.panels.show(); return; }
    if (this.cages.active) { if (what === 'move') this.cages.move(this.cages.control, grip.position.toArray(), 'grip'); return; }
    if (this.tab === 'handles') {
      if (what === 'move' && this.viewport.gizmo.mode === 'rotate' && !this.viewport.dot) this.changeHandle(this.handle, { turn: turn.unit(grip.quaternion.toArray()) }, 'grip');
      else if (what === 'move') this.dragHandle(this.handle, grip.position.toArray(), 'grip');
      return;
    }
    const node = this.joint, { parent } = this.info.description.nodes[node], { world } = this.frames.shown;
    if (what === 'start') { this.setPlaying(false); this.held = { above: parent >= 0 ? turn.fromMatrix(world, 12 * parent) : turn.IDENTITY, start: grip.quaternion.toArray(), local: this.rotation(node) }; return; }
    if (!this.held) return;
    const change = turn.multiply(grip.quaternion.toArray(), turn.inverse(this.held.start));
    this.setRotation(node, turn.unit(turn.multiply(turn.multiply(turn.multiply(turn.inverse(this.held.above), change), this.held.above), this.held.local)), 'grip');
  }
  async beginHandles() {
    const { document } = this;
    if (!document?.info.vertexCount || this.startHandles) return;
    const points = await this.stage.call('spread', { id: document.id, count: START_HANDLES, others: [] }).catch(() => []);
    if (this.document !== document) return;
    this.startHandles = points.map((rest) => ({ rest, move: [0, 0, 0] }));
    this.panels.show();
    this.frames.changed();
  }
  /** Dots of handles, and after them the ends of bars. */
  handleMarkers(list) {
    const ends = list.flatMap(({ rest, to, move, turn: turned }, i) => (to ? [{ position: turn.apply(turned ?? turn.IDENTITY, to.map((x, c) => x - rest[c])).map((x, c) => x + rest[c] + move[c]), parent: i, fixed: true }] : []));
    return [...list.map((_, k) => ({ position: this.handlePosition(k), parent: -1 })), ...ends];
  }
  handlePosition(i) { return this.handles[i].rest.map((x, c) => x + this.handles[i].move[c]); }
  /** The pointer (or a slider) puts handle i to a point: it takes the shape along, or its weights. */
  dragHandle(i, point, gesture) {
    const { rest, move, to } = this.handles[i], by = point.map((x, c) => x - rest[c] - move[c]), moved = this.handleMode === 'move' ? { move: move.map((x, c) => x + by[c]) } : { rest: rest.map((x, c) => x + by[c]), ...(to ? { to: to.map((x, c) => x + by[c]) } : {}) };
    this.changeHandle(i, moved, gesture);
  }
  changeHandle(i, change, gesture = null) {
    this.edit({ handles: this.handles.map((each, k) => (k === i ? { ...each, ...change } : each)) }, gesture);
  }
  /** The selected handle becomes a bar that ends at a point, or a point again (null). */
  setBar(to) { this.adding = false; this.changeHandle(this.handle, { to }); }
  /** A bar for every bone of the skeleton. */
  handlesFromBones() {
    const { nodes } = this.info.description, places = turn.places(nodes), at = (node) => places[node];
    const bones = this.joints.flatMap((node) => { const { parent } = nodes[node]; return this.joints.includes(parent) ? [{ rest: at(parent), to: at(node), move: [0, 0, 0] }] : []; }).filter(({ rest, to }) => Math.hypot(...rest.map((x, c) => to[c] - x)) > 0.02 * this.info.diagonal);
    if (bones.length) { this.handle = 0; this.edit({ handles: bones }); }
  }
  setAdding(adding) { this.adding = adding; this.panels.show(); }
  addHandle(point) {
    this.adding = false;
    this.handle = this.handles.length;
    this.edit({ handles: [...this.handles, { rest: point, move: [0, 0, 0] }] });
  }
  /** Where it is farthest from all others: for those who have no pointer to click with. */
  async addFarthest() { this.addHandle((await this.stage.call('spread', { id: this.document.id, count: 1, others: this.handles.map((each) => each.rest) }))[0]); }
  removeHandle(i = this.handle) { if (this.handles.length > 1) this.edit({ handles: this.handles.filter((_, k) => k !== i) }); }
  resetHandles() { this.edit({ handles: this.handles.map(({ rest, to }) => ({ rest, to, move: [0, 0, 0] })) }); }
  handleArrays(list = this.handles) { return { ends: list.flatMap(({ rest, to }) => [...rest, ...(to ?? rest)]), moves: list.flatMap((each) => each.move), turns: list.flatMap((each) => each.turn ?? turn.IDENTITY), rigid: this.state.rigid }; }
  /** A document with the handles in the skeleton's place (its joints), or beside it (their shape as a morph target). */
  async bound(from, list, beside, strokes) {
    if (beside) return this.makeChild(from, (await this.stage.call('shape', { id: from.id, strokes, handles: this.handleArrays(list), name: 'handles' })).blob, 'handles');
    const handles = list.map(({ rest, to }, i) => ({ name: `handle ${i + 1}`, ...(to ? { kind: 'bar', from: rest, to } : { kind: 'point', position: rest }) }));
    return this.derive({ from, strokes }, 'handles', ['--handles', 'handles.json', '--influences', String(HANDLE_INFLUENCES), '--largest', ...(this.state.rigid ? ['--weighting', 'virtual'] : [])], [new File([JSON.stringify({ handles })], 'handles.json')]);
  }
  /** Moves of the handles as a pose over the joints that they became. */
  movedPose({ info }, list) {
    const { nodes } = info.description, root = nodes.findLastIndex((node) => node.name === 'handles'), pose = {};
    nodes.flatMap((node, i) => (node.parent === root ? [i] : [])).forEach((node, i) => {
      const { move, turn: turned } = list[i] ?? { move: [0, 0, 0] };
      if (move.some(Boolean) || turned) pose[node] = nodes[node].rest.map((x, c) => (c < 3 ? x + move[c] : turned && c < 7 ? turned[c - 3] : x));
    });
    return Object.keys(pose).length ? Object.freeze(pose) : NO_POSE;
  }
  async bindHandles(beside) {
    const before = this.state, { from, influences, strokes } = this.reduced, { handles: list } = this;
    await this.panels.busy({ doing: 'Binding the handles', failed: 'No weights for these handles' }, async () => {
      const document = await this.bound(from, list, beside, strokes);
      const kept = this.replace(before, document, beside ? null : -1, { handles: null, ...(beside ? { influences } : { pose: this.movedPose(document, list), ...(document.info.methods.includes('handles-rigid') ? { methods: ['handles-rigid', ...this.methods.slice(1)] } : {}) }) });
      if (kept) this.panels.selectTab(beside ? 'deform' : 'pose');
    });
  }
  /** Weights with fewer influences that deform as all did, in place of the largest ones. */
  async optimise() {
    const { influences, strokes } = this.state, from = this.document;
    await this.panels.busy({ doing: 'Optimising the weights', failed: 'The weights could not be reduced' }, async () => {
      const optimised = await this.derive({ from, strokes }, 'reduce', ['--influences', String(influences), '--effort', 'fast']);
      if (this.document !== from || this.state.influences !== influences || this.state.strokes !== strokes) { this.discard(optimised); return; }
      this.documents.set(optimised.id, optimised);
      this.edit({ optimised });
    });
    this.panels.show();
  }

  /** The weights that are shown, reduced, become the model's own. */
  async keepReduced() {
    const before = this.state, { from, influences, strokes } = this.reduced;
    await this.panels.busy({ doing: 'Keeping the reduced weights', failed: 'The reduced weights were not kept' }, async () => {
      const { blob } = await this.stage.call('save', { id: from.id, strokes, options: { influences } });
      this.replace(before, await this.makeChild(from, blob, 'reduce'));
    });
  }

  // Saving ----------------------------------------------------------------------------------------
  /** Whether a file is of the optimised weights: where the influences are those that they were made for. */
  savesOptimised(influences, handles) { return !!this.state.optimised && influences === this.state.influences && handles !== 'place'; }
  mostInfluences(handles) { return handles === 'place' ? Math.min(HANDLE_INFLUENCES, this.handles.length) : this.info.maxInfluences; }
  /** What a file leaves out stays unsaved. @param choice { name, influences, weights, pose (as a clip), handles: '' | 'place' | 'beside' } of the export sheet */
  async save({ name, influences, weights, pose, handles }) {
    const before = this.state, { document, optimised } = before, { handles: list } = this, place = handles === 'place', title = this.clipName();
    const from = this.savesOptimised(influences, handles) ? optimised : document, asked = pose && !place ? this.frames.pose() : null;
    const strokes = from === optimised ? NO_STROKES : before.strokes;
    const kept = { document: true, strokes: true, pose: before.pose === NO_POSE || !!asked, influences: !before.influences || influences === before.influences, optimised: !optimised || from === optimised, handles: !before.handles || !!handles, cage: !before.cage };
    await this.panels.busy({ doing: `Writing ${name}`, failed: `${name} was not written` }, async () => {
      let poses = await asked;
      const bound = handles ? await this.bound(from, list, !place, strokes) : null;
      try {
        if (place) { const moved = this.movedPose(bound, list); poses = moved === NO_POSE ? null : bound.info.description.nodes.flatMap(({ rest }, i) => moved[i] ?? rest); }
        const { blob } = await this.stage.call('save', { id: (bound ?? from).id, strokes: bound ? NO_STROKES : strokes, options: { influences: from === optimised && !bound ? 0 : influences, weights, clip: poses && { name: title, poses } } }); // optimised ones are few enough: made to sum to one again they would be others in their last bits
        download(blob, name);
      } finally {
        if (bound) this.discard(bound);
      }
      if (this.history.states.includes(before)) this.saved = Object.fromEntries(WORK.map((key) => [key, (kept[key] ? before : this.saved)[key]]));
      this.panels.recovery.changed();
      this.panels.announce(`${name} saved`);
      this.panels.show();
    });
  }
  async savePicture() { await this.idle(); download(await this.viewport.picture(), `${this.source.name}.png`); }

  // For tests -------------------------------------------------------------------------------------
  /** Nothing is in flight, and what is shown is drawn. */
  async idle() {
    const waits = () => this.panels.working || this.jobs.busy || this.stage.busy || this.frames.busy;
    do { await new Promise(requestAnimationFrame); } while (waits() && !(this.playing && !this.panels.working));
  }
  engineMemory() { return this.stage.call('memory'); }
  benchmark(id, frames) { return this.stage.call('benchmark', { id: this.document.id, choice: this.methodList.find((each) => each.id === id), frames }); }
}

async function main() {
  const module = compileEngine('engine.wasm');
  module.catch(() => {});
  if (!document.createElement('canvas').getContext('webgl2')) throw new Error('this browser gives no WebGL 2, which the stage is drawn with');
  const studio = new Studio(module);
  window.studio = studio;
  await studio.start();
  const wanted = new URLSearchParams(location.hash.slice(1)).get('open');
  if (wanted && !wanted.includes('/')) {
    const response = await fetch(`open/${encodeURIComponent(wanted)}`);
    if (response.ok) await studio.openFiles([new File([await response.blob()], wanted)]);
    else studio.panels.fail(`${wanted} cannot be opened`, `the server says ${response.status}`);
  } else {
    await studio.openBuiltIn('biped');
  }
  await studio.panels.recovery.offer();
  await studio.idle();
  studio.readyAfter = performance.now(); // since the page was opened
  document.documentElement.dataset.ready = '';
  if (!/^\/[0-9a-f]{32}\//.test(location.pathname)) navigator.serviceWorker?.register('service.js').catch(() => {}); // offline is a gift, not a need
}

main().catch((error) => {
  $('notice').hidden = false;
  $('notice-title').textContent = 'The studio cannot start';
  $('notice-text').textContent = `${error.message}. It needs WebGL 2 and WebAssembly with SIMD: a browser of 2023 or later.`;
  document.documentElement.dataset.ready = 'failed';
});
