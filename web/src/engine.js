// The C library and its command in the page: gives engine.wasm (web/wasm) JavaScript's shapes. For workers and node; the page's own
// thread does not compute.
//
//   module = await WebAssembly.compile(bytes)
//   runCommand(module, ['reduce', 'in.glb', '-o', 'out.glb'], files, progress) -> { status, stdout, stderr, files }
//       the whole command in a fresh instance; files: entries [path, Uint8Array]; a trap is status 1 and a line of stderr
//   engine = await Engine.create(module, { progress })   progress(stage, fraction) => false stops the work
//   engine.files          what the engine reads and writes: get, set, delete, clear, keys (wasi.js)
//   engine.open(path, { up, units })   -> model, with its companions in engine.files; up: y x z auto, units: m cm mm in auto
//   engine.notes          what reading it put right or guessed: lines
//   engine.save(model, path, { influences, weights, clip: { name, poses } })   into engine.files; what was not changed comes out as it
//                         was read. weights: float u16 u8. poses: of one key, 10 floats a node
//   engine.withPose, addShape, limit   -> another model; engine.destroy(model)
//   engine.materialsGlb(model)   -> GLB bytes with materials, textures and images alone, or null
//   engine.openHandles(model, voxels, rigid), setHandles(session, ends), closeHandles(session)
//   new Character(engine, model)   everything a frame needs; its `description` is a plain object (web/wasm/describe.c)
//
// Models are addresses in the engine's memory; whoever makes one destroys it. Views of that memory go stale when it grows, so they
// are made anew for every use. What the library refuses throws an EngineError with its line; anything else that is thrown is a trap,
// after which the instance is not to be used again.
import { Exit, Files, wasi } from './wasi.js';

const UP = ['y', 'x', 'z', 'auto'], UNITS = ['m', 'cm', 'mm', 'in', 'auto'], WEIGHTS = ['float', 'u16', 'u8'];

const POSE_SPACE = 1, VIRTUAL = 2, CAGE = 4, PARTS = 8; // CUTIS_NEEDS_...
export const RIGID_HANDLES = 7, PATCHES_METHOD = 9; // CUTIS_METHOD_...
const CAGE_METHOD = 8;
const sentence = (text) => text[0].toUpperCase() + text.slice(1);

/** The library's list of methods (CUTIS_METHODS) as choices of the page: { id, name, method, needs, about }. */
function readMethods(text) {
  return text.split('\n').filter(Boolean).flatMap((line) => {
    const [method, id, needs, title, help] = line.split('\t');
    const choice = { id, name: sentence(title), method: Number(method), needs: Number(needs), about: sentence(help) + '.' };
    return id !== 'sbs' ? [choice] : [choice, { ...choice, id: 'sbs-weighted', name: 'Spherical, weighted', weighted: true, about: 'A rotation centre per vertex: no creases where sets of bones meet.' }];
  });
}

export class EngineError extends Error {}

/** An instance of the engine over some files: its exports, its memory and how to read texts from it. */
class Instance {
  async start(module, files, progress, print) {
    const studio = { progress: (stage, fraction) => (progress(this.text(stage), fraction) === false ? 0 : 1) };
    const { exports } = await WebAssembly.instantiate(module, { studio, wasi_snapshot_preview1: wasi(files, () => this.memory, print) });
    this.call = exports;
    this.memory = exports.memory;
    exports._initialize();
    return this;
  }
  text(address) {
    const bytes = new Uint8Array(this.memory.buffer);
    return new TextDecoder().decode(bytes.slice(address, bytes.indexOf(0, address)));
  }
  allocate(bytes) {
    const address = this.call.studio_allocate(bytes);
    if (!address) throw new EngineError('out of memory');
    return address;
  }
  free(address) { if (address) this.call.studio_free(address); }
  /** Calls `use` with the address of a copy, which is gone afterwards. */
  with(data, use) {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data + '\0') : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const address = this.allocate(bytes.length);
    try {
      new Uint8Array(this.memory.buffer, address, bytes.length).set(bytes);
      return use(address);
    } finally {
      this.free(address);
    }
  }
}

