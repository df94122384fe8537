// What differs between two glTF files, by their meaning: node gltf_compare.mjs A B, or differences(a, b). Written from the
// specification, shares no code with Cutis. Where a file keeps its data (buffers, views, accessors, component types, padding)
// is nobody's concern; every number, name, reference and unknown property is.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const COMPONENTS = { 5120: [1, 'getInt8', 127], 5121: [1, 'getUint8', 255], 5122: [2, 'getInt16', 32767], 5123: [2, 'getUint16', 65535], 5125: [4, 'getUint32', 0], 5126: [4, 'getFloat32', 0] };
const WIDTHS = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT2: 4, MAT3: 9, MAT4: 16 };
const sha = (bytes) => createHash('sha256').update(bytes).digest('hex').slice(0, 16);

/** A GLB, or a .gltf with what lies beside it: { json, buffers }. */
export function parse(bytes, folder = '.') {
  const data = Buffer.from(bytes), binary = data.subarray(0, 4).toString('latin1') === 'glTF';
  const length = binary ? data.readUInt32LE(12) : data.length, json = JSON.parse(binary ? data.subarray(20, 20 + length) : data);
  const chunk = binary && data.length > 28 + length ? data.subarray(28 + length, 28 + length + data.readUInt32LE(20 + length)) : null;
  const load = (uri) => (uri.startsWith('data:') ? Buffer.from(uri.slice(uri.indexOf(',') + 1), 'base64') : existsSync(join(folder, decodeURIComponent(uri))) ? readFileSync(join(folder, decodeURIComponent(uri))) : null);
  return { json, load, buffers: (json.buffers ?? []).map((buffer) => (buffer.uri === undefined ? chunk : load(buffer.uri))) };
}

/** The numbers of an accessor, as the specification decodes them. */
export function numbers({ json, buffers }, index) {
  const accessor = json.accessors[index], width = WIDTHS[accessor.type], out = new Float64Array(width * accessor.count);
  const read = (viewIndex, offset, componentType, count, wide, stride = 0) => {
    const view = json.bufferViews[viewIndex], [size, get, greatest] = COMPONENTS[componentType], bytes = buffers[view.buffer];
    const data = new DataView(bytes.buffer, bytes.byteOffset + (view.byteOffset ?? 0), view.byteLength), step = stride || size * wide, values = new Float64Array(count * wide);
    for (let i = 0; i < count; i++) for (let c = 0; c < wide; c++) {
      const value = data[get](offset + i * step + c * size, true);
      values[i * wide + c] = accessor.normalized && componentType === accessor.componentType && greatest ? Math.max(value / greatest, -1) : value;
    }
    return values;
  };
  if (accessor.bufferView !== undefined) out.set(read(accessor.bufferView, accessor.byteOffset ?? 0, accessor.componentType, accessor.count, width, json.bufferViews[accessor.bufferView].byteStride));
  if (accessor.sparse) {
    const { count, indices, values } = accessor.sparse, at = read(indices.bufferView, indices.byteOffset ?? 0, indices.componentType, count, 1), put = read(values.bufferView, values.byteOffset ?? 0, accessor.componentType, count, width);
    at.forEach((place, i) => out.set(put.subarray(i * width, (i + 1) * width), place * width));
  }
  return out;
}

/** All influences of a vertex, whichever set they stand in: a text per vertex. */
function influences(file, attributes) {
  const lists = [];
  for (let set = 0; attributes[`JOINTS_${set}`] !== undefined; set++) {
    const joints = numbers(file, attributes[`JOINTS_${set}`]), weights = numbers(file, attributes[`WEIGHTS_${set}`]);
    for (let i = 0; i < joints.length; i++) if (weights[i]) (lists[i >> 2] ??= []).push(`${joints[i]}:${weights[i]}`);
  }
  return lists.map((list) => list.sort().join(' '));
}

const text = (values) => `${values.length} numbers, ${sha(Buffer.from(values.buffer, values.byteOffset, values.byteLength))}`;

/** A file as one tree in which every reference into its data is replaced by what stands there. */
export function meaning(file) {
  const { json, buffers } = file, tree = structuredClone(json);
  const data = (holder, key) => { if (holder[key] !== undefined) holder[key] = text(numbers(file, holder[key])); };
  for (const mesh of tree.meshes ?? []) for (const primitive of mesh.primitives) {
    const { attributes } = primitive;
    if (attributes.JOINTS_0 !== undefined) {
      const lists = influences(file, attributes);
      for (const name of Object.keys(attributes)) if (/^(JOINTS|WEIGHTS)_/.test(name)) delete attributes[name];
      attributes.influences = `${Math.max(...lists.map((list) => (list ? list.split(' ').length : 0)))} at most, ${sha(lists.join('\n'))}`;
    }
    for (const name of Object.keys(attributes)) if (name !== 'influences') data(attributes, name);
    for (const target of primitive.targets ?? []) for (const name of Object.keys(target)) data(target, name);
    data(primitive, 'indices');
  }
  for (const { extensions } of tree.meshes ?? []) for (const list of [extensions?.CUTIS_parts?.labels, extensions?.CUTIS_parts?.weld]) list?.forEach((each, i) => { if (each !== null) data(list, i); });
  for (const skin of tree.skins ?? []) data(skin, 'inverseBindMatrices');
  for (const animation of tree.animations ?? []) {
    for (const channel of animation.channels) channel.sampler = Object.fromEntries(Object.entries(animation.samplers[channel.sampler]).map(([key, value]) => [key, key === 'input' || key === 'output' ? text(numbers(file, value)) : value]));
    for (const channel of animation.channels) channel.sampler.interpolation ??= 'LINEAR';
    animation.channels.sort((a, b) => a.target.node - b.target.node || a.target.path.localeCompare(b.target.path));
    delete animation.samplers;
  }
  for (const image of tree.images ?? []) {
    const view = image.bufferView === undefined ? null : json.bufferViews[image.bufferView];
    const bytes = view ? buffers[view.buffer].subarray(view.byteOffset ?? 0, (view.byteOffset ?? 0) + view.byteLength) : file.load(image.uri);
    image.content = bytes ? `${bytes.length} bytes, ${sha(bytes)}` : image.uri;
    delete image.bufferView;
    delete image.uri;
    delete image.mimeType;
  }
  for (const name of ['buffers', 'bufferViews', 'accessors']) delete tree[name];
  delete tree.asset.generator;
  for (const name of ['extensionsUsed', 'extensionsRequired']) tree[name]?.sort();
  return tree;
}

function walk(a, b, path, found) {
  if (Object.is(a, b)) return;
  if (a && b && typeof a === 'object' && typeof b === 'object' && Array.isArray(a) === Array.isArray(b)) {
    for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) walk(a[key], b[key], `${path}/${key}`, found);
    return;
  }
  const short = (x) => (x === undefined ? 'nothing' : JSON.stringify(x).slice(0, 80));
  found.push(`${path}: ${short(a)} -> ${short(b)}`);
}

/** Every difference of meaning: "/materials/0/alphaMode: "BLEND" -> nothing". `but`: a pattern of those that were meant. */
export function differences(before, after, { but = null, folder = '.' } = {}) {
  const found = [];
  walk(meaning(parse(before, folder)), meaning(parse(after, folder)), '', found);
  return found.filter((line) => !but?.test(line));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [a, b] = process.argv.slice(2);
  console.log(differences(readFileSync(a), readFileSync(b), { folder: dirname(a) }).join('\n') || 'the same');
}
