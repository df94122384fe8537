// The engine of the page against the command: node engine.mjs STUDIO CUTIS FOLDER SEEDS. Prints "ok NAME" and "not ok NAME: why".
// The command's own files, lines and bits are the reference: for every verb that runs in the page, every method, damaged files.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';
import { Character, Engine, EngineError, runCommand } from '../../web/src/engine.js';
import { orderParts } from '../../web/src/order.js';
import { differences } from './gltf_compare.mjs';
import { readNpy } from './npy.mjs';

const [studio, command, folder, seeds] = process.argv.slice(2, 6).map((path) => resolve(path));
const module = await WebAssembly.compile(readFileSync(join(studio, 'engine.wasm')));
const say = (claim, problem) => {
  if (problem) process.exitCode = 1;
  console.log(problem ? `not ok ${claim}: ${problem}` : `ok ${claim}`);
};
const character = (name) => join(studio, 'models', `${name}.glb`);
/** A biped of few vertices, for claims that do not depend on how many there are. */
const small = () => { const path = join(folder, 'small.glb'); if (!existsSync(path)) execFileSync(command, ['synth', 'biped', '--vertices', '3000', '-q', '-o', path]); return path; };

// The same words on a disk and in memory --------------------------------------------------------------------------------------------

/** A folder and its twin in memory. */
class Twins {
  constructor(name) { this.folder = join(folder, name); this.files = new Map(); mkdirSync(this.folder, { recursive: true }); }
  put(name, bytes) {
    mkdirSync(join(this.folder, name, '..'), { recursive: true });
    writeFileSync(join(this.folder, name), bytes);
    this.files.set(name, new Uint8Array(bytes));
  }
  onDisk(at = this.folder) {
    return readdirSync(at).flatMap((name) => (statSync(join(at, name)).isDirectory() ? this.onDisk(join(at, name)) : [relative(this.folder, join(at, name))]));
  }
  /** Run a command in both. @returns what differs, in words */
  async run(line) {
    const words = line.split(' '), native = spawnSync(command, words, { cwd: this.folder, encoding: 'utf8', maxBuffer: 1 << 28 }), here = await runCommand(module, words, this.files);
    const plain = (text) => text.replace(/\d+\.\d+ s\b/g, '').replace(/ on cpu \w+/g, '').replaceAll(/^.*\b(seconds|ms)\b[^]*$/gm, ''); // how long, and by what
    const names = this.onDisk().sort(), problems = [];
    if (native.status !== here.status) problems.push(`status ${here.status}, not ${native.status}: ${here.stderr || native.stderr}`);
    if (native.stderr !== here.stderr) problems.push(`says "${here.stderr.trim()}", not "${native.stderr.trim()}"`);
    if (plain(native.stdout) !== plain(here.stdout)) problems.push(`prints "${here.stdout}", not "${native.stdout}"`);
    if (names.join() !== [...here.files.keys()].sort().join()) problems.push(`has ${[...here.files.keys()]}, not ${names}`);
    for (const name of names) if (here.files.has(name) && Buffer.compare(readFileSync(join(this.folder, name)), here.files.get(name))) problems.push(`${name} differs`);
    this.files = here.files;
    return { problems: problems.join('; '), status: here.status, stdout: here.stdout, stderr: here.stderr };
  }
}

const VERBS = `
  info biped.glb --json | check biped.glb | check biped.glb --influences 4 --fix -o fixed.glb
  synth cylinder -o cylinder.glb | synth arm --examples sculpts -o arm.glb | synth family --kind human --seed 7 --vertices 2000 --unrigged -o scan.glb
  convert biped.glb -o text.gltf | convert text.gltf -o again.glb | convert biped.glb -o mesh.obj | convert mesh.obj -o mesh.glb | convert mesh.obj -o mesh.stl
  convert biped.glb --ascii -o mesh.ply | convert mesh.ply --up z --units cm -o turned.glb | convert biped.glb --clip walk -o walk.bvh
  convert biped.glb --compress meshopt -o small.glb | convert small.glb -o large.glb | convert walk.bvh -o walk.glb
  deform biped.glb --clip bend --method dqs --frames 0:5 --normals normals.npy -o frames.npy | deform biped.glb --clip bend --method cor --frames 0:2 -o frames.pc2
  measure biped.glb --clip bend --time 1 | measure scan.glb --json | compare biped.glb --clip twist --methods lbs,sbs,dqs --fps 2
  reduce cylinder.glb --influences 2 -o reduced.glb | handles cylinder.glb --skeleton --voxels 24 -o handled.glb
  fit arm.glb --poses examples --shapes sculpts/examples.npy -o learned.glb | bake arm.glb --method dqs --clips bend --helpers 1 -o baked.glb
  cage mesh.glb --cage box.obj -o caged.glb | rig scan.glb --motion biped.glb -o rigged.glb | skeleton rigged.glb --parts joints -o skeleton.glb
  joints biped.glb --move forearm_l=0.45,1.3,0 --rename head=skull -o jointed.glb
  retarget rigged.glb --motion walk.bvh -o walking.glb | convert models --to ply -o many`.split(/\||\n/).map((line) => line.trim()).filter(Boolean);

