// Linear blend skinning by three.js, as a reference. Reads jobs from standard input, one a line, separated by tabs:
// MODEL, CLIP (index), FPS, FRAMES, OUT. Writes to OUT float32 positions [frames, vertices, 3] in world space at times i / FPS: mesh
// instances of the default scene depth-first, primitives in order, vertices in file order. Prints OUT when done.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const modules = path.resolve(process.env.CUTIS_NODE_MODULES ?? path.join(import.meta.dirname, '..', 'node_modules'));
const require = createRequire(path.join(modules, 'x.js'));
globalThis.self = globalThis;
// One module for both, or the loader would bring classes of its own. The loader imports 'three', which node finds beside it.
const THREE = await import(pathToFileURL(path.join(modules, 'three', 'build', 'three.module.js')));
const { GLTFLoader } = await import(pathToFileURL(require.resolve('three/examples/jsm/loaders/GLTFLoader.js')));

function readDocument(file) {
    const bytes = fs.readFileSync(file);
    if (bytes.toString('latin1', 0, 4) !== 'glTF') return { json: JSON.parse(bytes.toString('utf8')), bin: null };
    const length = bytes.readUInt32LE(12);
    return {
        json: JSON.parse(bytes.toString('utf8', 20, 20 + length)),
        bin: 28 + length <= bytes.length ? bytes.subarray(28 + length) : null,
    };
}

function readBuffer(buffer, bin, folder) {
    if (!buffer.uri) return bin.subarray(0, buffer.byteLength);
    if (buffer.uri.startsWith('data:')) return Buffer.from(buffer.uri.slice(buffer.uri.indexOf(',') + 1), 'base64');
    return fs.readFileSync(path.join(folder, decodeURIComponent(buffer.uri)));
}

// One GLB with all buffers in one and no images: node cannot load those, and positions do not need them.
function toGlb(file) {
    const { json, bin } = readDocument(file);
    const parts = [];
    let size = 0;
    const starts = (json.buffers ?? []).map((buffer) => {
        const bytes = readBuffer(buffer, bin, path.dirname(file)).subarray(0, buffer.byteLength);
        const start = size;
        parts.push(bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4));
        size += Math.ceil(bytes.length / 4) * 4;
        return start;
    });
    for (const view of json.bufferViews ?? []) {
        view.byteOffset = (view.byteOffset ?? 0) + starts[view.buffer];
        view.buffer = 0;
    }
    json.buffers = [{ byteLength: size }];
    for (const key of ['images', 'textures', 'samplers', 'materials']) delete json[key];
    for (const mesh of json.meshes ?? []) for (const primitive of mesh.primitives) delete primitive.material;
    let text = Buffer.from(JSON.stringify(json));
    text = Buffer.concat([text, Buffer.alloc((4 - (text.length % 4)) % 4, 0x20)]);
    const head = Buffer.alloc(20), middle = Buffer.alloc(8);
    head.write('glTF', 0, 'latin1');
    [2, 28 + text.length + size, text.length, 0x4e4f534a].forEach((word, i) => head.writeUInt32LE(word, 4 + 4 * i));
    middle.writeUInt32LE(size, 0);
    middle.writeUInt32LE(0x004e4942, 4);
    return Buffer.concat([head, text, middle, ...parts]);
}

function parse(file) {
    const glb = toGlb(file);
    const data = glb.buffer.slice(glb.byteOffset, glb.byteOffset + glb.length);
    return new Promise((resolve, reject) => new GLTFLoader().parse(data, '', resolve, reject));
}

function positions(scene) {
    const point = new THREE.Vector3(), out = [];
    scene.updateMatrixWorld(true);
    scene.traverse((object) => {
        if (!object.geometry) return;
        const count = object.geometry.attributes.position.count;
        for (let i = 0; i < count; i++) {
            object.getVertexPosition ? object.getVertexPosition(i, point) : point.fromBufferAttribute(object.geometry.attributes.position, i);
            point.applyMatrix4(object.matrixWorld);
            out.push(point.x, point.y, point.z);
        }
    });
    return Buffer.from(new Float32Array(out).buffer);
}

for await (const line of readline.createInterface({ input: process.stdin })) {
    const [model, clip, fps, frames, out] = line.split('\t');
    const gltf = await parse(model);
    const mixer = new THREE.AnimationMixer(gltf.scene);
    const action = mixer.clipAction(gltf.animations[Number(clip)]);
    action.setLoop(THREE.LoopOnce);
    action.clampWhenFinished = true;
    action.play();
    const all = [];
    for (let i = 0; i < Number(frames); i++) {
        mixer.setTime(i / Number(fps));
        // SimpleSkin's keys have three decimals. Everybody takes them for rotations; only three.js builds matrices of them as they
        // are, which scales the arm by 2e-4.
        gltf.scene.traverse((object) => object.quaternion.normalize());
        all.push(positions(gltf.scene));
    }
    fs.writeFileSync(out, Buffer.concat(all));
    console.log(out);
}
