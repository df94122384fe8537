// Models as one run of 32-bit words: the same format as web/wasm/pack.h, in the same order.
//
// A description is what a model is to the page: plain objects and typed arrays (null = not there).
// unpack() borrows its arrays from the words; pack() copies.

const MAGIC = 0x31505543;
const NONE = 0xffffffff;

class Writer {
  constructor() {
    this.words = new Uint32Array(1 << 16);
    this.floats = new Float32Array(this.words.buffer);
    this.count = 0;
  }
  room(count) {
    if (this.count + count > this.words.length) {
      const grown = new Uint32Array(2 * this.words.length + count);
      grown.set(this.words.subarray(0, this.count));
      this.words = grown;
      this.floats = new Float32Array(grown.buffer);
    }
    const at = this.count;
    this.count += count;
    return at;
  }
  put(value) { const at = this.room(1); this.words[at] = value; }
  float(value) { const at = this.room(1); this.floats[at] = value; }
  values(array) {
    const at = this.room(array.length);
    (array instanceof Uint32Array || array instanceof Int32Array ? this.words : this.floats).set(array, at);
  }
  integers(array) { const at = this.room(array.length); this.words.set(array, at); }
  array(array) { this.put(array ? array.length : 0); if (array) this.values(array); }
  text(text) {
    if (text == null) { this.put(NONE); return; }
    const bytes = new TextEncoder().encode(text.replaceAll('\0', ''));
    this.put(bytes.length);
    const at = this.room((bytes.length >> 2) + 1);
    this.words.fill(0, at, this.count);
    new Uint8Array(this.words.buffer, 4 * at, bytes.length).set(bytes);
  }
  names(names) { this.put(names ? names.length : 0); for (const name of names ?? []) this.text(name); }
  list(items, write) { this.put(items.length); for (const item of items) write(item); }
}

/** A description to words. */
export function pack(model) {
  const to = new Writer();
  to.put(MAGIC);
  to.list(model.meshes, (mesh) => {
    to.text(mesh.name);
    to.put(mesh.targetCount);
    to.names(mesh.targetNames);
    to.array(mesh.targetWeights);
    to.put(mesh.partCount);
    to.names(mesh.partNames);
    to.list(mesh.primitives, (part) => {
      to.put(part.topology);
      to.put(part.vertexCount);
      to.put(part.material);
      for (const name of ['indices', 'positions', 'normals', 'tangents', 'texcoords', 'colors', 'first', 'joints', 'weights', 'parts'])
        to.array(part[name]);
      to.list(part.targets, (target) => {
        to.array(target.positions);
        to.array(target.normals);
        to.array(target.tangents);
      });
    });
  });
  to.list(model.nodes, (node) => {
    to.text(node.name);
    to.put(node.parent);
    to.values(node.rest);
    to.array(node.matrix);
    to.put(node.mesh);
    to.put(node.skin);
    to.array(node.targetWeights);
    to.put(node.outside ? 1 : 0);
  });
  to.list(model.skins, (skin) => {
    to.text(skin.name);
    to.array(skin.joints);
    to.array(skin.inverseBinds);
    to.put(skin.root);
  });
  to.list(model.clips, (clip) => {
    to.text(clip.name);
    to.float(clip.duration ?? 0);
    to.list(clip.channels, (channel) => {
      to.put(channel.node);
      to.put(channel.path);
      to.put(channel.interpolation);
      to.array(channel.times);
      to.array(channel.values);
    });
  });
  to.list(model.materials, (material) => {
    to.text(material.name);
    to.values(Float32Array.from(material.baseColor));
    to.float(material.metallic);
    to.float(material.roughness);
    to.put(material.doubleSided ? 1 : 0);
  });
  const space = model.poseSpace;
  to.put(space ? 1 : 0);
  if (space) {
    to.put(space.poseCount);
    to.array(space.joints);
    to.array(space.rotations);
    to.array(space.translations);
    to.array(space.targets);
    to.put(space.fieldCount);
    to.array(space.coefficients);
    to.put(space.after ? 1 : 0);
    to.put(space.kernel);
    to.put(space.distance);
    to.float(space.sigma);
  }
  return to.words.slice(0, to.count);
}

class Reader {
  constructor(words) {
    this.words = words;
    this.floats = new Float32Array(words.buffer, words.byteOffset, words.length);
    this.signed = new Int32Array(words.buffer, words.byteOffset, words.length);
    this.at = 0;
  }
  get() { return this.words[this.at++]; }
  index() { return this.signed[this.at++]; }
  float() { return this.floats[this.at++]; }
  values(count) { const from = this.at; this.at += count; return this.floats.subarray(from, this.at); }
  array(view = this.floats) {
    const count = this.get(), from = this.at;
    this.at += count;
    return count ? view.subarray(from, this.at) : null;
  }
  integers() { return this.array(this.words); }
  text() {
    const length = this.get();
    if (length === NONE) return null;
    const bytes = new Uint8Array(this.words.buffer, this.words.byteOffset + 4 * this.at, length);
    this.at += (length >> 2) + 1;
    return new TextDecoder().decode(bytes);
  }
  names() { const names = this.list(() => this.text()); return names.length ? names : null; }
  list(read) { return Array.from({ length: this.get() }, read); }
}

/** Words to a description whose arrays lie in the words. */
export function unpack(words) {
  const from = new Reader(words);
  if (from.get() !== MAGIC) throw new Error('not a packed model');
  const meshes = from.list(() => ({
    name: from.text(),
    targetCount: from.get(),
    targetNames: from.names(),
    targetWeights: from.array(),
    partCount: from.get(),
    partNames: from.names(),
    primitives: from.list(() => ({
      topology: from.get(),
      vertexCount: from.get(),
      material: from.index(),
      indices: from.integers(),
      positions: from.array(),
      normals: from.array(),
      tangents: from.array(),
      texcoords: from.array(),
      colors: from.array(),
      first: from.integers(),
      joints: from.integers(),
      weights: from.array(),
      parts: from.integers(),
      targets: from.list(() => ({ positions: from.array(), normals: from.array(), tangents: from.array() })),
    })),
  }));
  const nodes = from.list(() => ({
    name: from.text(),
    parent: from.index(),
    rest: from.values(10),
    matrix: from.array(),
    mesh: from.index(),
    skin: from.index(),
    targetWeights: from.array(),
    outside: from.get() !== 0,
  }));
  const skins = from.list(() => ({
    name: from.text(), joints: from.integers(), inverseBinds: from.array(), root: from.index(),
  }));
  const clips = from.list(() => ({
    name: from.text(),
    duration: from.float(),
    channels: from.list(() => ({
      node: from.get(), path: from.get(), interpolation: from.get(), times: from.array(), values: from.array(),
    })),
  }));
  const materials = from.list(() => ({
    name: from.text(), baseColor: from.values(4), metallic: from.float(), roughness: from.float(), doubleSided: from.get() !== 0,
  }));
  const poseSpace = from.get() ? {
    poseCount: from.get(),
    joints: from.integers(),
    rotations: from.array(),
    translations: from.array(),
    targets: from.array(from.signed),
    fieldCount: from.get(),
    coefficients: from.array(),
    after: from.get() !== 0,
    kernel: from.get(),
    distance: from.get(),
    sigma: from.float(),
  } : null;
  if (from.at !== words.length) throw new Error('pack.js and pack_write.c do not agree'); // a field one of them does not have
  return { meshes, nodes, skins, clips, materials, poseSpace };
}
