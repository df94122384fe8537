// Compressed twins of glTF files, by other programs: node gltf_twins.mjs FOLDER FILE...
// FOLDER/NAME.plain.glb, the file as gltf-transform writes it, and beside it what it makes of that: NAME.edgebreaker.glb and
// NAME.sequential.glb (Draco), NAME.ext.glb and NAME.filter.glb (EXT_meshopt_compression without and with filters); and, by npm's
// meshoptimizer, NAME.khr.glb (KHR_meshopt_compression, vertex codec 1, lossless). NAME.fallback.glb has compressed and plain data.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';

const require = createRequire(path.resolve(process.env.CUTIS_NODE_MODULES ?? import.meta.dirname, 'x.js'));
const load = (name) => import(name); // found in ../node_modules; Debian's node 18 cannot require() what they import
const { NodeIO, Logger } = await load('@gltf-transform/core');
const { ALL_EXTENSIONS, KHRDracoMeshCompression, EXTMeshoptCompression, KHRMeshQuantization } = await load('@gltf-transform/extensions');
const { MeshoptEncoder, MeshoptDecoder } = await load('meshoptimizer');
const draco3d = require('draco3d');
await MeshoptEncoder.ready;
await MeshoptDecoder.ready;
const io = new NodeIO().setLogger(new Logger(Logger.Verbosity.SILENT)).registerExtensions(ALL_EXTENSIONS).registerDependencies({
    'draco3d.decoder': await draco3d.createDecoderModule(),
    'draco3d.encoder': await draco3d.createEncoderModule(),
    'meshopt.encoder': MeshoptEncoder,
    'meshopt.decoder': MeshoptDecoder,
});

function parse(glb) {
    const view = new DataView(glb.buffer, glb.byteOffset), size = view.getUint32(12, true);
    return [JSON.parse(Buffer.from(glb.subarray(20, 20 + size)).toString()), glb.subarray(28 + size)];
}

function build(json, bin) {
    const text = Buffer.from(JSON.stringify(json));
    const pad = (bytes, fill) => Buffer.concat([bytes, Buffer.alloc((4 - bytes.length % 4) % 4, fill)]);
    const parts = [pad(text, 32), pad(Buffer.from(bin), 0)], words = (...list) => Buffer.from(new Uint32Array(list).buffer);
    const size = 12 + 8 + parts[0].length + 8 + parts[1].length;
    return Buffer.concat([words(0x46546c67, 2, size), words(parts[0].length, 0x4e4f534a), parts[0], words(parts[1].length, 0x004e4942), parts[1]]);
}

// Every view that accessors use, compressed as it is; `fallback`: the plain data stay too.
function meshopt(glb, extension, version, fallback) {
    const [json, bin] = parse(glb), chunks = [];
    const size = { SCALAR: 1, VEC2: 2, VEC3: 3, VEC4: 4, MAT4: 16 }, bytes = { 5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4 };
    const indices = new Set(json.meshes.flatMap((m) => m.primitives.map((p) => p.indices)));
    let at = 0, plain = 0;
    const put = (data) => { const offset = at; chunks.push(data, Buffer.alloc((4 - data.length % 4) % 4)); at += Math.ceil(data.length / 4) * 4; return offset; };
    if (fallback) put(bin.subarray(0, json.buffers[0].byteLength));
    json.bufferViews.forEach((view, v) => {
        const users = json.accessors.map((a, i) => [a, i]).filter(([a]) => a.bufferView === v);
        const data = bin.subarray(view.byteOffset ?? 0, (view.byteOffset ?? 0) + view.byteLength);
        const index = users.length > 0 && users.every(([, i]) => indices.has(i)) && users.every(([a]) => a.componentType === users[0][0].componentType);
        const stride = index ? bytes[users[0][0].componentType] : view.byteStride ?? (users.length === 1 ? size[users[0][0].type] * bytes[users[0][0].componentType] : 4);
        const possible = users.length > 0 && view.byteLength % stride === 0 && (index ? stride > 1 : stride % 4 === 0);
        if (!possible) {
            if (!fallback) Object.assign(view, { buffer: 0, byteOffset: put(data) });
            return;
        }
        const count = view.byteLength / stride, mode = index ? 'INDICES' : 'ATTRIBUTES';
        const packed = Buffer.from(MeshoptEncoder.encodeGltfBuffer(new Uint8Array(data), count, stride, mode, version));
        view.extensions = { [extension]: { buffer: 0, byteOffset: put(packed), byteLength: packed.length, byteStride: stride, count, mode } };
        if (!fallback) Object.assign(view, { buffer: 1, byteOffset: plain });
        plain += Math.ceil(view.byteLength / 4) * 4;
    });
    json.buffers = [{ byteLength: at }];
    if (!fallback) json.buffers.push({ byteLength: Math.max(plain, 4), extensions: { [extension]: { fallback: true } } });
    json.extensionsUsed = [...new Set([...(json.extensionsUsed ?? []), extension])];
    if (!fallback) json.extensionsRequired = [...new Set([...(json.extensionsRequired ?? []), extension])];
    return build(json, Buffer.concat(chunks));
}

