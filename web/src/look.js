// Materials for drawing: the engine hands over a file with nothing but materials and pictures, three.js makes its own of it.
//
// Invariant: nothing is fetched from another place; a picture that is not inside is white, and named.
import { LoadingManager } from 'three';
import { GLTFLoader } from 'three/examples/jsm/loaders/GLTFLoader.js';

const WHITE = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==';
const bytesIn = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

/** Pictures as object URLs: those inside as data, and a white one for what is missing. */
function pictureManager() {
  const manager = Object.assign(new LoadingManager(), { urls: [], missing: [] });
  return manager.setURLModifier((url) => {
    if (url.startsWith('blob:')) return url;
    const inside = /^data:([^;,]*);base64,(.*)$/s.exec(url), [, type, text] = inside ?? [null, 'image/png', WHITE];
    if (!inside) manager.missing.push(url);
    manager.urls.push(URL.createObjectURL(new Blob([bytesIn(text)], { type })));
    return manager.urls.at(-1);
  });
}

/** What three.js would refuse: pictures in a format it has no decoder for. @returns how many have no other form */
function dropUnknown(json) {
  const unknown = (json.textures ?? []).filter((texture) => texture.extensions?.KHR_texture_basisu), alone = unknown.filter((texture) => texture.source === undefined);
  for (const texture of unknown) delete texture.extensions.KHR_texture_basisu;
  for (const texture of alone) texture.source = json.images.push({ uri: `data:image/png;base64,${WHITE}` }) - 1;
  return alone.length;
}

/** @param bytes a GLB, or null @returns { materials, notes, dispose } */
export async function loadLook(bytes) {
  const look = { materials: [], notes: [], dispose() {} }, textures = new Set(), pictures = pictureManager();
  if (!bytes?.length) return look;
  let parser;
  const loader = new GLTFLoader(pictures);
  loader.register((made) => {
    parser = made;
    const dropped = dropUnknown(made.json);
    if (dropped) look.notes.push(`${dropped === 1 ? 'its picture is' : `${dropped} of its pictures are`} KTX2, which the studio does not show (saving keeps them); “cutis convert” writes other formats of the model`);
    return { name: 'cutis' };
  });
  try {
    await loader.parseAsync(bytes.buffer, '');
    for (let i = 0; i < (parser.json.materials?.length ?? 0); i++) look.materials.push(await parser.getDependency('material', i));
  } catch (error) {
    look.notes.push(`shown without its materials: ${error.message}`);
  } finally {
    for (const url of pictures.urls) URL.revokeObjectURL(url);
  }
  if (pictures.missing.length) look.notes.push(`${pictures.missing.length === 1 ? 'a picture is' : `${pictures.missing.length} pictures are`} not there: ${pictures.missing[0]}`);
  for (const material of look.materials) for (const value of Object.values(material)) if (value?.isTexture) textures.add(value);
  look.dispose = () => {
    look.warm?.dispose(); // programs that wait for the first frame (viewport.js)
    for (const material of look.materials) material.dispose();
    for (const texture of textures) { texture.dispose(); texture.source?.data?.close?.(); }
  };
  return look;
}
