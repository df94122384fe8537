// Files to descriptions. three.js's loaders read accessors, textures and materials; what they would do to a skin (drop
// influences beyond four, renormalise) is avoided by asking the parser for accessors alone.
//
// Nothing is ever fetched from another place: buffers and images are in the file or among the files dropped with it.
import { Mesh } from 'three';
import { GLTFLoader } from 'three/examples/jsm/loaders/GLTFLoader.js';
import { OBJLoader } from 'three/examples/jsm/loaders/OBJLoader.js';
import { MeshoptDecoder } from 'three/examples/jsm/libs/meshopt_decoder.module.js';
import { mergeVertices } from 'three/examples/jsm/utils/BufferGeometryUtils.js';
import { BadFile, WIDTH, checkGltf } from './gltf_check.js';

const PATHS = { translation: 0, rotation: 1, scale: 2, weights: 3 };
const INTERPOLATIONS = { LINEAR: 0, STEP: 1, CUBICSPLINE: 2 };
const KERNELS = { exponential: 0, gaussian: 1 };
const DISTANCES = { geodesic: 0, rotvec: 1, euler: 2 };
const WHITE_PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==';

const baseName = (path) => decodeURIComponent(path).split(/[\\/]/).pop().toLowerCase();

function base64Bytes(text, place) {
  let binary;
  try { binary = atob(text); } catch { throw new BadFile(`${place}: the data URI is not base64`); }
  return Uint8Array.from(binary, (c) => c.charCodeAt(0));
}

function splitGlb(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 20) throw new BadFile('the file ends inside its header');
  if (view.getUint32(4, true) !== 2) throw new BadFile(`GLB version ${view.getUint32(4, true)} is not read, only 2`);
  if (view.getUint32(8, true) > bytes.length) throw new BadFile(`the file has ${bytes.length} bytes, its header says ${view.getUint32(8, true)}`);
  let json = null, body = null;
  for (let at = 12; at + 8 <= bytes.length;) {
    const length = view.getUint32(at, true), type = view.getUint32(at + 4, true);
    if (at + 8 + length > bytes.length) throw new BadFile(`the chunk at byte ${at} runs past the end of the file`);
    if (type === 0x4e4f534a && !json) json = new TextDecoder().decode(bytes.subarray(at + 8, at + 8 + length));
    if (type === 0x004e4942 && !body) body = bytes.subarray(at + 8, at + 8 + length);
    at += 8 + length + (length % 4 ? 4 - (length % 4) : 0);
  }
  if (json === null) throw new BadFile('the GLB has no JSON chunk');
  return { json, body };
}

/** Everything a glTF refers to as bytes, or the reason why not. */
function resolveBytes(uri, others, place) {
  if (typeof uri !== 'string') throw new BadFile(`${place} has neither bytes nor a name`);
  if (uri.startsWith('data:')) {
    const comma = uri.indexOf(',');
    if (comma < 0 || !uri.slice(0, comma).endsWith(';base64')) throw new BadFile(`${place}: the data URI is not base64`);
    return base64Bytes(uri.slice(comma + 1), place);
  }
  return others.get(baseName(uri)) ?? null;
}

class Resources { // object URLs that are gone with the load
  urls = [];
  url(bytes, type = '') {
    this.urls.push(URL.createObjectURL(new Blob([bytes], { type })));
    return this.urls.at(-1);
  }
  release() { for (const url of this.urls) URL.revokeObjectURL(url); }
}

async function decodes(bytes, type) {
  try { (await createImageBitmap(new Blob([bytes], { type }))).close(); return true; } catch { return false; }
}

async function resolveImages(json, buffers, others, resources, notes) {
  for (const [i, image] of (json.images ?? []).entries()) {
    let bytes;
    if (image.bufferView !== undefined) {
      const view = json.bufferViews?.[image.bufferView];
      if (!view) throw new BadFile(`images/${i} refers to bufferView ${image.bufferView}, which is not there`);
      bytes = buffers[view.buffer].subarray(view.byteOffset ?? 0, (view.byteOffset ?? 0) + view.byteLength);
    } else {
      bytes = resolveBytes(image.uri, others, `images/${i}`);
    }
    if (!bytes || !(await decodes(bytes, image.mimeType))) {
      notes.push(`the picture ${image.uri && !image.uri.startsWith('data:') ? image.uri : image.name ?? i} is missing or unreadable and is left out`);
      bytes = base64Bytes(WHITE_PIXEL);
      image.mimeType = 'image/png';
    }
    image.bytes = bytes;
    image.uri = resources.url(bytes, image.mimeType);
    delete image.bufferView;
  }
}

