// A description to a GLB: skins with any number of influences, morph targets, clips, pose space, base-colour pictures.

const TYPES = { 1: 'SCALAR', 2: 'VEC2', 3: 'VEC3', 4: 'VEC4', 16: 'MAT4' };
const COMPONENTS = new Map([[Uint8Array, 5121], [Uint16Array, 5123], [Uint32Array, 5125], [Float32Array, 5126]]);
const PATHS = ['translation', 'rotation', 'scale', 'weights'];
const INTERPOLATIONS = ['LINEAR', 'STEP', 'CUBICSPLINE'];
const ARRAY = 34962, ELEMENTS = 34963;

class GlbWriter {
  json = { asset: { version: '2.0', generator: 'Cutis studio' }, bufferViews: [], accessors: [] };
  chunks = [];
  size = 0;
  view(bytes, extra = {}) {
    this.json.bufferViews.push({ buffer: 0, byteOffset: this.size, byteLength: bytes.byteLength, ...extra });
    this.chunks.push(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const padding = (4 - (bytes.byteLength % 4)) % 4;
    if (padding) this.chunks.push(new Uint8Array(padding));
    this.size += bytes.byteLength + padding;
    return this.json.bufferViews.length - 1;
  }
  accessor(array, width, { target, bounds = false } = {}) {
    const accessor = { bufferView: this.view(array, target ? { target } : {}), componentType: COMPONENTS.get(array.constructor), count: array.length / width, type: TYPES[width] };
    if (bounds) {
      accessor.min = new Array(width).fill(Infinity);
      accessor.max = new Array(width).fill(-Infinity);
      array.forEach((value, i) => {
        accessor.min[i % width] = Math.min(accessor.min[i % width], value);
        accessor.max[i % width] = Math.max(accessor.max[i % width], value);
      });
    }
    this.json.accessors.push(accessor);
    return this.json.accessors.length - 1;
  }
  finish() {
    this.json.buffers = [{ byteLength: this.size }];
    if (!this.size) delete this.json.buffers;
    for (const [name, list] of Object.entries(this.json)) if (Array.isArray(list) && !list.length) delete this.json[name];
    let text = new TextEncoder().encode(JSON.stringify(this.json));
    const padded = new Uint8Array(Math.ceil(text.length / 4) * 4).fill(0x20);
    padded.set(text);
    text = padded;
    const total = 12 + 8 + text.length + (this.size ? 8 + this.size : 0), out = new Uint8Array(total), view = new DataView(out.buffer);
    view.setUint32(0, 0x46546c67, true);
    view.setUint32(4, 2, true);
    view.setUint32(8, total, true);
    view.setUint32(12, text.length, true);
    view.setUint32(16, 0x4e4f534a, true);
    out.set(text, 20);
    if (this.size) {
      view.setUint32(20 + text.length, this.size, true);
      view.setUint32(24 + text.length, 0x004e4942, true);
      let at = 28 + text.length;
      for (const chunk of this.chunks) { out.set(chunk, at); at += chunk.length; }
    }
    return out;
  }
}

/** Unit normals, or null where one has no length: glTF wants all of them unit or none. */
function unitNormals(normals) {
  if (!normals) return null;
  const out = new Float32Array(normals.length);
  for (let i = 0; i < normals.length; i += 3) {
    const length = Math.hypot(normals[i], normals[i + 1], normals[i + 2]);
    if (!(length > 1e-12)) return null;
    const scale = Math.abs(length - 1) < 1e-3 ? 1 : length; // as good as unit: keep the bits
    for (let c = 0; c < 3; c++) out[i + c] = normals[i + c] / scale;
  }
  return out;
}

/** Influences in sets of four, largest first, summing to one. */
function influenceSets(part, jointCount) {
  if (!part.first) return [];
  const n = part.vertexCount;
  let most = 1;
  for (let v = 0; v < n; v++) most = Math.max(most, part.first[v + 1] - part.first[v]);
  const Joints = jointCount <= 256 ? Uint8Array : Uint16Array;
  const sets = Array.from({ length: Math.ceil(most / 4) }, () => ({ joints: new Joints(4 * n), weights: new Float32Array(4 * n) }));
  for (let v = 0; v < n; v++) {
    const entries = [];
    for (let k = part.first[v]; k < part.first[v + 1]; k++) if (part.weights[k] > 0) entries.push([part.joints[k], part.weights[k]]);
    entries.sort((a, b) => b[1] - a[1] || a[0] - b[0]);
    let sum = entries.reduce((total, entry) => total + entry[1], 0);
    if (Math.abs(sum - 1) <= 1e-7 * entries.length) sum = 1; // as good as one: keep the bits
    if (!entries.length) sets[0].weights[4 * v] = 1;
    entries.forEach(([joint, weight], i) => {
      sets[i >> 2].joints[4 * v + (i & 3)] = joint;
      sets[i >> 2].weights[4 * v + (i & 3)] = weight / sum;
    });
  }
  return sets;
}

function writePrimitive(to, part, mesh, jointCount) {
  const vertex = { target: ARRAY }, attributes = { POSITION: to.accessor(part.positions, 3, { ...vertex, bounds: true }) };
  const normals = unitNormals(part.normals);
  if (normals) attributes.NORMAL = to.accessor(normals, 3, vertex);
  if (part.texcoords) attributes.TEXCOORD_0 = to.accessor(part.texcoords, 2, vertex);
  if (part.colors) attributes.COLOR_0 = to.accessor(part.colors.map((c) => Math.min(1, Math.max(0, c))), 4, vertex);
  influenceSets(part, jointCount).forEach((set, s) => {
    attributes[`JOINTS_${s}`] = to.accessor(set.joints, 4, vertex);
    attributes[`WEIGHTS_${s}`] = to.accessor(set.weights, 4, vertex);
  });
  const out = { attributes, indices: to.accessor(part.indices, 1, { target: ELEMENTS }), mode: [4, 1, 0][part.topology] };
  if (part.material >= 0) out.material = part.material;
  if (mesh.targetCount) {
    const empty = () => new Float32Array(3 * part.vertexCount);
    out.targets = Array.from({ length: mesh.targetCount }, (_, t) => {
      const target = { POSITION: to.accessor(part.targets[t]?.positions ?? empty(), 3, { ...vertex, bounds: true }) };
      if (normals && mesh.primitives.every((other) => other.targets[t]?.normals)) target.NORMAL = to.accessor(part.targets[t].normals, 3, vertex);
      return target;
    });
  }
  return out;
}

function writeMeshes(to, model) {
  const jointsOf = model.meshes.map((_, m) => Math.max(1, ...model.nodes.filter((node) => node.mesh === m && node.skin >= 0).map((node) => model.skins[node.skin].joints.length)));
  to.json.meshes = model.meshes.map((mesh, m) => {
    const out = { primitives: mesh.primitives.map((part) => writePrimitive(to, part, mesh, jointsOf[m])) };
    if (mesh.name) out.name = mesh.name;
    if (mesh.targetCount) out.weights = Array.from(mesh.targetWeights ?? new Float32Array(mesh.targetCount));
    if (mesh.targetNames) out.extras = { targetNames: mesh.targetNames };
    if (model.poseSpace && model.poseSpace.targets[m] >= 0) out.extensions = { CUTIS_pose_space: { target: model.poseSpace.targets[m] } };
    return out;
  });
}

function writeNodes(to, model) {
  to.json.nodes = model.nodes.map((node) => {
    const out = {}, r = node.rest, size = Math.hypot(r[3], r[4], r[5], r[6]) || 1;
    if (node.name) out.name = node.name;
    if (node.matrix) {
      const m = node.matrix;
      out.matrix = [m[0], m[4], m[8], 0, m[1], m[5], m[9], 0, m[2], m[6], m[10], 0, m[3], m[7], m[11], 1];
    } else {
      out.translation = Array.from(r.subarray(0, 3));
      out.rotation = Array.from(r.subarray(3, 7), (x) => x / size);
      out.scale = Array.from(r.subarray(7, 10));
    }
    if (node.mesh >= 0) out.mesh = node.mesh;
    if (node.skin >= 0) out.skin = node.skin;
    if (node.targetWeights) out.weights = Array.from(node.targetWeights);
    return out;
  });
  model.nodes.forEach((node, i) => { if (node.parent >= 0) (to.json.nodes[node.parent].children ??= []).push(i); });
  const roots = model.nodes.flatMap((node, i) => (node.parent < 0 && !node.outside ? [i] : []));
  to.json.scene = 0;
  to.json.scenes = [{ nodes: roots }];
}

function writeSkins(to, model) {
  to.json.skins = model.skins.map((skin) => {
    const out = { joints: Array.from(skin.joints) };
    if (skin.name) out.name = skin.name;
    if (skin.inverseBinds) {
      const all = new Float32Array(16 * skin.joints.length);
      for (let j = 0; j < skin.joints.length; j++) {
        for (let r = 0; r < 3; r++) for (let c = 0; c < 4; c++) all[16 * j + 4 * c + r] = skin.inverseBinds[12 * j + 4 * r + c];
        all[16 * j + 15] = 1;
      }
      out.inverseBindMatrices = to.accessor(all, 16);
    }
    return out;
  });
}

function writeClips(to, model) {
  to.json.animations = model.clips.filter((clip) => clip.channels.length).map((clip) => {
    const out = { samplers: [], channels: [] };
    if (clip.name) out.name = clip.name;
    clip.channels.forEach((channel) => {
      const width = channel.path === 3 ? 1 : channel.path === 1 ? 4 : 3;
      out.channels.push({ sampler: out.samplers.length, target: { node: channel.node, path: PATHS[channel.path] } });
      out.samplers.push({ input: to.accessor(channel.times, 1, { bounds: true }), output: to.accessor(channel.values, width), interpolation: INTERPOLATIONS[channel.interpolation] });
    });
    return out;
  });
}

function writeMaterials(to, model, pictures) {
  to.json.images = [];
  to.json.textures = [];
  to.json.materials = model.materials.map((material, i) => {
    const pbr = { baseColorFactor: Array.from(material.baseColor, (c) => Math.min(1, Math.max(0, c))), metallicFactor: material.metallic, roughnessFactor: material.roughness };
    const picture = pictures[i];
    if (picture) {
      to.json.images.push({ bufferView: to.view(picture.bytes.slice()), mimeType: picture.type });
      to.json.textures.push({ source: to.json.images.length - 1 });
      pbr.baseColorTexture = { index: to.json.textures.length - 1 };
    }
    const out = { pbrMetallicRoughness: pbr, doubleSided: material.doubleSided };
    if (material.name) out.name = material.name;
    return out;
  });
}

function writePoseSpace(to, space) {
  const rotations = (k) => Array.from(space.rotations.subarray(4 * space.joints.length * k, 4 * space.joints.length * (k + 1)));
  const translations = (k) => Array.from(space.translations.subarray(3 * space.joints.length * k, 3 * space.joints.length * (k + 1)));
  to.json.extensionsUsed = ['CUTIS_pose_space'];
  to.json.extensions = { CUTIS_pose_space: {
    kernel: ['exponential', 'gaussian'][space.kernel], distance: ['geodesic', 'rotvec', 'euler'][space.distance],
    joints: Array.from(space.joints),
    poses: Array.from({ length: space.poseCount }, (_, k) => ({ rotations: rotations(k), ...(space.translations ? { translations: translations(k) } : {}), ...(space.fieldCount && k ? { coefficients: Array.from(space.coefficients.subarray(space.fieldCount * (k - 1), space.fieldCount * k)) } : {}) })),
    ...(space.sigma ? { sigma: space.sigma } : {}),
    ...(space.after ? { after: true } : {}),
  } };
}

/** The bytes of a GLB. @param pictures per material { bytes, type } or null */
export function writeGlb(model, pictures = []) {
  const to = new GlbWriter();
  writeMeshes(to, model);
  writeNodes(to, model);
  writeSkins(to, model);
  writeClips(to, model);
  writeMaterials(to, model, pictures);
  if (model.poseSpace) writePoseSpace(to, model.poseSpace);
  return to.finish();
}
