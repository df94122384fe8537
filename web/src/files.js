// What can be opened: names of files, and one line for what cannot.

export const READ = ['glb', 'gltf', 'vrm', 'obj', 'ply', 'off', 'stl', 'bvh', 'cfg'];
const COMPANIONS = ['bin', 'png', 'jpg', 'jpeg', 'webp', 'avif', 'ktx2', 'mtl', 'csf', 'cmf', 'caf', 'crf', 'xsf', 'xmf', 'xaf', 'xrf'];
export const ACCEPT = [...READ, ...COMPANIONS].map((each) => `.${each}`).join(',');

export const extension = (name) => /\.([^.]+)$/.exec(name)?.[1].toLowerCase() ?? '';
export const stem = (name) => name.replace(/\.[^.]+$/, '');
/** The one of several files dropped together that names the others; throws the line that says why there is none. */
export function mainFile(files) {
  if (!files.length) throw new Error('there is no file');
  const main = READ.map((kind) => files.find((file) => extension(file.name) === kind)).find(Boolean);
  if (main) return main;
  const [{ name }] = files;
  if (extension(name) === 'fbx') throw new Error('FBX is not read yet; save it as glTF, OBJ or BVH where it comes from');
  throw new Error(`${name} is no file the studio reads: glTF, GLB, VRM, OBJ, PLY, OFF, STL, BVH or Cal3D (.cfg)`);
}

/** Files of a drop, with those of dropped folders. */
export async function droppedFiles(transfer) {
  const entries = [...(transfer.items ?? [])].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.some((entry) => entry.isDirectory)) return [...transfer.files];
  const walk = async (entry) => {
    if (entry.isFile) return [await new Promise((resolve, reject) => { entry.file(resolve, reject); })];
    const reader = entry.createReader(), inside = [];
    for (let more; (more = await new Promise((resolve, reject) => { reader.readEntries(resolve, reject); })).length;) inside.push(...more);
    return (await Promise.all(inside.map(walk))).flat();
  };
  return (await Promise.all(entries.map(walk))).flat();
}