/** An attribute of three.js as floats (or whole numbers), tightly packed, normalised integers undone. */
function values(attribute, Type = Float32Array) {
  const width = attribute.itemSize;
  if (attribute.array instanceof Type && !attribute.isInterleavedBufferAttribute && !attribute.normalized && attribute.array.length === attribute.count * width)
    return attribute.array.slice();
  const out = new Type(attribute.count * width);
  for (let i = 0, at = 0; i < attribute.count; i++) for (let c = 0; c < width; c++) out[at++] = attribute.getComponent(i, c);
  return out;
}

const rows = (m, at = 0) => [0, 1, 2].flatMap((r) => [0, 1, 2, 3].map((c) => m[at + 4 * c + r])); // column-major 4x4 to row-major 3x4

/** Old indices in an order with parents first, the scene depth-first, and what is outside it behind. */
function orderNodes(json, all) {
  const order = [], inside = new Set();
  const visit = (root, set) => {
    const stack = [root];
    while (stack.length) {
      const node = stack.pop();
      if (set.has(node)) continue;
      set.add(node);
      order.push(node);
      for (const child of [...(all.nodes[node].children ?? [])].reverse()) stack.push(child);
    }
  };
  const children = new Set(all.nodes.flatMap((node) => node.children ?? []));
  const roots = all.nodes.map((_, i) => i).filter((i) => !children.has(i));
  for (const root of all.scenes.length ? all.scenes[json.scene ?? 0].nodes ?? [] : roots) visit(root, inside);
  const count = order.length, seen = new Set(inside);
  for (const root of roots) visit(root, seen);
  return { order, insideCount: count };
}

class GltfBuilder {
  constructor(json, all, parser) {
    Object.assign(this, { json, all, parser });
  }
  accessor(index) { return this.parser.getDependency('accessor', index); }
  async floats(index, width, place) {
    const attribute = await this.accessor(index);
    if (attribute.itemSize !== width) throw new BadFile(`${place}: expected ${width} numbers each, the accessor has ${attribute.itemSize}`);
    return values(attribute);
  }

  async attribute(part, name, width, count, place) {
    const index = part.attributes[name];
    if (index === undefined) return null;
    const array = await this.floats(index, width, `${place}/${name}`);
    if (array.length !== width * count) throw new BadFile(`${place}/${name} has ${array.length / width} entries, POSITION ${count}`);
    return array;
  }
  async colors(part, count, place) {
    const index = part.attributes.COLOR_0;
    if (index === undefined) return null;
    const attribute = await this.accessor(index), width = attribute.itemSize, from = values(attribute);
    if (attribute.count !== count || width < 3 || width > 4) throw new BadFile(`${place}/COLOR_0 does not fit POSITION`);
    const out = new Float32Array(4 * count).fill(1);
    for (let v = 0; v < count; v++) for (let c = 0; c < width; c++) out[4 * v + c] = from[width * v + c];
    return out;
  }
  /** All sets of influences as one run per vertex; zero weights say nothing. */
  async influences(part, count, place) {
    const sets = [];
    for (let s = 0; part.attributes[`JOINTS_${s}`] !== undefined; s++) {
      const joints = await this.accessor(part.attributes[`JOINTS_${s}`]), weights = part.attributes[`WEIGHTS_${s}`];
      if (weights === undefined) throw new BadFile(`${place} has JOINTS_${s} without WEIGHTS_${s}`);
      const pair = { joints: values(joints, Uint32Array), weights: await this.floats(weights, 4, `${place}/WEIGHTS_${s}`) };
      if (joints.itemSize !== 4 || pair.joints.length !== 4 * count || pair.weights.length !== 4 * count) throw new BadFile(`${place}/JOINTS_${s} does not fit POSITION`);
      sets.push(pair);
    }
    if (!sets.length) return { first: null, joints: null, weights: null };
    const first = new Uint32Array(count + 1), joints = [], weights = [];
    for (let v = 0; v < count; v++) {
      for (const set of sets) {
        for (let k = 4 * v; k < 4 * v + 4; k++) {
          if (set.weights[k] === 0) continue;
          joints.push(set.joints[k]);
          weights.push(set.weights[k]);
        }
      }
      first[v + 1] = joints.length;
    }
    return { first, joints: Uint32Array.from(joints), weights: Float32Array.from(weights) };
  }
  async indices(part, count, place) {
    let indices = null;
    if (part.indices !== undefined) {
      const attribute = await this.accessor(part.indices);
      if (attribute.itemSize !== 1) throw new BadFile(`${place}/indices are not scalars`);
      indices = values(attribute, Uint32Array);
    } else {
      indices = Uint32Array.from({ length: count }, (_, i) => i);
    }
    const mode = part.mode ?? 4;
    if (mode === 4) return { topology: 0, indices: indices.slice(0, indices.length - (indices.length % 3)) };
    if (mode === 0) return { topology: 2, indices };
    if (mode === 1) return { topology: 1, indices: indices.slice(0, indices.length - (indices.length % 2)) };
    const out = [];
    if (mode === 2 || mode === 3) {
      for (let i = 0; i + 1 < indices.length; i++) out.push(indices[i], indices[i + 1]);
      if (mode === 2 && indices.length > 1) out.push(indices.at(-1), indices[0]);
      return { topology: 1, indices: Uint32Array.from(out) };
    }
    if (mode !== 5 && mode !== 6) throw new BadFile(`${place}/mode is ${mode}`);
    for (let i = 0; i + 2 < indices.length; i++) {
      if (mode === 6) out.push(indices[0], indices[i + 1], indices[i + 2]);
      else out.push(indices[i], indices[i + 1 + (i % 2)], indices[i + 2 - (i % 2)]);
    }
    return { topology: 0, indices: Uint32Array.from(out) };
  }

