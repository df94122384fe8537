// Twenty-two files that are broken, hostile or not what they say: [name, bytes or text, what the message must speak of].

const utf8 = (text) => new TextEncoder().encode(text);

function glb(json, body = new Uint8Array(0), { version = 2, total = null } = {}) {
  const text = utf8(typeof json === 'string' ? json : JSON.stringify(json)), padded = new Uint8Array(Math.ceil(text.length / 4) * 4).fill(0x20);
  padded.set(text);
  const size = 20 + padded.length + (body.length ? 8 + body.length : 0), out = new Uint8Array(size), view = new DataView(out.buffer);
  [0x46546c67, version, total ?? size, padded.length, 0x4e4f534a].forEach((word, i) => view.setUint32(4 * i, word, true));
  out.set(padded, 20);
  if (body.length) {
    view.setUint32(20 + padded.length, body.length, true);
    view.setUint32(24 + padded.length, 0x004e4942, true);
    out.set(body, 28 + padded.length);
  }
  return out;
}

/** A triangle with a skin, whose JSON `change` may spoil. */
function triangle(change = () => {}, floats = [0, 0, 0, 1, 0, 0, 0, 1, 0]) {
  const positions = Float32Array.from(floats), weights = Float32Array.from([1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0]), joints = new Uint8Array(12);
  const body = new Uint8Array(36 + 48 + 12);
  body.set(new Uint8Array(positions.buffer), 0);
  body.set(new Uint8Array(weights.buffer), 36);
  body.set(joints, 84);
  const json = {
    asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ mesh: 0, skin: 0, children: [1] }, { name: 'joint' }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0, WEIGHTS_0: 1, JOINTS_0: 2 } }] }], skins: [{ joints: [1] }],
    buffers: [{ byteLength: body.length }],
    bufferViews: [{ buffer: 0, byteOffset: 0, byteLength: 36 }, { buffer: 0, byteOffset: 36, byteLength: 48 }, { buffer: 0, byteOffset: 84, byteLength: 12 }],
    accessors: [{ bufferView: 0, componentType: 5126, count: 3, type: 'VEC3', min: [0, 0, 0], max: [1, 1, 0] }, { bufferView: 1, componentType: 5126, count: 3, type: 'VEC4' }, { bufferView: 2, componentType: 5121, count: 3, type: 'VEC4' }],
  };
  change(json, body);
  return glb(json, body);
}

export const GOOD = triangle();

/** Weights that do not sum to one: taken as shares, and said so. */
export const REPAIRABLE = triangle((json, body) => { new DataView(body.buffer).setFloat32(36, 0.5, true); });

export const BAD = [
  ['empty.glb', new Uint8Array(0), /empty/],
  ['picture.png', utf8('\x89PNG and so on'), /no file the studio reads/],
  ['header.glb', utf8('glTF\x02'), /header/],
  ['old.glb', glb({ asset: { version: '2.0' } }, undefined, { version: 1 }), /version 1/],
  ['short.glb', triangle().slice(0, 200), /ends inside a chunk/],
  ['json.glb', glb('{"asset": {"version": "2.0"},'), /JSON/],
  ['text.gltf', utf8('this is no JSON'), /JSON/],
  ['array.gltf', utf8('[1, 2, 3]'), /must be an object/],
  ['version.gltf', utf8('{"asset": {"version": "3.0"}}'), /3\.0/],
  ['outside.gltf', utf8('{"asset": {"version": "2.0"}, "buffers": [{"uri": "https://example.com/a.bin", "byteLength": 4}]}'), /https:\/\/example\.com\/a\.bin/],
  ['required.glb', triangle((json) => { json.extensionsRequired = ['VENDOR_secret']; }), /VENDOR_secret/],
  ['accessor.glb', triangle((json) => { json.accessors[0].count = 1000; }), /accessors\/0/],
  ['huge.glb', triangle((json) => { delete json.accessors[1].bufferView; json.accessors[1].count = 4e9; }), /4000000000/],
  ['view.glb', triangle((json) => { json.bufferViews[0].byteLength = 1e9; }), /bufferViews\/0/],
  ['cycle.glb', triangle((json) => { json.nodes[1].children = [0]; }), /ancestor/],
  ['index.glb', triangle((json) => { json.meshes[0].primitives[0].attributes.POSITION = 77; }), /77/],
  ['binds.glb', triangle((json) => { json.skins[0].inverseBindMatrices = 0; }), /inverseBindMatrices/],
  ['infinite.glb', triangle((json, body) => { new DataView(body.buffer).setFloat32(0, Infinity, true); }), /inf|finite|number/i],
  ['draco.glb', triangle((json) => {
    json.extensionsUsed = json.extensionsRequired = ['KHR_draco_mesh_compression'];
    json.accessors.push({ componentType: 5123, count: 3, type: 'SCALAR' });
    json.meshes[0].primitives[0].indices = 3;
    json.meshes[0].primitives[0].extensions = { KHR_draco_mesh_compression: { bufferView: 0, attributes: { POSITION: 0 } } };
    delete json.accessors[0].bufferView;
  }), /Draco[^]*cutis convert|cutis convert[^]*Draco/],
  ['deep.glb', triangle((json) => {
    for (let i = 2; i < 60_000; i++) { json.nodes[i - 1].children = [i]; json.nodes.push({}); }
  }), /nest|deep/i],
  ['joints.glb', triangle((json, body) => { body.fill(9, 84); }), /joint 0 of vertex 0 is 9/],
  ['noface.obj', utf8('v 0 0 0\nv 1 0 0\nv 0 1 0\n'), /faces|triangles/],
];
