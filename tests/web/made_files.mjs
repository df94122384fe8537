// Files the tests make: one with everything that a save used to drop, large ones, one that needs KTX2, a mesh without normals.
import { deflateSync, crc32 as nodeCrc } from 'node:zlib';
import { parse } from './gltf_compare.mjs';

const utf8 = (text) => new TextEncoder().encode(text), pad = (size) => Math.ceil(size / 4) * 4;

export function glb(json, body = new Uint8Array(0)) {
  const text = utf8(JSON.stringify(json)), first = pad(text.length), out = Buffer.alloc(20 + first + (body.length ? 8 + pad(body.length) : 0));
  out.fill(0x20, 20, 20 + first);
  [0x46546c67, 2, out.length, first, 0x4e4f534a].forEach((word, i) => out.writeUInt32LE(word, 4 * i));
  out.set(text, 20);
  if (body.length) {
    out.writeUInt32LE(pad(body.length), 20 + first);
    out.writeUInt32LE(0x004e4942, 24 + first);
    out.set(body, 28 + first);
  }
  return out;
}

function crc32(bytes) {
  if (nodeCrc) return nodeCrc(bytes);
  let crc = ~0;
  for (const byte of bytes) { crc ^= byte; for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0); }
  return ~crc >>> 0;
}

/** A PNG of one colour. */
export function png(side, red, green, blue) {
  const chunk = (type, data) => {
    const out = Buffer.alloc(12 + data.length);
    out.writeUInt32BE(data.length, 0);
    out.write(type, 4, 'latin1');
    out.set(data, 8);
    out.writeUInt32BE(crc32(out.subarray(4, 8 + data.length)), 8 + data.length);
    return out;
  };
  const header = Buffer.alloc(13), row = Buffer.concat([Buffer.from([0]), Buffer.alloc(3 * side, Buffer.from([red, green, blue]))]);
  header.writeUInt32BE(side, 0);
  header.writeUInt32BE(side, 4);
  header.set([8, 2, 0, 0, 0], 8);
  return Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), chunk('IHDR', header), chunk('IDAT', deflateSync(Buffer.concat(Array(side).fill(row)))), chunk('IEND', Buffer.alloc(0))]);
}

/** A GLB with more bytes at its end. `add(bytes)` gives the index of a new view. */
function extended(bytes, change) {
  const { json, buffers } = parse(bytes), parts = [Buffer.from(buffers[0])];
  let size = parts[0].length;
  const add = (data) => {
    const gap = pad(size) - size;
    parts.push(Buffer.alloc(gap), Buffer.from(data));
    json.bufferViews.push({ buffer: 0, byteOffset: size + gap, byteLength: data.length });
    size += gap + data.length;
    return json.bufferViews.length - 1;
  };
  change(json, add);
  json.buffers[0].byteLength = size;
  return glb(json, Buffer.concat(parts));
}

/** Everything a page might forget: alpha, maps, samplers, cameras, extras, copyright, extensions known and unknown. */
export function rich(bytes) {
  return extended(bytes, (json, add) => {
    const [{ primitives: [primitive] }] = json.meshes, { count } = json.accessors[primitive.attributes.POSITION];
    const texcoords = Float32Array.from({ length: 2 * count }, (_, i) => ((i * 7) % 101) / 100);
    json.accessors.push({ bufferView: add(Buffer.from(texcoords.buffer)), componentType: 5126, count, type: 'VEC2' });
    for (const name of ['TEXCOORD_0', '_CUSTOM']) primitive.attributes[name] = json.accessors.length - 1;
    json.images = [[200, 120, 90], [128, 128, 255], [40, 40, 40], [255, 255, 255]].map((colour, i) => ({ name: `picture ${i}`, mimeType: 'image/png', bufferView: add(png(4, ...colour)) }));
    json.samplers = [{ name: 'nearest', magFilter: 9728, minFilter: 9984, wrapS: 33071, wrapT: 33648 }];
    json.textures = json.images.map((_, source) => ({ source, sampler: 0, name: `texture ${source}` }));
    json.materials = [{
      name: 'skin', alphaMode: 'MASK', alphaCutoff: 0.25, doubleSided: true, emissiveFactor: [0.1, 0.2, 0.3], extras: { shader: 'ours' },
      pbrMetallicRoughness: { baseColorTexture: { index: 0, extensions: { KHR_texture_transform: { scale: [2, 2] } } }, baseColorFactor: [1, 0.9, 0.8, 1], roughnessFactor: 0.7, metallicFactor: 0.1 },
      normalTexture: { index: 1, scale: 0.5 }, emissiveTexture: { index: 2 }, occlusionTexture: { index: 3, strength: 0.8 },
      extensions: { KHR_materials_clearcoat: { clearcoatFactor: 0.4 }, ACME_paint: { layers: [1, 2, 3] } },
    }];
    for (const mesh of json.meshes) for (const each of mesh.primitives) each.material = 0;
    json.cameras = [{ name: 'close', type: 'perspective', perspective: { yfov: 0.7, znear: 0.1, zfar: 50 } }];
    json.nodes.push({ name: 'camera', camera: 0, translation: [0, 1, 4], extras: { lens: 50 } });
    json.scenes[json.scene ?? 0].nodes.push(json.nodes.length - 1);
    json.scenes[json.scene ?? 0].extras = { mood: 'calm' };
    json.asset = { ...json.asset, copyright: 'Somebody 2026', extras: { project: 'seven' } };
    json.extensions = { ...json.extensions, ACME_scene: { wind: 3 } };
    json.extensionsUsed = [...(json.extensionsUsed ?? []), 'KHR_texture_transform', 'KHR_materials_clearcoat', 'ACME_paint', 'ACME_scene'];
    json.extras = { note: 'keep me' };
  });
}

