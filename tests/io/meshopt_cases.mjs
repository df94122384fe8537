// Streams of npm's meshoptimizer and what its own decoder makes of them, for tests/io/test_meshopt.c: both vertex codecs, all
// levels, all filters, index codecs. Each case: mode, filter, count, stride, bytes of the stream (32 bits each), the stream, the
// decoded bytes.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(path.resolve(process.env.CUTIS_NODE_MODULES ?? import.meta.dirname, 'x.js'));
const { MeshoptEncoder, MeshoptDecoder } = await import(pathToFileURL(require.resolve('meshoptimizer')));
await MeshoptEncoder.ready;
await MeshoptDecoder.ready;

const MODES = ['ATTRIBUTES', 'TRIANGLES', 'INDICES'];
const FILTERS = ['NONE', 'OCTAHEDRAL', 'QUATERNION', 'EXPONENTIAL', 'COLOR'];
const out = fs.openSync(process.argv[2], 'w');
let state = 1;
function random() { // of [0, 1): the same on every machine
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 4294967296;
}

function add(stream, mode, filter, count, stride) {
    const decoded = new Uint8Array(count * stride);
    MeshoptDecoder.decodeGltfBuffer(decoded, count, stride, stream, MODES[mode], FILTERS[filter]);
    fs.writeSync(out, new Uint8Array(new Uint32Array([mode, filter, count, stride, stream.length]).buffer));
    fs.writeSync(out, stream);
    fs.writeSync(out, decoded);
}

const bytes = (array) => new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
const COUNTS = [1, 2, 15, 16, 17, 255, 256, 257, 1000];
// Bytes that are constant, noise, slow waves of 16 bits, floats: what each kind of channel is chosen for.
const KINDS = [
    (data, i, stride) => data.fill(7, i * stride, (i + 1) * stride),
    (data, i, stride) => { for (let k = 0; k < stride; k++) data[i * stride + k] = random() * 256; },
    (data, i, stride) => { for (let k = 0; k < stride; k++) data[i * stride + k] = random() * (1 << k % 5); },
    (data, i, stride) => { const view = new DataView(data.buffer); for (let k = 0; k < stride; k += 2) view.setInt16(i * stride + k, 9000 * Math.sin(0.02 * i + k), true); },
    (data, i, stride) => { const view = new DataView(data.buffer); for (let k = 0; k < stride; k += 4) view.setFloat32(i * stride + k, Math.sin(0.02 * i + k), true); },
];
for (const count of COUNTS)
    for (const stride of [4, 8, 12, 20, 24, 28, 32, 48, 64, 256])
        KINDS.forEach((fill) => {
            const data = new Uint8Array(count * stride);
            for (let i = 0; i < count; i++) fill(data, i, stride);
            for (const [level, version] of [[2, 0], [0, 1], [2, 1], [3, 1]])
                add(MeshoptEncoder.encodeVertexBufferLevel(data, count, stride, level, version), 0, 0, count, stride);
        });

for (const count of COUNTS) {
    const vectors = new Float32Array(4 * count), colors = new Float32Array(4 * count);
    for (let i = 0; i < count; i++) {
        const v = [0, 1, 2, 3].map(() => random() * 2 - 1), length = Math.hypot(...v);
        vectors.set(v.map((x) => x / length), 4 * i);
        colors.set([random(), random(), random(), random()], 4 * i);
    }
    const normals = vectors.slice();
    for (let i = 0; i < count; i++) {
        const length = Math.hypot(normals[4 * i], normals[4 * i + 1], normals[4 * i + 2]);
        for (let k = 0; k < 3; k++) normals[4 * i + k] /= length;
    }
    for (const version of [0, 1]) {
        const pack = (data, filter, stride) => add(MeshoptEncoder.encodeGltfBuffer(data, count, stride, 'ATTRIBUTES', version), 0, filter, count, stride);
        for (const [stride, bits] of [[4, 8], [4, 6], [8, 16], [8, 12], [8, 10]]) {
            pack(MeshoptEncoder.encodeFilterOct(normals, count, stride, bits), 1, stride);
            pack(MeshoptEncoder.encodeFilterColor(colors, count, stride, bits), 4, stride);
        }
        for (const bits of [16, 12, 9, 5]) pack(MeshoptEncoder.encodeFilterQuat(vectors, count, 8, bits), 2, 8);
        for (const mode of ['Separate', 'SharedVector', 'SharedComponent', 'Clamped'])
            for (const bits of [23, 15, 8]) pack(MeshoptEncoder.encodeFilterExp(vectors, count, 16, bits, mode), 3, 16);
    }
}

for (const side of [2, 3, 17, 200]) {
    const cells = [];
    for (let y = 0; y + 1 < side; y++)
        for (let x = 0; x + 1 < side; x++) {
            const a = y * side + x;
            cells.push([a, a + 1, a + side], [a + side, a + 1, a + side + 1]);
        }
    const ordered = new Uint32Array(cells.flat());
    cells.sort(() => random() - 0.5);
    const shuffled = new Uint32Array(cells.flat());
    const reset = new Uint32Array([...ordered.slice(0, 300), ...ordered.slice(0, 300)]);
    const [remap] = MeshoptEncoder.reorderMesh(ordered.slice(), true, true);
    const best = ordered.map((v) => remap[v]);
    for (const indices of [ordered, shuffled, reset, best])
        for (const stride of side < 200 ? [2, 4] : [4]) {
            const data = bytes(stride === 2 ? new Uint16Array(indices) : indices);
            add(MeshoptEncoder.encodeIndexBuffer(data, indices.length, stride), 1, 0, indices.length, stride);
            add(MeshoptEncoder.encodeIndexSequence(data, indices.length, stride), 2, 0, indices.length, stride);
        }
}
fs.closeSync(out);