async function checkVerbs() {
  const twins = new Twins('verbs'), problems = {}, verbs = new Set();
  const box = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `v ${i & 1 ? 2 : -2} ${i & 2 ? 3 : -1} ${i & 4 ? 2 : -2}`);
  const faces = ['1 3 2', '2 3 4', '5 6 7', '6 8 7', '1 2 5', '2 6 5', '3 7 4', '4 7 8', '1 5 3', '3 5 7', '2 4 6', '4 8 6'].map((face) => `f ${face}`);
  twins.put('biped.glb', readFileSync(small()));
  twins.put('box.obj', Buffer.from([...box, ...faces].join('\n') + '\n'));
  for (const name of ['box.obj', 'quad.off', 'skinned.gltf', 'everything.glb']) twins.put(`models/deep/${name}`, readFileSync(join(seeds, name)));
  for (const line of VERBS) {
    const verb = line.split(' ')[0], start = process.cpuUsage().user, done = await twins.run(line);
    if (process.env.CUTIS_TIMES) console.log(`# ${((process.cpuUsage().user - start) / 1e6).toFixed(2)} s here: ${line}`);
    verbs.add(verb);
    if (done.problems) (problems[verb] ??= []).push(`${line}: ${done.problems.slice(0, 400)}`);
    else if (done.status) (problems[verb] ??= []).push(`${line} fails in both: ${done.stderr}`);
  }
  for (const verb of verbs) say(`${verb} in the page makes the command's files and says its words`, problems[verb]?.join('; '));
  const table = JSON.parse((await runCommand(module, ['help', '--json'])).stdout), known = table.verbs.map(({ name }) => name);
  const absent = [];
  for (const words of ['render biped.glb -o x.png', 'view', 'bench blend', 'demo', 'reproduce', 'farm jobs.json -o out']) {
    const { status, stderr } = await runCommand(module, words.split(' '));
    if (status !== 1 || stderr.split('\n').length !== 2 || !/not in this build/.test(stderr)) absent.push(`${words}: ${status} ${stderr}`);
  }
  say('verbs that the page has not say so in one line', absent.join('; '));
  const untried = known.filter((verb) => !verbs.has(verb) && !['render', 'view', 'bench', 'demo', 'reproduce', 'farm', 'devices', 'help', 'version'].includes(verb));
  say('every verb of the command was tried', known.length > 15 && untried.length === 0 ? '' : `not ${untried} of ${known.length}`);
}

// Methods ---------------------------------------------------------------------------------------------------------------------------

const TOLERANCE = 2e-6; // of the diagonal: fast mode
const FRAMES = [0, 4, 11], LAST = 11, RATE = 10;
const BODIES = [['biped', ['bend', 'walk']], ['quadruped', ['twist']], ['cylinder', ['twist']], ['arm', ['bend']]];

function diagonal({ rest }) {
  const min = [Infinity, Infinity, Infinity], max = min.map((x) => -x);
  rest.forEach((x, i) => { min[i % 3] = Math.min(min[i % 3], x); max[i % 3] = Math.max(max[i % 3], x); });
  return Math.hypot(...max.map((x, c) => x - min[c]));
}

