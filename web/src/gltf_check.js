// The gate for glTF from outside, before three.js sees it: three.js waits for ever on a cycle of nodes and allocates what
// a file asks for. What a character means (weights, times, indices) is checked by the engine's own gate afterwards.

const COMPONENT_BYTES = { 5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4 };
export const WIDTH = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT2: 4, MAT3: 9, MAT4: 16 };
const MAX_FLOATS = 200e6; // of all accessors together: 800 MB, more than a tab should hold
const REQUIRED_KNOWN = new Set(['KHR_mesh_quantization', 'EXT_meshopt_compression', 'KHR_texture_transform', 'KHR_materials_unlit',
  'KHR_materials_emissive_strength', 'KHR_materials_clearcoat', 'KHR_materials_sheen', 'KHR_materials_transmission', 'KHR_materials_ior',
  'KHR_materials_specular', 'KHR_materials_volume', 'KHR_materials_iridescence', 'KHR_materials_anisotropy', 'KHR_materials_dispersion',
  'KHR_lights_punctual', 'EXT_texture_webp', 'EXT_texture_avif', 'CUTIS_pose_space', 'CUTIS_parts', 'CUTIS_handles']);

export class BadFile extends Error {}
const fail = (text) => { throw new BadFile(text); };

const isIndex = (value, list) => Number.isInteger(value) && value >= 0 && value < list.length;

function lists(json) {
  const all = {};
  for (const name of ['accessors', 'animations', 'buffers', 'bufferViews', 'images', 'materials', 'meshes', 'nodes', 'samplers', 'scenes', 'skins', 'textures']) {
    const list = json[name] ?? [];
    if (!Array.isArray(list)) fail(`${name} is not an array`);
    list.forEach((item, i) => { if (item === null || typeof item !== 'object' || Array.isArray(item)) fail(`${name}/${i} is not an object`); });
    all[name] = list;
  }
  return all;
}

function refer(value, list, place) {
  if (value !== undefined && !isIndex(value, list)) fail(`${place} refers to entry ${value}, there are ${list.length}`);
}

function finite(array, count, place) {
  if (array === undefined) return;
  if (!Array.isArray(array) || array.length !== count || !array.every(Number.isFinite)) fail(`${place} must be ${count} numbers`);
}

function checkView(view, i, all, sizes) {
  const place = `bufferViews/${i}`;
  refer(view.buffer ?? -1, all.buffers, `${place}/buffer`);
  const offset = view.byteOffset ?? 0, length = view.byteLength;
  if (!Number.isInteger(offset) || offset < 0 || !Number.isInteger(length) || length < 1) fail(`${place} has no sensible byteOffset and byteLength`);
  const meshopt = view.extensions?.EXT_meshopt_compression;
  if (!meshopt && offset + length > sizes[view.buffer]) fail(`${place} ends at byte ${offset + length}, its buffer has ${sizes[view.buffer]}`);
  if (view.byteStride !== undefined && (!Number.isInteger(view.byteStride) || view.byteStride < 1 || view.byteStride > 255)) fail(`${place}/byteStride is ${view.byteStride}`);
}

function checkAccessor(accessor, i, all) {
  const place = `accessors/${i}`;
  const bytes = COMPONENT_BYTES[accessor.componentType], width = WIDTH[accessor.type];
  if (!bytes) fail(`${place}/componentType is ${accessor.componentType}`);
  if (!width) fail(`${place}/type is ${accessor.type}`);
  if (!Number.isInteger(accessor.count) || accessor.count < 1) fail(`${place}/count is ${accessor.count}`);
  refer(accessor.bufferView, all.bufferViews, `${place}/bufferView`);
  if (accessor.bufferView !== undefined) {
    const view = all.bufferViews[accessor.bufferView], offset = accessor.byteOffset ?? 0;
    const stride = view.byteStride ?? bytes * width, end = offset + (accessor.count - 1) * stride + bytes * width;
    if (!Number.isInteger(offset) || offset < 0 || offset % bytes) fail(`${place}/byteOffset is ${offset}`);
    if (end > view.byteLength) fail(`${place} needs ${end} bytes, its bufferView has ${view.byteLength}`);
  }
  const sparse = accessor.sparse;
  if (sparse) {
    if (!Number.isInteger(sparse.count) || sparse.count < 1 || sparse.count > accessor.count) fail(`${place}/sparse/count is ${sparse.count}`);
    refer(sparse.indices?.bufferView ?? -1, all.bufferViews, `${place}/sparse/indices`);
    refer(sparse.values?.bufferView ?? -1, all.bufferViews, `${place}/sparse/values`);
  }
  return accessor.count * width;
}

