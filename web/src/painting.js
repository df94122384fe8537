// Weights of a model while they are painted, in the engine (include/cutis/brush.h). For the stage worker.
//
// A stroke crosses to the page and back as plain arrays: { vertices, first, joints, weights }. Invariant: the model's own weights and
// the strokes of `list`, put one after the other, are what the painting holds, but for dabs of the stroke that is `live`.
import { EngineError } from './engine.js';

export const KINDS = ['add', 'subtract', 'smooth', 'sharpen', 'toward'];
const STROKE_BYTES = 20, POINT_BYTES = 40;

export class Painting {
  constructor(character) {
    this.engine = character.engine;
    this.character = character;
    this.address = this.engine.made(this.engine.call.studio_painting_create(character.model, character.rest_));
    this.at_ = this.engine.allocate(POINT_BYTES);
    this.numbers_ = this.engine.allocate(13 * 8);
    this.locked_ = this.engine.allocate(character.nodeCount);
    this.list = [];
    this.live = null;
  }
  destroy() {
    this.engine.call.cutis_painting_destroy(this.address);
    for (const name of ['at_', 'numbers_', 'locked_']) this.engine.free(this[name]);
  }
  /** The strokes as a state has them. @param find id -> arrays @returns whether anything changed */
  put(ids, find) {
    const same = this.live === null && ids.length === this.list.length && ids.every((id, i) => id === this.list[i]);
    if (same) return false;
    const more = this.live === null && this.list.every((id, i) => id === ids[i]);
    if (!more) this.engine.call.cutis_painting_reset(this.address);
    for (const id of ids.slice(more ? this.list.length : 0)) this.putOne(find(id));
    this.list = [...ids];
    this.live = null;
    return true;
  }
  putOne({ vertices, first, joints, weights }) {
    const { engine } = this;
    const done = engine.with(vertices, (a) => engine.with(first, (b) => engine.with(joints, (c) => engine.with(weights, (d) => engine.call.studio_put(this.address, vertices.length, a, b, c, d)))));
    if (!done) throw new EngineError(engine.error());
  }
  /** Where a ray meets a frame: { point, normal, distance }, or null. */
  pick(ray, positions) {
    const { call, memory } = this.engine;
    new Float64Array(memory.buffer, this.numbers_, 6).set(ray);
    if (!call.studio_pick(this.character.model, this.character.indices_, positions, this.numbers_, this.at_, this.numbers_ + 48)) return null;
    const [x, y, z, nx, ny, nz, distance] = new Float64Array(memory.buffer, this.numbers_ + 48, 7), length = Math.hypot(nx, ny, nz) || 1;
    return { point: [x, y, z], normal: [nx / length, ny / length, nz / length], distance };
  }
  /** The node with the most weight where the last pick was; -1: none. */
  strongest() {
    const { engine, character } = this, { buffer } = engine.memory, [triangle] = new Uint32Array(buffer, this.at_, 1), corners = [...new Float64Array(buffer, this.at_ + 8, 3)];
    const vertex = character.indices[3 * triangle + corners.indexOf(Math.max(...corners))], { skin } = character.instances.findLast((each) => each.vertexFirst <= vertex), out = engine.allocate(64 * 12);
    const count = engine.call.cutis_painting_influences(this.address, vertex, out + 512, out), weights = [...engine.floats64(out, count)], joint = new Uint32Array(engine.memory.buffer, out + 512, 64)[weights.indexOf(Math.max(...weights))];
    engine.free(out);
    return count ? character.description.skins[skin].joints[joint] : -1;
  }
  /** A dab where the last pick was. @param brush { kind, joint, radius, even, mirror, influences, locked: [node] } @param toward another painting */
  dab({ kind, joint, radius, even, mirror, influences, locked }, strength, toward) {
    const { engine } = this, locks = new Uint8Array(engine.memory.buffer, this.locked_, this.character.nodeCount).fill(0);
    for (const node of locked) locks[node] = 1;
    const done = engine.call.studio_dab(this.address, this.at_, KINDS.indexOf(kind), joint, radius, strength, (even ? 1 : 0) | (mirror ? 2 : 0), influences, this.locked_, toward?.address ?? 0);
    if (!done) throw new EngineError(engine.error());
  }
  /** Vertices whose weights changed since it was last asked, ascending. */
  changed() {
    const list = this.engine.call.cutis_painting_changed(this.address, this.numbers_), [count] = new Uint32Array(this.engine.memory.buffer, this.numbers_, 1);
    return new Uint32Array(this.engine.memory.buffer, list, count).slice().sort();
  }
  /** What dabs since the last stroke made. */
  stroke() {
    const { engine } = this, out = engine.allocate(STROKE_BYTES);
    try {
      if (!engine.call.studio_stroke(this.address, out)) throw new EngineError(engine.error());
      const { buffer } = engine.memory, [count, vertices, first, joints, weights] = new Uint32Array(buffer, out, 5), begins = new Uint32Array(buffer, first, count + 1).slice(), total = begins[count];
      return { vertices: new Uint32Array(buffer, vertices, count).slice(), first: begins, joints: new Uint32Array(buffer, joints, total).slice(), weights: new Float64Array(buffer, weights, total).slice() };
    } finally {
      engine.free(out);
    }
  }
  weightsOf(node) { return this.character.values(1, (out) => this.engine.call.cutis_painting_weights(this.address, node, out)); }
  opposite(node) { return this.engine.call.cutis_painting_opposite(this.address, node); }
  finish() { return this.engine.made(this.engine.call.studio_painting_finish(this.address)); }
}

/** Runs of numbers that lie near each other, [start, end) pairs: what is uploaded at once. @param list ascending */
export function runs(list, gap = 64) {
  const out = [];
  for (const v of list) {
    if (out.length && v - out.at(-1)[1] < gap) out.at(-1)[1] = v + 1;
    else out.push([v, v + 1]);
  }
  return out;
}