/** Frames of the engine against the command's: largest distance over the diagonal, and how many numbers differ in bits. */
function compare(engine, body, choice, clip, wanted) {
  const count = 3 * body.vertexCount, places = { positions: engine.allocate(4 * count), normals: engine.allocate(4 * count) }, size = diagonal(body);
  let worst = 0, bits = 0;
  for (const frame of FRAMES) {
    body.sample(clip, Math.fround(frame / RATE));
    body.deform(choice, places.positions, places.normals);
    for (const what of Object.keys(wanted)) {
      const address = places[what], values = engine.floats(address, count), words = new Uint32Array(engine.memory.buffer, address, count);
      const reference = wanted[what].values.subarray(frame * count, (frame + 1) * count), theirs = new Uint32Array(reference.buffer, reference.byteOffset, count);
      for (let i = 0; i < count; i++) {
        if (words[i] !== theirs[i]) bits++;
        if (what === 'positions') worst = Math.max(worst, Math.abs(values[i] - reference[i]) / size);
      }
    }
  }
  for (const address of Object.values(places)) engine.free(address);
  return { worst, bits };
}

function checkMethods(engine) {
  let runs = 0, farthest = 0;
  for (const [name, clips] of BODIES) {
    const file = name === 'biped' ? small() : character(name), far = [], bits = [];
    engine.files.set('body.glb', readFileSync(file));
    const body = new Character(engine, engine.open('body.glb'));
    for (const clip of clips) {
      const index = body.description.clips.findIndex((each) => each.name === clip);
      for (const method of engine.methods.filter((each) => engine.offers(each, body.description))) {
        const paths = { positions: join(folder, 'p.npy'), normals: join(folder, 'n.npy') };
        const patches = method.id === 'patches'; // on the model's triangles, and the command has no normals of them
        execFileSync(command, ['deform', file, '--clip', clip, '--method', method.id.replace('-weighted', ''), ...(method.weighted ? ['--weighted'] : []), '--frames', `0:${LAST + 1}`,
          '--fps', String(RATE), ...(patches ? ['--fixed'] : ['--normals', paths.normals]), '-o', paths.positions, '-q']);
        const wanted = { positions: readNpy(paths.positions), ...(patches ? {} : { normals: readNpy(paths.normals) }) };
        const fast = compare(engine, body, { ...method, exact: false }, index, wanted), exact = compare(engine, body, { ...method, exact: true }, index, wanted);
        runs++;
        farthest = Math.max(farthest, fast.worst);
        if (!(fast.worst <= TOLERANCE)) far.push(`${method.id} ${clip} ${fast.worst}`);
        if (exact.bits) bits.push(`${method.id} ${clip}: ${exact.bits} numbers differ, by ${exact.worst} at most`);
      }
    }
    say(`${name}: every method in exact mode has the command's bits, positions and normals`, bits.join('; '));
    say(`${name}: every method in fast mode is within 2e-6 of the diagonal of the command's positions`, far.join('; '));
    body.destroy();
  }
  console.log(`# ${runs} runs; in fast mode ${farthest.toExponential(1)} of the diagonal off at most`);
  const ours = engine.methods.map((each) => each.id).filter((id) => id !== 'sbs-weighted');
  const theirs = execFileSync(command, ['help', 'methods'], { encoding: 'utf8' }).split('\n').map((line) => /^ {2}([a-z-]+) {2,}/.exec(line)?.[1]).filter(Boolean);
  say('the page has the methods of the command', ours.length > 8 && ours.join() === theirs.join() ? '' : `${ours} and ${theirs}`);
}

function checkSize() {
  const files = readdirSync(studio).filter((name) => statSync(join(studio, name)).isFile()), sizes = files.map((name) => gzipSync(readFileSync(join(studio, name)), { level: 9 }).length);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  console.log(`# compressed: ${(total / 1e6).toFixed(2)} MB (${files.map((name, i) => `${name} ${(sizes[i] / 1e6).toFixed(2)}`).join(', ')})`);
  say('the page without models is at most 2.5 MB compressed', files.includes('engine.wasm') && total <= 2.5e6 ? '' : `${total} bytes`);
}