function checkNodes(all) {
  const parent = new Array(all.nodes.length).fill(-1);
  all.nodes.forEach((node, i) => {
    refer(node.mesh, all.meshes, `nodes/${i}/mesh`);
    refer(node.skin, all.skins, `nodes/${i}/skin`);
    finite(node.matrix, 16, `nodes/${i}/matrix`);
    finite(node.translation, 3, `nodes/${i}/translation`);
    finite(node.rotation, 4, `nodes/${i}/rotation`);
    finite(node.scale, 3, `nodes/${i}/scale`);
    if (node.children !== undefined && !Array.isArray(node.children)) fail(`nodes/${i}/children is not an array`);
    for (const child of node.children ?? []) {
      refer(child, all.nodes, `nodes/${i}/children`);
      if (parent[child] !== -1) fail(`nodes/${child} has two parents`);
      parent[child] = i;
    }
  });
  // One parent each: what cannot be reached from above lies in a cycle.
  const reached = new Uint8Array(parent.length), stack = [];
  parent.forEach((above, i) => { if (above === -1) stack.push(i); });
  while (stack.length) {
    const node = stack.pop();
    reached[node] = 1;
    for (const child of all.nodes[node].children ?? []) stack.push(child);
  }
  const lost = reached.indexOf(0);
  if (lost >= 0) fail(`nodes/${lost} is its own ancestor`);
}

function checkUses(all) {
  all.scenes.forEach((scene, i) => {
    if (scene.nodes !== undefined && !Array.isArray(scene.nodes)) fail(`scenes/${i}/nodes is not an array`);
    for (const node of scene.nodes ?? []) refer(node, all.nodes, `scenes/${i}/nodes`);
  });
  all.meshes.forEach((mesh, i) => {
    if (!Array.isArray(mesh.primitives) || !mesh.primitives.length) fail(`meshes/${i} has no primitives`);
    mesh.primitives.forEach((part, k) => {
      const place = `meshes/${i}/primitives/${k}`;
      if (part.extensions?.KHR_draco_mesh_compression) fail(`${place} is compressed with Draco, which the studio does not read; save it without`);
      if (typeof part.attributes !== 'object' || part.attributes === null) fail(`${place} has no attributes`);
      for (const [name, accessor] of Object.entries(part.attributes)) refer(accessor, all.accessors, `${place}/attributes/${name}`);
      refer(part.indices, all.accessors, `${place}/indices`);
      refer(part.material, all.materials, `${place}/material`);
      for (const target of part.targets ?? []) for (const accessor of Object.values(target)) refer(accessor, all.accessors, `${place}/targets`);
    });
  });
  all.skins.forEach((skin, i) => {
    if (!Array.isArray(skin.joints) || !skin.joints.length) fail(`skins/${i} has no joints`);
    for (const joint of skin.joints) refer(joint, all.nodes, `skins/${i}/joints`);
    refer(skin.inverseBindMatrices, all.accessors, `skins/${i}/inverseBindMatrices`);
  });
  all.animations.forEach((clip, i) => {
    if (!Array.isArray(clip.samplers) || !Array.isArray(clip.channels)) fail(`animations/${i} has no samplers or channels`);
    clip.samplers.forEach((sampler, k) => {
      refer(sampler?.input ?? -1, all.accessors, `animations/${i}/samplers/${k}/input`);
      refer(sampler?.output ?? -1, all.accessors, `animations/${i}/samplers/${k}/output`);
    });
    clip.channels.forEach((channel, k) => {
      refer(channel?.sampler ?? -1, clip.samplers, `animations/${i}/channels/${k}/sampler`);
      refer(channel?.target?.node, all.nodes, `animations/${i}/channels/${k}/target/node`);
    });
  });
}

/** Throws BadFile with the place and the reason. @param sizes bytes of each buffer */
export function checkGltf(json, sizes) {
  if (json === null || typeof json !== 'object' || Array.isArray(json)) fail('the file holds no glTF object');
  if (typeof json.asset?.version !== 'string') fail('asset/version is missing: this is no glTF');
  if (!json.asset.version.startsWith('2')) fail(`glTF ${json.asset.version} is not read, only 2.x`);
  for (const name of json.extensionsRequired ?? []) if (!REQUIRED_KNOWN.has(name)) fail(`the file requires ${name}, which the studio does not read`);
  const all = lists(json);
  all.bufferViews.forEach((view, i) => checkView(view, i, all, sizes));
  let floats = 0;
  all.accessors.forEach((accessor, i) => { floats += checkAccessor(accessor, i, all); });
  if (floats > MAX_FLOATS) fail(`the file asks for ${Math.round(floats / 1e6)} million numbers; the studio's limit is ${MAX_FLOATS / 1e6} million`);
  checkNodes(all);
  checkUses(all);
  if (json.scene !== undefined) refer(json.scene, all.scenes, 'scene');
  return all;
}