  async primitive(part, place) {
    if (part.attributes.POSITION === undefined) throw new BadFile(`${place} has no POSITION`);
    const positions = await this.floats(part.attributes.POSITION, 3, `${place}/POSITION`), count = positions.length / 3;
    const targets = [];
    for (const [t, target] of (part.targets ?? []).entries()) {
      const wrap = { attributes: target };
      targets.push({
        positions: await this.attribute(wrap, 'POSITION', 3, count, `${place}/targets/${t}`),
        normals: await this.attribute(wrap, 'NORMAL', 3, count, `${place}/targets/${t}`),
        tangents: await this.attribute(wrap, 'TANGENT', 3, count, `${place}/targets/${t}`),
      });
    }
    return {
      ...(await this.indices(part, count, place)),
      vertexCount: count,
      material: part.material ?? -1,
      positions,
      normals: await this.attribute(part, 'NORMAL', 3, count, place),
      tangents: await this.attribute(part, 'TANGENT', 4, count, place),
      texcoords: await this.attribute(part, 'TEXCOORD_0', 2, count, place),
      colors: await this.colors(part, count, place),
      ...(await this.influences(part, count, place)),
      parts: null,
      targets,
    };
  }
  async mesh(mesh, i) {
    const primitives = [], targetCount = mesh.primitives[0].targets?.length ?? 0;
    for (const [p, part] of mesh.primitives.entries()) primitives.push(await this.primitive(part, `meshes/${i}/primitives/${p}`));
    const names = mesh.extras?.targetNames;
    return {
      name: mesh.name ?? null, targetCount,
      targetNames: Array.isArray(names) && names.length === targetCount && targetCount ? names.map(String) : null,
      targetWeights: mesh.weights?.length === targetCount && targetCount ? Float32Array.from(mesh.weights) : null,
      partCount: 0, partNames: null, primitives,
    };
  }
  node(index, newIndex, parentOf, outside) {
    const node = this.all.nodes[index];
    const [t, r, s] = [node.translation ?? [0, 0, 0], node.rotation ?? [0, 0, 0, 1], node.scale ?? [1, 1, 1]];
    const parent = parentOf.get(index), mesh = node.mesh ?? -1;
    const targets = mesh >= 0 ? this.all.meshes[mesh].primitives[0].targets?.length ?? 0 : 0;
    return {
      name: node.name ?? null, parent: parent === undefined ? -1 : newIndex.get(parent),
      rest: Float32Array.from([...t, ...r, ...s]), matrix: node.matrix ? Float32Array.from(rows(node.matrix)) : null,
      mesh, skin: mesh >= 0 ? node.skin ?? -1 : -1,
      targetWeights: targets && node.weights?.length === targets ? Float32Array.from(node.weights) : null,
      outside,
    };
  }
  async skin(skin, i, newIndex) {
    let inverseBinds = null;
    if (skin.inverseBindMatrices !== undefined) {
      const all = await this.floats(skin.inverseBindMatrices, WIDTH.MAT4, `skins/${i}/inverseBindMatrices`);
      if (all.length < 16 * skin.joints.length) throw new BadFile(`skins/${i} has ${skin.joints.length} joints and ${all.length / 16} inverse bind matrices`);
      inverseBinds = Float32Array.from(skin.joints.flatMap((_, j) => rows(all, 16 * j)));
    }
    return { name: skin.name ?? null, joints: Uint32Array.from(skin.joints, (j) => newIndex.get(j)), inverseBinds, root: skin.skeleton !== undefined ? newIndex.get(skin.skeleton) ?? -1 : -1 };
  }
  async clip(clip, i, newIndex) {
    const channels = [];
    for (const [c, channel] of clip.channels.entries()) {
      if (channel.target?.node === undefined || !(channel.target.path in PATHS)) continue;
      const sampler = clip.samplers[channel.sampler], interpolation = INTERPOLATIONS[sampler.interpolation ?? 'LINEAR'];
      if (interpolation === undefined) throw new BadFile(`animations/${i}/channels/${c}: interpolation ${sampler.interpolation}`);
      const times = await this.floats(sampler.input, 1, `animations/${i}/channels/${c}/input`);
      channels.push({ node: newIndex.get(channel.target.node), path: PATHS[channel.target.path], interpolation, times, values: values(await this.accessor(sampler.output)) });
    }
    return { name: clip.name ?? null, duration: 0, channels };
  }
  poseSpace(newIndex) {
    const stored = this.json.extensions?.CUTIS_pose_space;
    if (!stored) return null;
    const joints = stored.joints, poses = stored.poses;
    if (!Array.isArray(joints) || !Array.isArray(poses)) throw new BadFile('CUTIS_pose_space has no joints or poses');
    for (const joint of joints) if (!newIndex.has(joint)) throw new BadFile(`CUTIS_pose_space names node ${joint}, which is not there`);
    const slides = Array.isArray(poses[0]?.translations);
    const flat = (name, width) => Float32Array.from(poses.flatMap((pose, k) => {
      if (pose?.[name]?.length !== width * joints.length) throw new BadFile(`CUTIS_pose_space/poses/${k}/${name} must be ${width * joints.length} numbers`);
      return pose[name];
    }));
    const fieldCount = poses[1]?.coefficients?.length ?? 0;
    const coefficients = fieldCount ? Float32Array.from(poses.slice(1).flatMap((pose, k) => {
      if (pose?.coefficients?.length !== fieldCount) throw new BadFile(`CUTIS_pose_space/poses/${k + 1}/coefficients must be ${fieldCount} numbers`);
      return pose.coefficients;
    })) : null;
    return {
      fieldCount, coefficients, after: stored.after === true, poseCount: poses.length, joints: Uint32Array.from(joints, (j) => newIndex.get(j)),
      rotations: flat('rotations', 4), translations: slides ? flat('translations', 3) : null,
      targets: Int32Array.from(this.all.meshes, (mesh) => mesh.extensions?.CUTIS_pose_space?.target ?? -1),
      kernel: KERNELS[stored.kernel ?? 'exponential'] ?? 0, distance: DISTANCES[stored.distance ?? 'geodesic'] ?? 0, sigma: stored.sigma ?? 0,
    };
  }
  async build() {
    const { order, insideCount } = orderNodes(this.json, this.all);
    const newIndex = new Map(order.map((old, i) => [old, i])), parentOf = new Map();
    this.all.nodes.forEach((node, i) => { for (const child of node.children ?? []) parentOf.set(child, i); });
    const meshes = [], skins = [], clips = [];
    for (const [i, mesh] of this.all.meshes.entries()) meshes.push(await this.mesh(mesh, i));
    for (const [i, skin] of this.all.skins.entries()) skins.push(await this.skin(skin, i, newIndex));
    for (const [i, clip] of this.all.animations.entries()) clips.push(await this.clip(clip, i, newIndex));
    const materials = this.all.materials.map((material) => {
      const pbr = material.pbrMetallicRoughness ?? {};
      return { name: material.name ?? null, baseColor: pbr.baseColorFactor ?? [1, 1, 1, 1], metallic: pbr.metallicFactor ?? 1, roughness: pbr.roughnessFactor ?? 1, doubleSided: !!material.doubleSided };
    });
    return { meshes, nodes: order.map((old, i) => this.node(old, newIndex, parentOf, i >= insideCount)), skins, clips: clips.filter((clip) => clip.channels.length), materials, poseSpace: this.poseSpace(newIndex) };
  }
}