/** The same, its picture packed as KTX2 and required so: a page without that decoder must say it. */
export function withKtx2(bytes) {
  return extended(rich(bytes), (json, add) => {
    const ktx = Buffer.concat([Buffer.from([0xab, 0x4b, 0x54, 0x58, 0x20, 0x32, 0x30, 0xbb, 0x0d, 0x0a, 0x1a, 0x0a]), Buffer.alloc(96)]);
    json.images.push({ mimeType: 'image/ktx2', bufferView: add(ktx) });
    json.textures[0] = { extensions: { KHR_texture_basisu: { source: json.images.length - 1 } } };
    json.extensionsUsed.push('KHR_texture_basisu');
    json.extensionsRequired = ['KHR_texture_basisu'];
  });
}

function bounds(points) {
  const min = [Infinity, Infinity, Infinity], max = min.map((x) => -x);
  points.forEach((x, i) => { min[i % 3] = Math.min(min[i % 3], x); max[i % 3] = Math.max(max[i % 3], x); });
  return { min, max };
}

/** A sheet of side x side points on two joints, with a clip: 50 MB where side is 860. */
export function sheetGlb(side) {
  const count = side * side, positions = new Float32Array(3 * count), normals = new Float32Array(3 * count), texcoords = new Float32Array(2 * count), joints = new Uint8Array(4 * count), weights = new Float32Array(4 * count);
  for (let i = 0; i < count; i++) {
    const u = (i % side) / (side - 1), v = Math.floor(i / side) / (side - 1);
    positions.set([u, 0.05 * Math.sin(20 * u) * Math.cos(15 * v), v], 3 * i);
    normals[3 * i + 1] = 1;
    texcoords.set([u, v], 2 * i);
    joints[4 * i + 1] = 1;
    weights.set([1 - u, u], 4 * i);
  }
  const indices = new Uint32Array(6 * (side - 1) ** 2);
  for (let y = 0, k = 0; y + 1 < side; y++) for (let x = 0; x + 1 < side; x++, k += 6) { const a = y * side + x; indices.set([a, a + side, a + 1, a + 1, a + side, a + side + 1], k); }
  const keys = Float32Array.from([0, 1]), turns = Float32Array.from([0, 0, 0, 1, 0, 0, Math.SQRT1_2, Math.SQRT1_2]);
  const parts = [positions, normals, texcoords, joints, weights, indices, keys, turns], bufferViews = [];
  let size = 0;
  for (const part of parts) { bufferViews.push({ buffer: 0, byteOffset: size, byteLength: part.byteLength }); size += pad(part.byteLength); }
  const body = Buffer.alloc(size);
  parts.forEach((part, i) => body.set(Buffer.from(part.buffer), bufferViews[i].byteOffset));
  const accessor = (bufferView, componentType, length, type, more = {}) => ({ bufferView, componentType, count: length, type, ...more });
  return glb({
    asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0, 1] }], nodes: [{ mesh: 0, skin: 0, name: 'sheet' }, { name: 'root', children: [2] }, { name: 'edge', translation: [0.5, 0, 0] }],
    skins: [{ joints: [1, 2] }], meshes: [{ primitives: [{ attributes: { POSITION: 0, NORMAL: 1, TEXCOORD_0: 2, JOINTS_0: 3, WEIGHTS_0: 4 }, indices: 5 }] }],
    animations: [{ name: 'fold', channels: [{ sampler: 0, target: { node: 2, path: 'rotation' } }], samplers: [{ input: 6, output: 7 }] }],
    buffers: [{ byteLength: size }], bufferViews,
    accessors: [accessor(0, 5126, count, 'VEC3', bounds(positions)), accessor(1, 5126, count, 'VEC3'), accessor(2, 5126, count, 'VEC2'), accessor(3, 5121, count, 'VEC4'), accessor(4, 5126, count, 'VEC4'), accessor(5, 5125, indices.length, 'SCALAR'), accessor(6, 5126, 2, 'SCALAR', { min: [0], max: [1] }), accessor(7, 5126, 2, 'VEC4')],
  }, body);
}

/** A sheet of side x side points as OBJ text; without normals every point is one vertex. */
export function sheetObj(side, { normals = false } = {}) {
  const lines = [];
  for (let y = 0; y < side; y++) for (let x = 0; x < side; x++) lines.push(`v ${(x / side).toFixed(6)} ${(0.05 * Math.sin(x / 9) * Math.cos(y / 7)).toFixed(6)} ${(y / side).toFixed(6)}`);
  if (normals) lines.push('vn 0 1 0');
  const corner = normals ? (i) => `${i}//1` : (i) => `${i}`;
  for (let y = 0; y + 1 < side; y++) for (let x = 0; x + 1 < side; x++) {
    const a = y * side + x + 1;
    lines.push(`f ${corner(a)} ${corner(a + side)} ${corner(a + side + 1)} ${corner(a + 1)}`);
  }
  return `${lines.join('\n')}\n`;
}
