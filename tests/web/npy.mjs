// Reads .npy of float32 in C order: { shape, values }.
import { readFileSync } from 'node:fs';

export function readNpy(path) {
  const bytes = readFileSync(path), length = bytes.readUInt16LE(8), header = bytes.subarray(10, 10 + length).toString('latin1');
  if (!header.includes("'<f4'") || header.includes("'fortran_order': True")) throw new Error(`${path}: not float32 in C order`);
  const shape = header.match(/'shape': \(([^)]*)\)/)[1].split(',').map((n) => n.trim()).filter(Boolean).map(Number);
  const data = bytes.subarray(10 + length);
  return { shape, values: new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength)) };
}