/** The picture of a material's base colour: what GLB saving keeps of textures. */
function basePictures(json) {
  return (json.materials ?? []).map((material) => {
    const use = material.pbrMetallicRoughness?.baseColorTexture;
    const image = use && (use.texCoord ?? 0) === 0 ? json.images?.[json.textures?.[use.index]?.source] : null;
    return image?.bytes && ['image/png', 'image/jpeg'].includes(image.mimeType) ? { bytes: image.bytes, type: image.mimeType } : null;
  });
}

async function loadGltf(bytes, others) {
  const glb = bytes[0] === 0x67 && bytes[1] === 0x6c && bytes[2] === 0x54 && bytes[3] === 0x46;
  const { json: text, body } = glb ? splitGlb(bytes) : { json: new TextDecoder().decode(bytes), body: null };
  let json;
  try { json = JSON.parse(text); } catch (error) { throw new BadFile(`the JSON is broken: ${error.message}`); }
  const resources = new Resources(), notes = [];
  try {
    const buffers = (Array.isArray(json?.buffers) ? json.buffers : []).map((buffer, i) => {
      const data = buffer?.uri === undefined && i === 0 && body ? body : resolveBytes(buffer?.uri, others, `buffers/${i}`);
      if (!data) throw new BadFile(`the file needs ${buffer.uri}: drop both together, or use a GLB`);
      return data;
    });
    const all = checkGltf(json, buffers.map((buffer) => buffer.length));
    await resolveImages(json, buffers, others, resources, notes);
    buffers.forEach((buffer, i) => { json.buffers[i].uri = resources.url(buffer); json.buffers[i].byteLength = buffer.length; });
    let parser;
    const loader = new GLTFLoader();
    loader.setMeshoptDecoder(MeshoptDecoder);
    loader.register((made) => { parser = made; return { name: 'cutis' }; });
    await loader.parseAsync({ ...json, scenes: [], scene: undefined, animations: [], cameras: [] }, '');
    const description = await new GltfBuilder(json, all, parser).build();
    const materials = [];
    for (let i = 0; i < all.materials.length; i++) materials.push(await parser.getDependency('material', i));
    return { description, materials, pictures: basePictures(json), notes };
  } finally {
    resources.release();
  }
}

