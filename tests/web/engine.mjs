// The engine of the page against the command: node engine.mjs ENGINE.wasm CUTIS FOLDER. Prints "ok NAME" and "not ok NAME: why".
// Every built-in character, every method, both modes; the command's own output (.npy) is the reference.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Character, Engine } from '../../web/src/engine.js';
import { writeGlb } from '../../web/src/gltf_write.js';
import { pack, unpack } from '../../web/src/pack.js';
import { readNpy } from './npy.mjs';

const [wasm, command, folder] = process.argv.slice(2);
const TOLERANCE = 2e-6; // of the diagonal: the figure
const FRAMES = [0, 4, 11], LAST = 11, RATE = 10;
const engine = await Engine.create(readFileSync(wasm));
const cutis = (...words) => execFileSync(command, [...words, '-q'], { stdio: ['ignore', 'ignore', 'inherit'] });
const say = (claim, problem) => console.log(problem ? `not ok ${claim}: ${problem}` : `ok ${claim}`);

const BODIES = [
  { body: 'biped', clips: ['bend', 'walk'] }, { body: 'quadruped', clips: ['twist'] }, { body: 'cylinder', clips: ['twist', 'bend'] },
  { body: 'arm', clips: ['bend'], poseSpace: true }, { body: 'crowd', clips: ['walk'], options: { count: 4, seed: 7 } },
];

/** The command's model file, and the engine's own making of the same character. */
function make({ body, poseSpace, options = {} }) {
  const file = join(folder, `${body}.glb`), words = ['synth', body, '-o', file];
  for (const [name, value] of Object.entries(options)) words.push(`--${name}`, String(value));
  let model = engine.synth({ body, examples: !!poseSpace, ...options });
  if (poseSpace) { // fitted here and saved as the page saves it: the command reads that file
    model = engine.armPoseSpace(model);
    writeFileSync(file, writeGlb(engine.describe(model)));
  } else {
    cutis(...words);
  }
  return { file, character: new Character(engine, model) };
}

function diagonal({ rest }) {
  const min = [Infinity, Infinity, Infinity], max = min.map((x) => -x);
  rest.forEach((x, i) => { min[i % 3] = Math.min(min[i % 3], x); max[i % 3] = Math.max(max[i % 3], x); });
  return Math.hypot(...max.map((x, c) => x - min[c]));
}

/** Frames of the engine against the command's: largest distance over the diagonal, and how many numbers differ in bits. */
function compare(character, method, exact, clip, wanted, normals) {
  const count = 3 * character.vertexCount, positions = engine.allocate(4 * count), directions = engine.allocate(4 * count), size = diagonal(character);
  let worst = 0, bits = 0, turned = 0;
  FRAMES.forEach((frame) => {
    character.sample(clip, Math.fround(frame / RATE));
    character.deform({ ...method, exact }, positions, directions);
    for (const [address, from, isNormal] of [[positions, wanted, false], [directions, normals, true]]) {
      const got = new Uint32Array(engine.memory.buffer, address, count), values = engine.floats(address, count);
      const reference = from.values.subarray(frame * count, (frame + 1) * count), words = new Uint32Array(reference.buffer, reference.byteOffset, count);
      for (let i = 0; i < count; i++) {
        if (got[i] !== words[i]) bits++;
        const distance = Math.abs(values[i] - reference[i]);
        if (isNormal) turned = Math.max(turned, distance); else worst = Math.max(worst, distance / size);
      }
    }
  });
  engine.free(positions);
  engine.free(directions);
  return { worst, bits, turned };
}

/** The command's frames of one clip. */
function framesOf(file, clip, { id, weighted }) {
  const output = join(folder, 'p.npy'), normals = join(folder, 'n.npy');
  cutis('deform', file, '--clip', clip, '--method', id.replace('-weighted', ''), ...(weighted ? ['--weighted'] : []), '--frames', `0:${LAST + 1}`, '--fps', String(RATE), '--normals', normals, '-o', output);
  return { positions: readNpy(output), normals: readNpy(normals) };
}