function checkSpeed(engine) {
  engine.files.set('high.glb', readFileSync(character('biped-high')));
  const body = new Character(engine, engine.open('high.glb')), [positions, normals] = [0, 1].map(() => engine.allocate(12 * body.vertexCount)), lbs = engine.methods.find(({ id }) => id === 'lbs');
  const least = (lit) => Math.min(...Array.from({ length: 300 }, () => body.deform(lbs, positions, lit))); // others may use the machine
  body.sample(0, 0.3);
  const bare = least(0);
  console.log(`# ${body.vertexCount} vertices, LBS, fast: ${bare.toFixed(3)} ms a frame, with normals ${least(normals).toFixed(3)}`);
  say('positions of 46036 vertices by LBS take at most 0.5 ms a frame', body.vertexCount === 46036 && bare <= 0.5 ? '' : `${body.vertexCount} take ${bare} ms`);
  engine.free(positions);
  engine.free(normals);
  body.destroy();
}

// Files -----------------------------------------------------------------------------------------------------------------------------

const jsonOf = (glb) => JSON.parse(Buffer.from(glb.subarray(20, 20 + new DataView(glb.buffer, glb.byteOffset).getUint32(12, true))).toString());

function checkSaving(engine) {
  const source = readFileSync(join(seeds, 'everything.glb')), converted = join(folder, 'everything.glb');
  engine.files.set('a.glb', source);
  const body = new Character(engine, engine.open('a.glb'));
  engine.save(body.model, 'b.glb');
  execFileSync(command, ['convert', join(seeds, 'everything.glb'), '-o', converted, '-q']);
  say('a file that nothing was done to is saved as the command converts it', Buffer.compare(readFileSync(converted), engine.files.get('b.glb')) ? 'bytes differ' : '');
  const before = jsonOf(engine.files.get('b.glb')), turned = body.nodeCount - 1, [pose, other] = [0.5, 0.7].map((angle) => {
    body.reset();
    body.pose.set([0, Math.sin(angle), 0, Math.cos(angle)], 10 * turned + 3);
    return [...body.pose];
  });
  engine.save(body.model, 'c.glb', { clip: { name: 'mine', poses: pose } });
  const after = jsonOf(engine.files.get('c.glb')), changed = differences(engine.files.get('b.glb'), engine.files.get('c.glb'), { but: /animations|CUTIS_cage.*\d -> \d/ }); // whose accessors move up
  const added = after.animations?.length === (before.animations?.length ?? 0) + 1 && after.animations.at(-1).channels.length === 1;
  say('a clip is added and nothing else is changed', added ? changed.join('; ') : `the file has ${JSON.stringify(after.animations)}`);
  let refused = '';
  try { engine.save(body.model, 'x.glb', { clip: { name: 'short', poses: pose.slice(10) } }); } catch (error) { refused = error.message; }
  say('a pose of another skeleton is refused', /another skeleton/.test(refused) ? '' : refused || 'it is taken');
  const again = new Character(engine, engine.open('c.glb')), clip = again.description.clips.findIndex(({ name }) => name === 'mine');
  again.sample(clip, 0);
  const off = Math.max(...[...again.pose].map((x, i) => Math.abs(x - pose[i])));
  say('the clip plays the pose it was made of', off <= 1e-6 ? '' : `off by ${off}`);
  engine.save(again.model, 'd.glb', { clip: { name: 'mine', poses: other } });
  const replaced = new Character(engine, engine.open('d.glb'));
  replaced.sample(clip, 0);
  const near = Math.abs(replaced.pose[10 * turned + 4] - other[10 * turned + 4]) <= 1e-6;
  say('a clip takes the place of one of its name', near && replaced.description.clips.length === again.description.clips.length ? '' : JSON.stringify(replaced.description.clips));
  replaced.destroy();
  again.destroy();
  body.destroy();
  const looks = readFileSync(join(seeds, 'looks.gltf'));
  engine.files.set('looks.gltf', looks);
  const looked = engine.open('looks.gltf'), small = jsonOf(engine.materialsGlb(looked)), whole = JSON.parse(looks);
  say("a model's materials come as a small GLB of their own", JSON.stringify(small.materials) === JSON.stringify(whole.materials) && !small.meshes && !small.accessors ? '' : JSON.stringify(small));
  engine.destroy(looked);
  engine.files.clear();
}

