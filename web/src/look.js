// Materials for drawing: the engine hands over a file with nothing but materials and pictures, three.js makes its own of it.
import { GLTFLoader } from 'three/examples/jsm/loaders/GLTFLoader.js';

/** @param bytes a GLB, or null @returns { materials, notes, dispose } */
export async function loadLook(bytes) {
  const look = { materials: [], notes: [], dispose() {} };
  if (!bytes?.length) return look;
  const textures = new Set();
  let parser;
  const loader = new GLTFLoader();
  loader.manager.itemError = () => {};
  loader.register((made) => { parser = made; return { name: 'cutis', afterRoot() {} }; });
  try {
    await loader.parseAsync(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength), '');
    const count = parser.json.materials?.length ?? 0;
    for (let i = 0; i < count; i++) look.materials.push(await parser.getDependency('material', i));
  } catch (error) {
    look.notes.push(`shown without its pictures: ${error.message}`);
  }
  for (const material of look.materials) for (const value of Object.values(material)) if (value?.isTexture) textures.add(value);
  look.dispose = () => {
    for (const material of look.materials) material.dispose();
    for (const texture of textures) { texture.dispose(); texture.source?.data?.close?.(); }
  };
  return look;
}