/** The command, as on a terminal. @param args its words, without "cutis" */
export async function runCommand(module, args, files = [], progress = () => true) {
  const disk = new Files(files), said = { 1: '', 2: '' }, decoders = { 1: new TextDecoder(), 2: new TextDecoder() };
  let status;
  try {
    const instance = await new Instance().start(module, disk, progress, (stream, bytes) => { said[stream] += decoders[stream].decode(bytes, { stream: true }); });
    const words = ['cutis', ...args].map((word) => new TextEncoder().encode(word + '\0'));
    const list = instance.allocate(4 * words.length + 4), addresses = new Uint32Array(words.length + 1);
    words.forEach((word, i) => {
      addresses[i] = instance.allocate(word.length);
      new Uint8Array(instance.memory.buffer, addresses[i], word.length).set(word);
    });
    new Uint32Array(instance.memory.buffer, list, addresses.length).set(addresses);
    status = instance.call.__main_argc_argv(words.length, list);
  } catch (error) {
    status = error instanceof Exit ? error.status : 1;
    if (!(error instanceof Exit)) said[2] += `cutis: ${args[0]}: the engine stopped: ${error.message}\n`;
  }
  return { status, stdout: said[1], stderr: said[2], files: new Map(disk) };
}

const JSON_CHUNK = 0x4e4f534a, BINARY_CHUNK = 0x004e4942;
/** The picture of a data URI, which is gone then; null: there is none, or the page's loader will say what is wrong with it. */
function takeData(image) {
  const [head, type] = /^data:([^;,]*);base64,/.exec(image.uri ?? '') ?? [];
  try {
    const bytes = head ? Uint8Array.from(atob(image.uri.slice(head.length)), (c) => c.charCodeAt(0)) : null;
    if (bytes) { image.mimeType = type; delete image.uri; }
    return bytes;
  } catch { return null; }
}
/** A GLB's materials with their textures and images, and nothing else; null: it has none. */
export function materialsOf(glb) {
  const view = new DataView(glb.buffer, glb.byteOffset, glb.byteLength), length = view.getUint32(12, true);
  const { asset, materials, textures, images, samplers, bufferViews, extensionsUsed } = JSON.parse(new TextDecoder().decode(glb.subarray(20, 20 + length)));
  if (!materials?.length) return null;
  const kept = [], views = [];
  let size = 0;
  for (const image of images ?? []) {
    const { byteOffset = 0, byteLength } = bufferViews?.[image.bufferView] ?? {}, start = 28 + length + byteOffset;
    const bytes = byteLength ? glb.subarray(start, start + byteLength) : takeData(image);
    if (!bytes) continue;
    image.bufferView = views.length;
    views.push({ buffer: 0, byteOffset: size, byteLength: bytes.length });
    kept.push(bytes);
    size += (bytes.length + 3) & ~3;
  }
  const json = { asset, materials, textures, images, samplers, ...(views.length ? { bufferViews: views, buffers: [{ byteLength: size }] } : {}) }, said = JSON.stringify(json);
  const used = (extensionsUsed ?? []).filter((name) => said.includes(`"${name}"`));
  const text = new TextEncoder().encode(JSON.stringify({ ...json, ...(used.length ? { extensionsUsed: used } : {}) })), padded = (text.length + 3) & ~3;
  const out = new Uint8Array(20 + padded + (size ? 8 + size : 0)), head = new DataView(out.buffer);
  [0x46546c67, 2, out.length, padded, JSON_CHUNK].forEach((word, i) => head.setUint32(4 * i, word, true));
  out.fill(32, 20, 20 + padded).set(text, 20);
  if (size) [size, BINARY_CHUNK].forEach((word, i) => head.setUint32(20 + padded + 4 * i, word, true));
  kept.forEach((bytes, i) => out.set(bytes, 28 + padded + views[i].byteOffset));
  return out;
}