function checkBody(entry) {
  const { file, character } = make(entry), { clips } = character.description;
  const problems = { fast: [], exact: [], bits: [] };
  let worstFast = 0, worstExact = 0, same = 0, tried = 0;
  for (const name of entry.clips) {
    const clip = clips.findIndex((each) => each.name === name);
    if (clip < 0) { say(`${entry.body} has the clip ${name}`, 'it is not there'); return; }
    for (const method of engine.methods.filter((each) => engine.offers(each, character.description))) {
      const wanted = framesOf(file, name, method);
      const fast = compare(character, method, false, clip, wanted.positions, wanted.normals), exact = compare(character, method, true, clip, wanted.positions, wanted.normals);
      worstFast = Math.max(worstFast, fast.worst);
      worstExact = Math.max(worstExact, exact.worst);
      tried++;
      same += exact.bits === 0;
      if (!(fast.worst <= TOLERANCE)) problems.fast.push(`${method.id} ${name} ${fast.worst}`);
      if (!(exact.worst <= TOLERANCE)) problems.exact.push(`${method.id} ${name} ${exact.worst}`);
      if (method.id === 'lbs' && exact.bits) problems.bits.push(`${name}: ${exact.bits} numbers differ`);
    }
  }
  console.log(`# ${entry.body}: largest distance ${worstFast.toExponential(1)} fast, ${worstExact.toExponential(1)} exact, of the diagonal; ${same} of ${tried} runs have the command's bits`);
  say(`${entry.body}: every method in fast mode is within 2e-6 of the diagonal of the command's positions`, problems.fast.join('; '));
  say(`${entry.body}: every method in exact mode is within 2e-6 of the diagonal of the command's positions`, problems.exact.join('; '));
  say(`${entry.body}: LBS in exact mode has the bits of the command, positions and normals`, problems.bits.join('; '));
  const words = engine.packed(character.model), again = pack(unpack(words));
  say(`${entry.body}: unpacking and packing a model gives the same words`, words.length === again.length && words.every((word, i) => word === again[i]) ? '' : 'they differ');
  character.destroy();
}

for (const entry of BODIES) checkBody(entry);

{ // One list of methods: the page's is the command's.
  const ours = engine.methods.map((each) => each.id).filter((id) => id !== 'sbs-weighted');
  const theirs = execFileSync(command, ['help', 'methods'], { encoding: 'utf8' }).split('\n').map((line) => /^ {2}([a-z-]+) {2,}/.exec(line)?.[1]).filter(Boolean);
  say('the page has the methods of the command', ours.length > 8 && ours.join() === theirs.join() ? '' : `${ours} and ${theirs}`);
}

// What comes from outside as words is checked before it is believed.
{
  const model = engine.synth({ body: 'cylinder' }), words = engine.packed(model);
  let refused = 0, survived = 0;
  for (let i = 0; i < 300; i++) {
    const bad = words.slice(0, i % 3 === 0 ? (i * 7919) % words.length : words.length);
    if (bad.length) bad[(i * 104729) % Math.min(bad.length, i % 2 ? 200 : bad.length)] = [0, 0xffffffff, 0x7fc00000, 0x10000000][i % 4];
    try { engine.destroyModel(engine.createModel(bad)); survived++; } catch (error) { if (!error.message) throw error; refused++; }
  }
  say('300 damaged models are refused with a reason or read, and the engine goes on', refused > 100 && refused + survived === 300 ? '' : `${refused} refused, ${survived} read`);
  engine.destroyModel(model);
}
{
  let reason = '';
  try { engine.synth({ body: 'biped', vertices: 7 }); } catch (error) { reason = error.message; }
  say('a refusal says why in the words of the library', /vert/.test(reason) ? '' : `it says "${reason}"`);
}
