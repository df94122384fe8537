// The C library in the page: loads engine.wasm and gives its flat interface (web/wasm/studio.c) JavaScript's shapes.
//
// Objects made here are addresses in the engine's memory; whoever makes one destroys it. Views of that memory go stale
// when it grows, so they are made anew for every use.
import { pack, unpack } from './pack.js';

export const BODIES = { biped: 0, quadruped: 1, arm: 2, cylinder: 3, crowd: 4 };
export const REDUCE = { poisson: 4, geometric: 1, smooth: 2, klargest: 3 };

const POSE_SPACE = 1; // CUTIS_NEEDS_POSE_SPACE
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

export class Engine {
  /** @param source a Response, a promise of one, or bytes; @param progress (stage, fraction) => whether to go on */
  static async create(source, progress = () => true) {
    const engine = new Engine();
    const refused = () => 8; // EBADF: there is no file, and errors are told otherwise
    const imports = {
      studio: { progress: (stage, fraction) => (progress(engine.text(stage), fraction) === false ? 0 : 1) },
      wasi_snapshot_preview1: {
        environ_get: () => 0,
        environ_sizes_get: (count, size) => { engine.words()[count >> 2] = 0; engine.words()[size >> 2] = 0; return 0; },
        clock_time_get: (id, precision, time) => {
          new DataView(engine.memory.buffer).setBigUint64(time, BigInt(Math.round(performance.now() * 1e6)), true);
          return 0;
        },
        fd_close: refused, fd_seek: refused, fd_write: refused,
        proc_exit: () => { throw new EngineError('the engine stopped'); },
      },
    };
    source = await source;
    const streamed = typeof Response !== 'undefined' && source instanceof Response;
    const { instance } = streamed ? await WebAssembly.instantiateStreaming(source, imports) : await WebAssembly.instantiate(source, imports);
    engine.call = instance.exports;
    engine.memory = instance.exports.memory;
    engine.call._initialize();
    if (!engine.call.studio_start()) throw new EngineError('the engine does not start: ' + engine.error());
    engine.methods = readMethods(engine.text(engine.call.studio_methods()));
    return engine;
  }

  words() { return new Uint32Array(this.memory.buffer); }
  floats(address, count) { return new Float32Array(this.memory.buffer, address, count); }
  /** Whether a described model has what a method needs. */
  offers({ needs }, { poseSpace }) { return (needs & ~(poseSpace ? POSE_SPACE : 0)) === 0; }
  error() { return this.text(this.call.studio_error()); }
  text(address) {
    const bytes = new Uint8Array(this.memory.buffer, address);
    let end = 0;
    while (bytes[end]) end++;
    return new TextDecoder().decode(bytes.slice(0, end));
  }
  allocate(bytes) {
    const address = this.call.studio_allocate(bytes);
    if (!address) throw new EngineError('out of memory');
    return address;
  }
  free(address) { if (address) this.call.studio_free(address); }
  made(address) {
    if (!address) throw new EngineError(this.error() || 'out of memory');
    return address;
  }

  // Models: what comes back is an address; `describe` gives the description.
  createModel(words) {
    const memory = this.allocate(words.byteLength);
    try {
      this.words().set(words, memory >> 2);
      return this.made(this.call.studio_model_create(memory, words.length));
    } finally {
      this.free(memory);
    }
  }
  create(description) { return this.createModel(pack(description)); }
  synth({ body, vertices = 0, size = 0, seed = 1, count = 0, examples = false }) {
    return this.made(this.call.studio_synth(BODIES[body], vertices, size, seed, count, examples ? 1 : 0));
  }
  packed(model) {
    const memory = this.made(this.call.studio_model_pack(model)), at = memory >> 2;
    const words = this.words().slice(at + 1, at + 1 + this.words()[at]);
    this.free(memory);
    return words;
  }
  /** What the gate had to repair: sentences, at most a few. */
  repairs(model) {
    const size = 600, memory = this.allocate(size);
    const count = this.call.studio_issues(model, memory, size), lines = this.text(memory).split('\n').filter(Boolean).slice(0, 3);
    this.free(memory);
    return count > lines.length ? [...lines, `and ${count - lines.length} more`] : lines;
  }
  describe(model) { return unpack(this.packed(model)); }
  destroyModel(model) { if (model) this.call.studio_model_destroy(model); }
  reduce(model, influences, method = 'poisson') { return this.made(this.call.studio_reduce(model, influences, REDUCE[method])); }
  limit(model, influences) { return this.made(this.call.studio_limit(model, influences)); }
  armPoseSpace(model) { return this.made(this.call.studio_arm_pose_space(model)); }
  /** A session for handles on a model, which must outlive it. */
  openHandles(model, voxels) { return this.made(this.call.studio_handles_open(model, voxels)); }
  closeHandles(session) { if (session) this.call.studio_handles_close(session); }
  /** The model with weights for points (x y z ...) as handles. */
  setHandles(session, points) {
    const memory = this.allocate(16 + points.length * 4);
    try {
      this.floats(memory + 16, points.length).set(points);
      const model = this.made(this.call.studio_handles_set(session, memory + 16, points.length / 3, memory));
      const [domain, error] = new Float64Array(this.memory.buffer, memory, 2);
      return { model, domain, error };
    } finally {
      this.free(memory);
    }
  }
}