export class Engine extends Instance {
  /** @param module a WebAssembly.Module or its bytes; @param progress (stage, fraction) => whether to go on */
  static async create(module, { progress = () => true } = {}) {
    const engine = new Engine();
    engine.files = new Files();
    await engine.start(module instanceof WebAssembly.Module ? module : await WebAssembly.compile(module), engine.files, progress, () => {});
    if (!engine.call.studio_start()) throw new EngineError('the engine does not start: ' + engine.error());
    engine.methods = readMethods(engine.text(engine.call.studio_methods()));
    engine.version = engine.text(engine.call.cutis_version());
    engine.notes = [];
    return engine;
  }

  floats(address, count) { return new Float32Array(this.memory.buffer, address, count); }
  floats64(address, count) { return new Float64Array(this.memory.buffer, address, count); }
  /** Whether a described model has what a method needs. */
  offers({ needs }, { poseSpace, hasParts, virtualCount }) { return (needs & ~((poseSpace ? POSE_SPACE : 0) | (virtualCount ? VIRTUAL : 0) | (hasParts ? PARTS : 0))) === 0; }
  error() { return this.text(this.call.studio_error()); }
  made(address) {
    if (!address) throw new EngineError(this.error() || 'out of memory');
    return address;
  }

  // Models ------------------------------------------------------------------------------------------
  open(path, { up = 'y', units = 'm' } = {}) {
    const model = this.with(path, (name) => this.made(this.call.studio_open(name, UP.indexOf(up), UNITS.indexOf(units))));
    this.notes = this.text(this.call.studio_notes()).split('\n').filter(Boolean);
    return model;
  }
  destroy(model) { if (model) this.call.cutis_model_destroy(model); }
  save(model, path, { influences = 0, weights = 'float', clip = null } = {}) {
    const made = [];
    const next = (each) => { made.push(each); return each; };
    try {
      if (influences) model = next(this.limit(model, influences));
      if (clip) model = next(this.withPose(model, clip));
      if (!this.with(path, (name) => this.call.studio_save(model, name, WEIGHTS.indexOf(weights)))) throw new EngineError(this.error());
    } finally {
      for (const each of made) this.destroy(each);
    }
  }
  /** The model with a clip more, or in place of one of that name: of one pose, 10 floats a node. */
  withPose(model, { name, poses }) {
    if (poses.length !== 10 * this.describe(model).nodes.length) throw new EngineError('the pose is of another skeleton');
    return this.with(name, (title) => this.with(Float32Array.from(poses), (pose) => this.made(this.call.studio_with_pose(model, title, pose))));
  }
  /** The model with a morph target, fully on, that gives it the shape at an address (an output frame) while it rests. */
  addShape(model, name, positions) { return this.with(name, (title) => this.made(this.call.studio_with_shape(model, title, positions))); }
  describe(model) {
    const memory = this.made(this.call.studio_describe(model));
    try { return JSON.parse(this.text(memory)); } finally { this.free(memory); }
  }
  materialsGlb(model) {
    const path = '.materials.glb';
    this.save(model, path);
    const glb = materialsOf(this.files.get(path));
    this.files.delete(path);
    return glb;
  }
  limit(model, influences) { return this.made(this.call.studio_limit(model, influences)); }

  // Handles -----------------------------------------------------------------------------------------
  /** A session for handles on a model, which must outlive it. @param rigid with virtual handles too */
  openHandles(model, voxels, rigid) { return this.made(this.call.studio_handles_open(model, voxels, rigid ? 1 : 0)); }
  closeHandles(session) { if (session) this.call.cutis_handle_session_destroy(session); }
  /** The model with weights for handles: from and to of each (x y z x y z ...), the same place for a point. */
  setHandles(session, ends) {
    const memory = this.allocate(16 + ends.length * 4);
    try {
      this.floats(memory + 16, ends.length).set(ends);
      const model = this.made(this.call.studio_handles_set(session, memory + 16, ends.length / 6, memory));
      const [domain] = new Float64Array(this.memory.buffer, memory, 1);
      return { model, domain };
    } finally {
      this.free(memory);
    }
  }
}