function checkShape(engine) {
  engine.files.set('arm.glb', readFileSync(character('arm')));
  const arm = new Character(engine, engine.open('arm.glb')), count = 3 * arm.vertexCount, place = engine.allocate(4 * count), lbs = { ...engine.methods.find(({ id }) => id === 'lbs'), exact: true };
  arm.reset();
  arm.deform(lbs, place, 0);
  const wanted = engine.floats(place, count).map((x, i) => x * 1.1 + 0.02 * Math.sin(i));
  engine.floats(place, count).set(wanted);
  const shaped = engine.addShape(arm.model, 'bulge', place);
  engine.save(shaped, 'shaped.glb');
  const again = new Character(engine, engine.open('shaped.glb'));
  again.deform(lbs, place, 0);
  const off = engine.floats(place, count).reduce((most, x, i) => Math.max(most, Math.abs(x - wanted[i])), 0);
  say('a shape is saved as a morph target that makes it', off <= 1e-6 && again.description.meshes[0].targetNames.at(-1) === 'bulge' ? '' : `off by ${off}`);
  engine.free(place);
  engine.destroy(shaped);
  arm.destroy();
  again.destroy();
  engine.files.clear();
}

/** Seeds of every format, cut and damaged at places that a small generator gives. */
function damaged(count) {
  let state = 12345;
  const random = (below) => { state = (Math.imul(state, 1103515245) + 12345) >>> 0; return (state >>> 8) % below; };
  const models = readdirSync(seeds).filter((name) => /\.(gltf|glb|obj|ply|off|stl|bvh)$/.test(name)).sort(), out = [];
  for (let i = 0; i < count; i++) {
    const name = models[i % models.length], bytes = Buffer.from(readFileSync(join(seeds, name)));
    for (let k = 0; k <= i % 3; k++) bytes[random(bytes.length)] = random(256);
    out.push([`${String(i).padStart(3, '0')}-${name}`, i % 4 ? bytes : bytes.subarray(0, random(bytes.length))]);
  }
  return out;
}

async function checkHostile() {
  const files = damaged(300), twins = new Twins('hostile');
  for (const [name, bytes] of files) twins.put(`bad/${name}`, bytes);
  const { problems, stdout } = await twins.run('convert bad --to obj -o out'), failed = stdout.split('\n').filter((line) => line.startsWith('failed'));
  say('300 damaged files get the command\'s own lines, and what can be read comes out the same', problems || failed.length < 60 || failed.length > 280 ? `${failed.length} failed; ${problems.slice(0, 1500)}` : '');
  const engine = await Engine.create(module), other = [];
  for (const [name, bytes] of files) {
    const line = failed.find((each) => each.includes(`bad/${name}: `));
    let said = '';
    engine.files.clear();
    engine.files.set(`bad/${name}`, bytes);
    try { engine.destroy(engine.open(`bad/${name}`)); } catch (error) { if (!(error instanceof EngineError)) throw error; said = error.message; }
    if (said ? !line?.endsWith(said.slice(0, 300)) && !line?.includes(said.slice(0, 300)) : line) other.push(`${name}: "${said}", not "${line}"`);
  }
  say('opening them in the page says the same', other.slice(0, 3).join('; '));
  const held = [];
  for (let i = 0; i < 200; i++) {
    engine.files.set('c.glb', readFileSync(character('cylinder')));
    new Character(engine, engine.open('c.glb')).destroy();
    held.push(engine.memory.buffer.byteLength);
  }
  say('200 models opened and destroyed leave memory as the first few did', held[199] === held[9] ? '' : `${held[9]} bytes, then ${held[199]}`);
  const foreign = Buffer.from(JSON.stringify({
    asset: { version: '2.0' }, extensionsUsed: ['KHR_draco_mesh_compression'], extensionsRequired: ['KHR_draco_mesh_compression'], scenes: [{ nodes: [0] }], nodes: [{ mesh: 0 }],
    meshes: [{ primitives: [{ attributes: { POSITION: 0 }, indices: 1, extensions: { KHR_draco_mesh_compression: { bufferView: 0, attributes: { POSITION: 0 } } } }] }],
    accessors: [{ componentType: 5126, count: 3, type: 'VEC3', min: [0, 0, 0], max: [1, 1, 1] }, { componentType: 5125, count: 3, type: 'SCALAR' }],
    bufferViews: [{ buffer: 0, byteLength: 12 }], buffers: [{ byteLength: 12, uri: 'data:application/octet-stream;base64,RFJBQ08CAgEBAAAA' }],
  }));
  const draco = await runCommand(module, ['info', 'd.gltf'], [['d.gltf', foreign]]);
  say('Draco is refused with a line that names cutis convert', draco.status === 1 && /Draco.*cutis convert/.test(draco.stderr) && draco.stderr.split('\n').length === 2 ? '' : draco.stderr);
}