// node gltf_twins.mjs --unpack FILE...: NAME.KIND.glb, which Cutis compressed, to NAME.KIND_read.glb, plain.
if (process.argv[2] === '--unpack') {
    for (const file of process.argv.slice(3)) {
        const document = await io.read(file);
        for (const extension of document.getRoot().listExtensionsUsed())
            if (/_compression$/.test(extension.extensionName)) extension.dispose();
        fs.writeFileSync(file.replace(/\.glb$/, '_read.glb'), await io.writeBinary(document));
    }
    process.exit(0);
}

for (const file of process.argv.slice(3)) {
    const name = path.join(process.argv[2], path.basename(file).replace(/\.glt?[bf]$/, ''));
    const write = async (kind, set) => {
        const document = await io.read(file);
        for (const mesh of document.getRoot().listMeshes()) // its meshopt writer takes no indices of 8 bits
            for (const part of mesh.listPrimitives()) part.getIndices()?.setArray(new Uint32Array(part.getIndices().getArray()));
        const [first, ...others] = document.getRoot().listBuffers(); // a GLB has one
        for (const accessor of document.getRoot().listAccessors()) accessor.setBuffer(first);
        others.forEach((buffer) => buffer.dispose());
        set?.(document);
        fs.writeFileSync(`${name}.${kind}.glb`, await io.writeBinary(document));
    };
    const draco = (method) => (document) => document.createExtension(KHRDracoMeshCompression).setRequired(true).setEncoderOptions({
        method, encodeSpeed: 5, decodeSpeed: 5, quantizationBits: { POSITION: 14, NORMAL: 10, COLOR: 8, TEX_COORD: 12, GENERIC: 16 } });
    await write('plain');
    await write('edgebreaker', draco(KHRDracoMeshCompression.EncoderMethod.EDGEBREAKER));
    await write('sequential', draco(KHRDracoMeshCompression.EncoderMethod.SEQUENTIAL));
    const packed = (method) => (document) => document.createExtension(KHRMeshQuantization).setRequired(true) && document.createExtension(EXTMeshoptCompression).setRequired(true).setEncoderOptions({ method });
    await write('ext', packed(EXTMeshoptCompression.EncoderMethod.QUANTIZE));
    await write('filter', packed(EXTMeshoptCompression.EncoderMethod.FILTER));
    const plain = fs.readFileSync(`${name}.plain.glb`);
    fs.writeFileSync(`${name}.khr.glb`, meshopt(plain, 'KHR_meshopt_compression', 1, false));
    fs.writeFileSync(`${name}.fallback.glb`, meshopt(plain, 'KHR_meshopt_compression', 1, true));
}
