// The journey as a short animation: node docs/guide/studio_film.mjs CUTIS OUT.png. A bare body, its parts and joints, and how it
// walks, drawn by the command; the frames become one animated PNG, their pixels as they were compressed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';

const [command, output] = process.argv.slice(2), folder = mkdtempSync(join(tmpdir(), 'film-')), at = (name) => join(folder, name);
const cutis = (...words) => execFileSync(command, words, { stdio: ['ignore', 'ignore', 'inherit'] });
const SIZE = '240x240', LONG = 12, STEPS = 10, PLAYS = 3; // pixels; hundredths of a second a frame; frames of one walk cycle; times, for what moves for ever beside one's work is in its way
const crc = crc32 ?? ((bytes) => { let sum = ~0; for (const byte of bytes) { sum ^= byte; for (let k = 0; k < 8; k++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0); } return ~sum >>> 0; });

function chunk(type, data) {
  const out = Buffer.alloc(12 + data.length);
  out.writeUInt32BE(data.length, 0);
  out.write(type, 4, 'latin1');
  out.set(data, 8);
  out.writeUInt32BE(crc(out.subarray(4, 8 + data.length)), 8 + data.length);
  return out;
}
function* chunksOf(png) { for (let i = 8; i < png.length;) { const length = png.readUInt32BE(i); yield [png.toString('latin1', i + 4, i + 8), png.subarray(i + 8, i + 8 + length)]; i += 12 + length; } }
function numbers(...values) { const out = Buffer.alloc(4 * values.length); values.forEach((value, i) => out.writeUInt32BE(value, 4 * i)); return out; }

cutis('synth', 'family', '--kind', 'human', '--seed', '7', '--scan', 'off', '--pose', 'a', '--unrigged', '-q', '-o', at('scan.glb'));
cutis('synth', 'biped', '--motions', '--size', 'low', '-q', '-o', at('cast.glb'));
cutis('rig', at('scan.glb'), '-q', '-o', at('rig.glb'));
cutis('retarget', at('rig.glb'), '--motion', at('cast.glb'), '--clip', 'walk', '-q', '-o', at('walk.glb'));
const shots = [
  ...Array.from({ length: 5 }, (_, i) => [at('scan.glb'), '--camera', `${-20 + 11 * i},8,3.4`]),
  ...Array.from({ length: 4 }, (_, i) => [at('rig.glb'), '--show', 'parts,skeleton', '--camera', `${35 + 3 * i},8,3.4`]),
  ...Array.from({ length: STEPS }, (_, i) => [at('walk.glb'), '--clip', 'walk', '--time', String((1.1 * i) / STEPS), '--camera', '46,8,4.1']),
];
const frames = shots.map((words, i) => { cutis('render', ...words, '--size', SIZE, '-q', '-o', at(`${i}.png`)); return readFileSync(at(`${i}.png`)); });
const [[, header]] = chunksOf(frames[0]), [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)], parts = [frames[0].subarray(0, 8), chunk('IHDR', header), chunk('acTL', numbers(frames.length, PLAYS))];
let serial = 0;
frames.forEach((png, i) => {
  parts.push(chunk('fcTL', Buffer.concat([numbers(serial++, width, height, 0, 0), Buffer.from([0, i === 4 || i === 8 ? 60 : LONG, 0, 100, 0, 0])])));
  for (const [type, data] of chunksOf(png)) if (type === 'IDAT') parts.push(i ? chunk('fdAT', Buffer.concat([numbers(serial++), data])) : chunk('IDAT', data));
});
writeFileSync(output, Buffer.concat([...parts, chunk('IEND', Buffer.alloc(0))]));
rmSync(folder, { recursive: true });