/** A module like the engine's whose main is `unreachable`. */
const trapping = () => {
  const text = (name) => [name.length, ...Buffer.from(name)], section = (id, ...body) => [id, body.length, ...body];
  const code = section(10, 3, 2, 0, 0x0b, 5, 0, 0x41, ...[0x80, 8], 0x0b, 3, 0, 0x00, 0x0b);
  return new WebAssembly.Module(Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(1, 3, 0x60, 0, 0, 0x60, 1, 0x7f, 1, 0x7f, 0x60, 2, 0x7f, 0x7f, 1, 0x7f), ...section(3, 3, 0, 1, 2), ...section(5, 1, 0, 1),
    ...section(7, 4, ...text('memory'), 2, 0, ...text('_initialize'), 0, 0, ...text('studio_allocate'), 0, 1, ...text('__main_argc_argv'), 0, 2), ...code]));
};

async function checkTraps() {
  const { status, stderr } = await runCommand(trapping(), ['rig', 'a.glb']);
  say('a trap is an error and a line', status === 1 && /^cutis: rig: the engine stopped: .*\n$/.test(stderr) ? '' : `${status} ${stderr}`);
  const engine = await Engine.create(module), model = engine.files.set('c.glb', readFileSync(character('cylinder'))) && engine.open('c.glb');
  let trapped = false;
  try { engine.call.cutis_model_triangles(model, 0xfffffff0); } catch (error) { trapped = error instanceof WebAssembly.RuntimeError; }
  const after = await runCommand(module, ['version']);
  say('a trap does not take the next command along', trapped && after.status === 0 ? '' : `trapped: ${trapped}; then ${after.status}`);
  const cancelled = await runCommand(module, ['reduce', 'c.glb', '-o', 'r.glb'], [['c.glb', readFileSync(character('cylinder'))]], () => false);
  say('a command that is told to stop stops, and leaves no file', cancelled.status === 1 && /stopped/.test(cancelled.stderr) && [...cancelled.files.keys()].join() === 'c.glb' ? '' : `${cancelled.status} ${cancelled.stderr} ${[...cancelled.files.keys()]}`);
}

/** Triangles in an order that makes few vertices twice: the same ones, in the same sense, part by part. */
function checkOrder(engine) {
  engine.files.set('b.glb', readFileSync(character('biped')));
  const body = new Character(engine, engine.open('b.glb')), old = body.indices.slice(), cut = 3 * Math.floor(old.length / 7), made = orderParts(old.slice(), [cut, 0, old.length - cut]);
  const told = (list) => Array.from({ length: list.length / 3 }, (_, t) => { const [a, b, c] = list.subarray(3 * t, 3 * t + 3); return (a < b && a < c ? [a, b, c] : b < c ? [b, c, a] : [c, a, b]).join(); }).sort().join(';');
  const twice = (list) => { const kept = []; let count = 0; for (const v of list) if (!kept.includes(v)) { count++; kept.push(v); if (kept.length > 32) kept.shift(); } return (3 * count) / list.length; }; // vertices a triangle, of which 32 are kept
  say('the order that triangles are drawn in leaves every one, in its part', [[0, cut], [cut, old.length]].every(([from, to]) => told(old.subarray(from, to)) === told(made.subarray(from, to))) ? '' : 'others');
  say('and makes at most 0.75 vertices a triangle, of which 0.5 are there', twice(made) <= 0.75 && twice(old) > 1 ? '' : `${twice(made).toFixed(3)}, before ${twice(old).toFixed(3)}`);
  say('a model without triangles has none', orderParts(new Uint32Array(0), []).length === 0 ? '' : 'some');
}

const parts = { order: checkOrder, verbs: checkVerbs, methods: checkMethods, size: checkSize, speed: checkSpeed, saving: checkSaving, shape: checkShape, hostile: checkHostile, traps: checkTraps };
const wanted = process.argv.slice(6);
for (const [name, check] of Object.entries(parts)) {
  if (wanted.length && !wanted.includes(name)) continue;
  const start = performance.now();
  await check(await Engine.create(module));
  console.log(`# ${name}: ${((performance.now() - start) / 1000).toFixed(1)} s`);
}