function loadObj(bytes) {
  const text = new TextDecoder().decode(bytes);
  if (!/^\s*v\s/m.test(text)) throw new BadFile('the file has no vertices: this is no OBJ');
  const group = new OBJLoader().parse(text), primitives = [];
  group.traverse((object) => {
    if (!(object instanceof Mesh)) return;
    const source = object.geometry;
    if (!source.attributes.position?.count) return;
    const geometry = mergeVertices(source, 0);
    primitives.push({
      topology: 0, vertexCount: geometry.attributes.position.count, material: -1,
      indices: Uint32Array.from(geometry.index.array), positions: values(geometry.attributes.position),
      normals: geometry.attributes.normal ? values(geometry.attributes.normal) : null, tangents: null,
      texcoords: geometry.attributes.uv ? values(geometry.attributes.uv) : null, colors: null,
      first: null, joints: null, weights: null, parts: null, targets: [],
    });
  });
  if (!primitives.length) throw new BadFile('the file has no faces');
  const node = { name: 'object', parent: -1, rest: Float32Array.of(0, 0, 0, 0, 0, 0, 1, 1, 1, 1), matrix: null, mesh: 0, skin: -1, targetWeights: null, outside: false };
  const mesh = { name: 'object', targetCount: 0, targetNames: null, targetWeights: null, partCount: 0, partNames: null, primitives };
  return { description: { meshes: [mesh], nodes: [node], skins: [], clips: [], materials: [], poseSpace: null }, materials: [], pictures: [], notes: [] };
}

/** One character from files dropped together. @param files [{ name, bytes }] @returns { name, description, materials, pictures, notes } */
export async function loadFiles(files) {
  const main = files.find((file) => /\.(glb|gltf|obj)$/i.test(file.name));
  if (!main) throw new BadFile(`${files[0]?.name ?? 'that'} is no glTF, GLB or OBJ file`);
  if (!main.bytes.length) throw new BadFile(`${main.name} is empty`);
  const others = new Map(files.filter((file) => file !== main).map((file) => [baseName(file.name), file.bytes]));
  const load = /\.obj$/i.test(main.name) ? loadObj : loadGltf;
  return { name: main.name.replace(/\.[^.]+$/, ''), ...(await load(main.bytes, others)) };
}