/** A model with its pose and buffers: everything a frame needs, allocated once. */
export class Character {
  constructor(engine, model) {
    this.engine = engine;
    this.model = model;
    const { call } = engine;
    this.description = engine.describe(model);
    this.nodeCount = this.description.nodes.length;
    this.vertexCount = call.studio_vertex_count(model);
    this.targetCount = call.studio_target_count(model);
    this.triangleCount = call.studio_triangle_count(model);
    this.maxInfluences = call.studio_max_influences(model);
    this.pose_ = engine.allocate(40 * this.nodeCount);
    this.morphs_ = engine.allocate(4 * this.targetCount + 4);
    this.world_ = engine.allocate(48 * this.nodeCount);
    this.indices_ = engine.allocate(12 * this.triangleCount);
    this.rest_ = engine.allocate(12 * this.vertexCount);
    call.studio_triangles(model, this.indices_);
    this.samplers = this.description.clips.map(() => 0);
    this.bindings = new Map();
    this.reset();
    this.deform({ method: 0 }, this.rest_, 0);
  }
  destroy() {
    const { call } = this.engine;
    for (const binding of this.bindings.values()) call.studio_binding_destroy(binding);
    for (const sampler of this.samplers) call.studio_sampler_destroy(sampler);
    for (const name of ['pose_', 'morphs_', 'world_', 'indices_', 'rest_']) this.engine.free(this[name]);
    this.engine.destroyModel(this.model);
  }
  get pose() { return this.engine.floats(this.pose_, 10 * this.nodeCount); }
  get morphs() { return this.engine.floats(this.morphs_, this.targetCount); }
  get rest() { return this.engine.floats(this.rest_, 3 * this.vertexCount); }
  get indices() { return new Uint32Array(this.engine.memory.buffer, this.indices_, 3 * this.triangleCount); }
  /** World matrices of the pose, 12 floats a node, row-major. */
  get world() {
    this.engine.call.studio_pose_world(this.model, this.pose_, this.world_);
    return this.engine.floats(this.world_, 12 * this.nodeCount);
  }
  get instances() {
    const slot = this.engine.allocate(4);
    const count = this.engine.call.studio_instances(this.model, slot);
    const words = new Int32Array(this.engine.memory.buffer), at = words[slot >> 2] >> 2;
    this.engine.free(slot);
    return Array.from({ length: count }, (_, i) => {
      const [node, mesh, skin, vertexFirst, vertexCount, targetFirst, targetCount] = words.slice(at + 7 * i, at + 7 * i + 7);
      return { node, mesh, skin, vertexFirst, vertexCount, targetFirst, targetCount };
    });
  }
  reset() { this.engine.call.studio_pose_rest(this.model, this.pose_, this.morphs_); }
  sample(clip, seconds) {
    if (!this.samplers[clip]) this.samplers[clip] = this.engine.made(this.engine.call.studio_sampler_create(this.model, clip));
    this.engine.call.studio_sample(this.samplers[clip], seconds, this.pose_, this.morphs_);
  }
  /** The binding of a choice, made once. A choice: { method, weighted, influences, exact }. */
  binding({ method, weighted = false, influences = 0, exact = false }) {
    const key = `${method} ${weighted} ${influences} ${exact}`;
    if (!this.bindings.has(key)) {
      if (this.bindings.size >= 24) { // the slider walks through many
        const [oldest, address] = this.bindings.entries().next().value;
        this.engine.call.studio_binding_destroy(address);
        this.bindings.delete(oldest);
      }
      this.bindings.set(key, this.engine.made(this.engine.call.studio_bind(this.model, method, weighted ? 1 : 0, influences, exact ? 1 : 0)));
    }
    return this.bindings.get(key);
  }
  /** Deform the pose of a character with the same nodes into addresses. @returns milliseconds */
  deform(choice, positions, normals, posed = this) {
    const binding = this.binding(choice), start = performance.now();
    if (!this.engine.call.studio_deform(binding, posed.pose_, this.targetCount ? posed.morphs_ : 0, positions, normals))
      throw new EngineError(this.engine.error());
    return performance.now() - start;
  }
  /** Position rms and max (% of the diagonal), normal rms and max (radians) between two addresses of positions. */
  compare(positions, reference) {
    const out = this.engine.allocate(32);
    const done = this.engine.call.studio_compare(this.model, this.indices_, this.rest_, positions, reference, out);
    const [positionRms, positionMax, normalRms, normalMax] = new Float64Array(this.engine.memory.buffer, out, 4);
    this.engine.free(out);
    if (!done) throw new EngineError(this.engine.error());
    return { positionRms, positionMax, normalRms, normalMax };
  }
  /** Per vertex of an output: the weight of a node. */
  weightsOf(node) {
    const { meshes, skins } = this.description, out = new Float32Array(this.vertexCount);
    for (const instance of this.instances) {
      const joint = instance.skin >= 0 ? skins[instance.skin].joints.indexOf(node) : -1;
      if (joint < 0) continue;
      let vertex = instance.vertexFirst;
      for (const part of meshes[instance.mesh].primitives) {
        for (let v = 0; part.first && v < part.vertexCount; v++) {
          let sum = 0;
          for (let k = part.first[v]; k < part.first[v + 1]; k++) {
            sum += part.weights[k];
            if (part.joints[k] === joint) out[vertex + v] += part.weights[k];
          }
          if (sum > 0) out[vertex + v] /= sum;
        }
        vertex += part.vertexCount;
      }
    }
    return out;
  }
  /** Per vertex of an output: how many joints have weight on it. */
  influenceCounts() {
    const out = new Float32Array(this.vertexCount);
    for (const instance of this.instances) {
      let vertex = instance.vertexFirst;
      for (const part of this.description.meshes[instance.mesh].primitives) {
        for (let v = 0; part.first && v < part.vertexCount; v++)
          for (let k = part.first[v]; k < part.first[v + 1]; k++) if (part.weights[k] > 0) out[vertex + v]++;
        vertex += part.vertexCount;
      }
    }
    return out;
  }
  volume(positions) { return this.engine.call.studio_volume(this.model, this.indices_, positions); }
}