/** A model with its pose and buffers: everything a frame needs, allocated once. */
export class Character {
  /** @param like a character of a model that differs in its weights alone: what it has is used, and must outlive this one */
  constructor(engine, model, like = null) {
    Object.assign(this, like ?? {}, { engine, model, owns: !like, bindings: new Map() });
    if (like) return;
    const { call } = engine;
    this.description = engine.describe(model);
    this.nodeCount = this.description.nodes.length;
    for (const name of ['vertexCount', 'targetCount', 'triangleCount', 'maxInfluences', 'instances']) this[name] = this.description[name];
    this.pose_ = engine.allocate(40 * this.nodeCount);
    this.morphs_ = engine.allocate(4 * this.targetCount + 4);
    this.world_ = engine.allocate(48 * this.nodeCount);
    this.indices_ = engine.allocate(12 * this.triangleCount);
    this.rest_ = engine.allocate(12 * this.vertexCount);
    call.cutis_model_triangles(model, this.indices_);
    this.samplers = this.description.clips.map(() => 0);
    this.reset();
    this.deform({ method: 0 }, this.rest_, 0);
  }
  destroy() {
    const { call } = this.engine;
    for (const binding of this.bindings.values()) call.cutis_binding_destroy(binding);
    if (this.owns) {
      for (const sampler of this.samplers) call.cutis_sampler_destroy(sampler);
      for (const name of ['pose_', 'morphs_', 'world_', 'indices_', 'rest_', 'weld_']) this.engine.free(this[name]);
    }
    this.engine.destroy(this.model);
  }
  get pose() { return this.engine.floats(this.pose_, 10 * this.nodeCount); }
  get morphs() { return this.engine.floats(this.morphs_, this.targetCount); }
  get rest() { return this.engine.floats(this.rest_, 3 * this.vertexCount); }
  get indices() { return new Uint32Array(this.engine.memory.buffer, this.indices_, 3 * this.triangleCount); }
  /** World matrices of the pose, 12 floats a node, row-major. */
  get world() {
    this.engine.call.cutis_pose_world(this.model, this.pose_, this.world_);
    return this.engine.floats(this.world_, 12 * this.nodeCount);
  }
  reset() { this.engine.call.cutis_pose_rest(this.model, this.pose_, this.morphs_); }
  sample(clip, seconds) {
    if (!this.samplers[clip]) this.samplers[clip] = this.engine.made(this.engine.call.studio_sampler_create(this.model, clip));
    this.engine.call.cutis_sampler_sample(this.samplers[clip], seconds, this.pose_, this.morphs_);
  }
  /** Joints as a hand put them, over what the clip does; helpers that read one of them follow it. @param layer [[node, ten numbers]] */
  hold(layer) {
    const { pose } = this;
    for (const [node, values] of layer) pose.set(values, 10 * node);
    if (this.description.driverCount) this.engine.with(Uint32Array.from([0, ...layer.map(([node]) => node)]), (held) => this.engine.call.studio_drive(this.model, this.pose_, held + 4, layer.length));
  }
  /** The binding of a choice, made once. A choice: { method, weighted, influences, exact }. */
  binding({ method, weighted = false, influences = 0, exact = false }) {
    const key = `${method} ${weighted} ${influences} ${exact}`;
    if (!this.bindings.has(key)) {
      if (this.bindings.size >= 24) { // the slider walks through many
        const [oldest, address] = this.bindings.entries().next().value;
        this.engine.call.cutis_binding_destroy(address);
        this.bindings.delete(oldest);
      }
      const start = performance.now();
      this.bindings.set(key, this.engine.made(this.engine.call.studio_bind(this.model, method, weighted ? 1 : 0, influences, exact ? 1 : 0)));
      this.bindTime = performance.now() - start;
    }
    return this.bindings.get(key);
  }
  /** Deform the pose of a character with the same nodes into addresses. @returns milliseconds */
  deform(choice, positions, normals, posed = this) {
    const binding = this.binding(choice), start = performance.now();
    if (choice.method === PATCHES_METHOD) return this.patched(binding, positions, normals, posed) - start;
    if (!this.engine.call.studio_deform(binding, posed.pose_, this.targetCount ? posed.morphs_ : 0, positions, normals))
      throw new EngineError(this.engine.error());
    return performance.now() - start;
  }
  /** Patches, on the model's own triangles. @returns when it was done */
  patched(binding, positions, normals, posed) {
    const { call } = this.engine;
    if (!this.weld_) { this.weld_ = this.engine.allocate(4 * this.vertexCount); call.studio_weld(this.model, this.rest_, this.weld_); }
    if (!call.studio_deform_patches(binding, this.model, this.indices_, this.weld_, posed.pose_, positions, normals)) throw new EngineError(this.engine.error());
    return performance.now();
  }
  /** Patches with the triangles that they make: { positions, indices, labels, parts }, a label a triangle: its part, or parts + joint. */
  ownPatches(choice, posed = this) {
    const { call, memory } = this.engine, binding = this.binding(choice), counts = this.engine.allocate(16), read = (address, length) => new Uint32Array(memory.buffer, address, length);
    call.studio_patches_room(binding, counts);
    const [parts, , vertices, triangles] = read(counts, 4), list = [12 * vertices, 12 * triangles, 4 * triangles].map((bytes) => this.engine.allocate(bytes)), [positions, indices, labels] = list;
    try {
      if (!call.studio_patches_own(binding, posed.pose_, positions, indices, labels, counts)) throw new EngineError(this.engine.error());
      const [n, t] = read(counts, 2);
      return { parts, positions: this.engine.floats(positions, 3 * n).slice(), indices: read(indices, 3 * t).slice(), labels: read(labels, t).slice() };
    } finally {
      for (const address of [...list, counts]) this.engine.free(address);
    }
  }
  /** Moved by the cage. @param controls their places, x y z each */
  caged(controls, positions, normals) {
    const binding = this.binding({ method: CAGE_METHOD }), start = performance.now();
    if (!this.engine.with(Float32Array.from(controls), (address) => this.engine.call.studio_deform_controls(binding, address, positions, normals))) throw new EngineError(this.engine.error());
    return performance.now() - start;
  }
  /** The part of each vertex; -1: none. */
  parts() { return this.values(1, (out) => this.engine.call.studio_parts(this.model, out)); }
  /** Position rms and max (% of the diagonal), normal rms and max (radians) between two addresses of positions. */
  compare(positions, reference) {
    const out = this.engine.allocate(32);
    const done = this.engine.call.studio_compare(this.model, this.indices_, this.rest_, positions, reference, out);
    const [positionRms, positionMax, normalRms, normalMax] = new Float64Array(this.engine.memory.buffer, out, 4);
    this.engine.free(out);
    if (!done) throw new EngineError(this.engine.error());
    return { positionRms, positionMax, normalRms, normalMax };
  }
  /** Values per vertex of an output, filled in by the engine. */
  values(width, fill) {
    const address = this.engine.allocate(4 * width * this.vertexCount);
    fill(address);
    const out = this.engine.floats(address, width * this.vertexCount).slice();
    this.engine.free(address);
    return out;
  }
  weightsOf(node) { return this.values(1, (out) => this.engine.call.studio_weights(this.model, node, out, 0)); }
  influenceCounts() { return this.values(1, (out) => this.engine.call.studio_weights(this.model, 0, 0, out)); }
  /** For drawing: { texcoords (2 a vertex) or null, colors (4 a vertex, linear) or null }. */
  look() {
    const { call } = this.engine, has = call.studio_look(this.model, 0, 0);
    return {
      texcoords: has & 1 ? this.values(2, (out) => call.studio_look(this.model, out, 0)) : null,
      colors: has & 2 ? this.values(4, (out) => call.studio_look(this.model, 0, out)) : null,
    };
  }
  volume(positions) { return this.engine.call.studio_volume(this.model, this.indices_, positions); }
}
