// Comparing, patches, cages, bars and drivers in the page: node compare.mjs CUTIS STUDIO FOLDER. Figures against the command.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as draft from '../../web/src/draft.js';
import { launch } from './drive.mjs';
import { parse } from './gltf_compare.mjs';
import { readNpy } from './npy.mjs';
import { claims } from './say.mjs';
import { chooseJoint, drop, fingerprint, idle, invalid, onScreen, openBuiltIn, positions, saveGlb, seek, setExact, setMethod, tab, turnJoint } from './stage.mjs';
import { view } from './view.mjs';

const [command, studio, folder] = process.argv.slice(2), { say, note, end } = claims();
const cutis = (...words) => execFileSync(command, words, { stdio: ['ignore', 'pipe', 'pipe'] }).toString();
const floats = (bytes) => new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength));
const apart = (a, b) => (a.length === b.length ? a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0) : Infinity);

/** Curves against the command's own figures, the worst frame, the layouts, the report. */
async function testCompare(page, model) {
  await drop(page, [['small.glb', readFileSync(model)]]);
  await tab(page, 'deform');
  await page.check('#split');
  await seek(page, 'bend', 0.5);
  await page.until(() => window.studio.compare.ready);
  const { frame, time } = await page.state('s.compare.worst'), series = await page.state('s.compare.series'), ids = await page.state('s.methods.slice(0, 2)');
  const fps = (series.count - 1) / (series.times.at(-1)), made = JSON.parse(cutis('compare', model, '--clip', 'bend', '--methods', ids.join(), '--fps', String(fps), '--json')), b = made.methods[1];
  const rms = Math.sqrt(series.errors.reduce((sum, [, e]) => sum + e * e, 0) / series.errors.length), volumes = series.volumes.map(([, v]) => v);
  say('the curve of error is the command’s: RMS, greatest distance, worst frame', Math.abs(rms - b.position_rms) < 1e-3 * b.position_rms && Math.abs(Math.max(...series.largest.map(([, e]) => e)) - b.position_max) < 1e-3 * b.position_max && Math.abs(frame - b.worst_frame) <= 1 ? '' : `${rms} ${b.position_rms} ${frame} ${b.worst_frame}`);
  say('so is the volume against rest', Math.abs(Math.min(...volumes) - b.volume_variation_min) < 2e-3 && Math.abs(Math.max(...volumes) - b.volume_variation_max) < 2e-3 ? '' : `${Math.min(...volumes)} ${b.volume_variation_min}`);
  await page.click('#worst');
  say('“Worst frame” goes there', Math.abs((await page.state('s.time')) - time) < 1e-6 ? '' : await page.state('s.time'));
  await idle(page);
  const plain = [floats(await positions(page, 0)), floats(await positions(page, 1))];
  await page.fill('#factor', 7);
  const large = floats(await positions(page, 0)), wanted = plain[0].map((a, i) => plain[1][i] + 7 * (a - plain[1][i]));
  say('a difference drawn seven times as large is that', apart(large, wanted) < 1e-5 && apart(large, plain[0]) > 1e-3 ? '' : apart(large, wanted));
  await page.fill('#factor', 1);
  await page.check('#layout input[value="side"]');
  await page.check('#bodies input[value="4"]');
  await idle(page);
  const shown = await page.evaluate(() => ['a', 'b', 'c', 'd'].map((side) => { const tag = document.getElementById(`tag-${side}`); return tag.checkVisibility() ? tag.getBoundingClientRect().x : -1; }));
  say('four whole bodies stand side by side, each with its name', shown.every((x) => x >= 0) && new Set(shown).size >= 2 && (await page.state('s.viewport.sides.filter((side) => side.positions).length')) === 4 ? '' : shown);
  const edge = await page.evaluate(() => { // what is drawn between bodies, and in the last column
    const { viewport } = window.studio, { renderer: { domElement: canvas } } = viewport, flat = Object.assign(document.createElement('canvas'), { width: canvas.width, height: canvas.height }).getContext('2d', { willReadFrequently: true });
    viewport.render();
    flat.drawImage(canvas, 0, 0);
    const at = (x, y) => [...flat.getImageData(x, y, 1, 1).data.subarray(0, 3)], [cell] = viewport.cells(), ratio = canvas.width / canvas.clientWidth, line = Math.round((cell.x + cell.width) * ratio) - 1;
    return [at(canvas.width - 1, 4), at(canvas.width - 6, 4), at(line, 4), at(line - 5, 4)];
  }), darker = (a, b) => b.some((x, c) => x - a[c] > 20);
  say('a line is between them, and none at the stage’s edge', darker(edge[2], edge[3]) && edge[2].every((x) => x > 60) && !darker(edge[0], edge[1]) ? '' : JSON.stringify(edge));
  const inks = () => page.evaluate(() => { const { width, height } = document.getElementById('curve-plot'), flat = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d', { willReadFrequently: true }); flat.drawImage(document.getElementById('curve-plot'), 0, 0); const { data } = flat.getImageData(0, 0, width, height), own = getComputedStyle(document.documentElement).getPropertyValue('--curve-d').trim().match(/\w\w/g).map((x) => parseInt(x, 16)); let count = 0; for (let i = 0; i < data.length; i += 4) if (data[i + 3] > 60 && own.every((x, c) => Math.abs(x - data[i + c]) < 12)) count++; return count; });
  let light = 0; // the curve of four is being measured
  for (let k = 0; k < 100 && (light = await inks()) <= 10; k++) await new Promise((done) => setTimeout(done, 100));
  await page.click('#theme');
  const dark = await inks();
  await page.click('#theme');
  say('curves are in the colours of the theme, at once when it changes', light > 10 && dark > 10 && (await inks()) > 10 ? '' : `${light}, ${dark} pixels of side D’s colour`);
  const { bytes, name } = await page.download(() => page.click('#compare-report')), text = bytes.toString();
  say('the report is one page with the figures, curves and pictures, and refers to nothing outside', name === 'small-compare.html' && /<table>/.test(text) && (text.match(/<svg/g) ?? []).length === 3 && (text.match(/src="data:image\/jpeg/g) ?? []).length === 2 && !/(src|href)="(?!data:)/.test(text) ? '' : text.slice(0, 300));
  await page.until(() => document.getElementById('busy').hidden);
  await page.check('#layout input[value="blink"]');
  await idle(page);
  await page.until(() => window.studio.viewport.split === 0);
  await page.until(() => window.studio.viewport.split === 1);
  say('blinking shows A and B in turn', '');
  await page.check('#layout input[value="wipe"]');
  await page.click('label:has(#split)');
  await idle(page);
}
async function testPatches(page, model) {
  await seek(page, 'bend', 1.5);
  await setExact(page, true);
  await setMethod(page, 0, 'patches');
  const out = join(folder, 'patches.npy');
  cutis('deform', model, '--clip', 'bend', '--frames', '45:46', '--method', 'patches', '--fixed', '-q', '-o', out);
  say('blending patches are a method, with the command’s bits', apart(floats(await positions(page)), floats(readNpy(out).values)) === 0 ? '' : apart(floats(await positions(page)), floats(readNpy(out).values)));
  await page.check('#paint input[value="parts"]');
  await idle(page);
  const colors = await page.state('new Set(Array.from({ length: s.info.vertexCount }, (_, v) => [...s.viewport.shared.paint.array.subarray(3 * v, 3 * v + 3)].map((x) => x.toFixed(3)).join())).size'), parts = parse(readFileSync(model)).json.meshes[0].extensions?.CUTIS_parts?.names?.length ?? 0;
  say('every part has a colour of its own', colors >= 10 && (!parts || colors <= parts + 1) ? '' : `${colors} colours, ${parts} parts`);
  await page.check('#paint input[value="none"]');
  await setMethod(page, 0, 'lbs');
  await setExact(page, false);
}
/** Patches with the triangles that they make, against the command's file of the same frame. */
async function testOwnPatches(page, model) {
  await tab(page, 'deform');
  await setMethod(page, 0, 'patches');
  await seek(page, 'bend', 1);
  await page.evaluate(() => window.studio.edit({ show: 'parts' }));
  await idle(page);
  const out = join(folder, 'patched.obj'), got = floats(await page.bytes('s.viewport.own.geometry.attributes.position.array')), colors = new Set((await page.state('Array.from(s.viewport.own.geometry.attributes.color.array)')).reduce((list, x, i, all) => (i % 9 ? list : [...list, all.slice(i, i + 3).map((y) => y.toFixed(3)).join()]), []));
  cutis('deform', model, '--method', 'patches', '--clip', 'bend', '--frames', '30:31', '-q', '-o', out);
  const lines = readFileSync(out, 'utf8').split('\n'), places = lines.filter((line) => line.startsWith('v ')).map((line) => line.split(/\s+/).slice(1, 4).map(Number)), triangles = lines.filter((line) => line.startsWith('f '));
  const middle = (list) => [0, 1, 2].map((c) => list.reduce((sum, p) => sum + p[c], 0) / list.length), theirs = middle(triangles.flatMap((line) => line.split(/\s+/).slice(1, 4).map((word) => places[parseInt(word, 10) - 1]))), ours = middle(Array.from({ length: got.length / 3 }, (_, i) => [...got.subarray(3 * i, 3 * i + 3)]));
  say('patches are drawn with the triangles that the command writes, parts and patches in their colours', got.length / 9 === triangles.length && Math.hypot(...ours.map((x, c) => x - theirs[c])) < 1e-4 && colors.size > 8 ? '' : `${got.length / 9} of ${triangles.length} triangles, ${colors.size} colours, middle ${ours} and ${theirs}`);
  const { bytes } = await page.download(() => page.click('#save-picture')), drawn = () => page.state('(() => { const { material } = s.viewport.own, { paintPlain, paintMaterial } = s.viewport.shared; return material === paintPlain ? "plain" : material === paintMaterial ? "fine" : "nothing"; })()');
  const materials = [await drawn()];
  for (const low of [0, 1]) { await page.evaluate((value) => { window.studio.viewport.setLow(value); }, low); materials.push(await drawn()); }
  say('they are in a picture that is saved, and drawn in either quality', bytes.length > 2000 && materials.join() === 'plain,fine,plain' ? '' : `${bytes.length} bytes, ${materials}`);
  await page.evaluate(() => window.studio.edit({ show: 'none', methods: window.studio.methods.map((id, i) => (i ? id : 'lbs')) }));
  await idle(page);
  say('and gone with another method', (await page.state('s.viewport.own')) === null ? '' : 'they stay');
}
async function testCage(page) {
  await tab(page, 'handles');
  const whole = floats(await positions(page)); // handles that nobody moved: at rest
  await page.fill('#cage-cells', 6);
  await page.click('#cage-make');
  await page.until(() => window.studio.cages.active && document.getElementById('busy').hidden);
  await idle(page);
  const controls = await page.state('s.cages.controls.length / 3'), start = floats(await positions(page));
  say('a cage is made around the body, and at rest the body is as it was', controls > 20 && apart(start, whole) < 1e-5 ? '' : `${controls} controls, off by ${apart(start, whole)}`);
  const place = await page.state('s.viewport.project(s.cages.place(s.cages.control = s.cages.controls.reduce((best, y, i) => (i % 3 === 1 && y > s.cages.controls[3 * best + 1] ? (i - 1) / 3 : best), 0)))'), box = await page.box('#canvas');
  await page.drag([box.x + place[0], box.y + place[1]], [40, -60], 5);
  await idle(page);
  const moved = floats(await positions(page)), distance = apart(moved, start);
  say('a corner of the cage is dragged, the body follows, and undo takes it back', distance > 0.004 && (await page.state('s.unsaved')) ? '' : distance);
  await page.key('Control+z');
  say('bit for bit', apart(floats(await positions(page)), start) === 0 ? '' : 'another shape');
  await page.key('Control+Shift+z');
  await idle(page);
  await page.click('#cage-keep');
  await page.until(() => document.getElementById('busy').hidden && window.studio.info.description.meshes[0].targetNames.includes('cage'));
  const { bytes } = await saveGlb(page, { name: 'caged.glb' });
  say('its shape is kept as a morph target in a valid file', await invalid(bytes));
}
/** What drawing does to a mesh: it stays a closed sphere (Euler), and splitting keeps its volume. */
function testDraft() {
  const volume = ({ places, triangles }) => triangles.reduce((sum, [a, b, c]) => { const [p, q, r] = [places[a], places[b], places[c]]; return sum + (p[0] * (q[1] * r[2] - q[2] * r[1]) - p[1] * (q[0] * r[2] - q[2] * r[0]) + p[2] * (q[0] * r[1] - q[1] * r[0])) / 6; }, 0);
  const box = draft.box([0, 0, 0], [1, 2, 1]), wrong = [], done = { split: 0, pull: 0, without: 0 };
  let mesh = box, seed = 1;
  const random = () => { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648; };
  if (Math.abs(volume(box) - 1.24 * 2.24 * 1.24) > 1e-9) wrong.push(`a box of ${volume(box)}`);
  for (let i = 0; i < 300; i++) {
    const from = [5 * random() - 2, 5 * random() - 2, 6], to = [random(), 2 * random(), random()], hit = draft.pick(mesh, from, to.map((x, c) => x - from[c])), what = ['split', 'pull', 'without'][Math.floor(3 * random())];
    const next = !hit ? null : what === 'without' ? draft.without(mesh, Math.floor(random() * mesh.places.length)) : draft[what](mesh, hit);
    if (!next) continue;
    const edges = new Set(next.triangles.flatMap((corners) => [0, 1, 2].map((k) => [corners[k], corners[(k + 1) % 3]].sort((a, b) => a - b).join()))).size;
    done[what]++;
    if (!draft.closed(next) || next.places.length - edges + next.triangles.length !== 2) wrong.push(`${what} ${i}: open`);
    if (what === 'split' && Math.abs(volume(next) - volume(mesh)) > 1e-9) wrong.push(`split ${i}: another volume`);
    mesh = next.places.length < 60 ? next : box;
  }
  say('cages that are drawn stay closed', Math.min(...Object.values(done)) < 30 ? JSON.stringify(done) : wrong.slice(0, 3).join(', '));
}
/** A cage drawn by hand: a box, corners put in, a face pulled out, a corner dragged; bound it moves the body. */
async function testDrawn(page, model) {
  testDraft();
  await drop(page, [['small.glb', readFileSync(model)]]);
  await tab(page, 'handles');
  await page.click('#cage-draw');
  await idle(page);
  const corners = () => page.state('s.state.draft?.places.length ?? 0'), box = await page.box('#canvas');
  const face = async () => { const [x, y] = await page.state('(() => { const { places, triangles } = s.state.draft, at = triangles.map((t) => [0, 1, 2].map((c) => t.reduce((sum, i) => sum + places[i][c] / 3, 0))); return s.viewport.project(at.reduce((best, each) => (each[2] > best[2] ? each : best))); })()'); return [box.x + x, box.y + y]; };
  const first = await corners();
  await page.check('#cage-draws input[value="split"]');
  await page.clickAt(...await face());
  await idle(page);
  const second = await corners();
  await page.check('#cage-draws input[value="pull"]');
  await page.clickAt(...await face());
  await idle(page);
  const third = await corners();
  say('a cage is drawn: a box, a corner more, a face pulled out', first === 8 && second === 9 && third > second + 2 ? '' : `${first}, ${second}, ${third} corners`);
  await page.click('#undo');
  await idle(page);
  const back = await corners();
  await page.check('#cage-draws input[value="drag"]');
  const shape = floats(await positions(page)), corner = await page.state('s.state.draft.places[6]');
  await page.drag(await onScreen(page, 's.state.draft.places[6]'), [30, -20], 4);
  await idle(page);
  const dragged = await page.state('s.state.draft.places[6]');
  say('undone it is as before; a corner is dragged, and the body stays', back === second && Math.hypot(...dragged.map((x, c) => x - corner[c])) > 0.01 && apart(floats(await positions(page)), shape) === 0 ? '' : `${back} corners, ${dragged} from ${corner}`);
  await page.click('#cage-bind');
  await page.until(() => (window.studio.cages.bound && document.getElementById('busy').hidden) || !document.getElementById('notice').hidden);
  await idle(page);
  const controls = await page.state('s.cages.controls.length / 3'), rest = floats(await positions(page));
  await page.state('(s.cages.move(6, s.cages.place(6).map((x) => x + 0.3)), 0)');
  await idle(page);
  say('bound it moves the body', controls === second && apart(floats(await positions(page)), rest) > 0.01 ? '' : `${controls} controls; ${await page.text('#notice')}`);
}
async function testBars(page, model) {
  await drop(page, [['small.glb', readFileSync(model)]]);
  await tab(page, 'handles');
  await page.click('#handle-bones');
  await idle(page);
  const bars = await page.state('s.handles.length'), start = await fingerprint(page);
  await page.state("(s.changeHandle(s.handles.findIndex(({ rest, to }) => rest[0] > 0.2 && to[0] > rest[0]), { turn: [0, 0, Math.SQRT1_2, Math.SQRT1_2] }), 0)");
  say('bars come from the bones, and turning one moves the shape', bars > 10 && (await page.state('s.handles.every(({ to }) => to)')) && (await fingerprint(page)) !== start ? '' : `${bars} bars; ${await page.text('#notice')}`);
  const at = await page.state('s.history.at');
  await page.check('#handle-grip input[value="rotate"]');
  await idle(page);
  say('the gizmo turns a handle', (await page.state('s.viewport.gizmo.mode')) === 'rotate' && (await page.state('s.history.at')) === at ? '' : 'not so');
  await page.check('#handle-grip input[value="translate"]');
}
/** Two bars in a cylinder, one of them turned about its own way by 160 degrees: what is between them collapses, unless virtual handles are rigid. */
async function testRigid(page) {
  await openBuiltIn(page, 'cylinder');
  await tab(page, 'handles');
  await page.state(`(() => { const { min, max } = s.info.bounds, long = [0, 1, 2].reduce((a, c) => (max[c] - min[c] > max[a] - min[a] ? c : a)), at = (t) => min.map((x, c) => (c === long ? x + t * (max[c] - x) : (x + max[c]) / 2)), half = (80 * Math.PI) / 180, turn = [0, 0, 0, Math.cos(half)]; turn[long] = Math.sin(half);
    s.edit({ handles: [{ rest: at(0.08), to: at(0.3), move: [0, 0, 0] }, { rest: at(0.7), to: at(0.92), move: [0, 0, 0], turn }] }); return 0; })()`);
  await idle(page);
  const lost = async () => Math.abs(Number.parseFloat((await page.evaluate(() => document.getElementById('volume-a').textContent)).replace('−', '-'))), linear = await lost();
  await page.click('label:has(#handle-rigid)');
  await idle(page);
  const rigid = await lost();
  say('rigid virtual handles keep the volume that linear ones lose', linear > 10 && rigid < 0.4 * linear && /rigid/.test(await page.text('#tag-a')) ? '' : `linear ${linear} %, rigid ${rigid} %`);
  await page.click('#handle-bind');
  await page.until(() => document.getElementById('busy').hidden && (window.studio.info.methods.includes('handles-rigid') || !document.getElementById('notice').hidden));
  await idle(page);
  say('bound they are a method of the model, and play', (await page.state("s.methods[0] === 'handles-rigid' && s.unsaved && !!s.frames.shown")) ? '' : await page.text('#notice'));
}
/** Helper joints of a baked file follow in a pose made by hand. */
async function testDrivers(page) {
  const baked = join(folder, 'baked.glb'), plain = join(folder, 'plain-arm.glb');
  cutis('synth', 'arm', '--vertices', '1000', '-q', '-o', plain);
  cutis('bake', plain, '--method', 'dqs', '--helpers', '1', '--drivers', '-q', '-o', baked);
  await drop(page, [['baked.glb', readFileSync(baked)]]);
  const drivers = await page.state('s.info.description.driverCount');
  if (!drivers) { say('drivers of a baked file play', 'the baked file has none'); return; }
  await seek(page, 'rest pose', 0);
  await tab(page, 'pose');
  const { json } = parse(readFileSync(baked)), { joints, drivers: [{ node: helper, inputs }] } = json.extensions.CUTIS_drivers, joint = json.nodes[joints[inputs[1]]].name;
  const local = () => page.state(`(() => { const node = s.info.description.nodes.findIndex(({ name }) => name === '${json.nodes[helper].name}'); return [...s.frames.shown.pose.slice(10 * node, 10 * node + 10)]; })()`), before = await local();
  await chooseJoint(page, joint);
  await turnJoint(page, 1, 80);
  const after = await local(), far = Math.max(...before.map((x, c) => Math.abs(x - after[c])));
  say('drivers of a baked file play: a helper follows a joint that is turned by hand, within its parent', far > 1e-3 ? '' : `${drivers} drivers, ${far}`);
  await drivenOverAClip(page, baked, joint);
  await drivenByAMotion(page, drivers);
}
const commandFrame = (path, ...words) => { const out = join(folder, 'frame.npy'); cutis('deform', path, ...words, '-q', '-o', out); return floats(readNpy(out).values); };
/** A clip has tracks of its helpers; over it a joint is turned by hand. The command computes all drivers of the pose that is saved. */
async function drivenOverAClip(page, baked, joint) {
  await tab(page, 'deform');
  await setExact(page, true);
  await page.evaluate(() => window.studio.resetPose());
  await seek(page, 'bend', 1.5);
  say('without a hand its clips play their own tracks', apart(floats(await positions(page)), commandFrame(baked, '--clip', 'bend', '--frames', '45:46')) === 0 ? '' : 'another shape');
  await tab(page, 'pose');
  await chooseJoint(page, joint);
  await turnJoint(page, 1, 70);
  const shown = floats(await positions(page)), { bytes } = await saveGlb(page, { name: 'held.glb' }), path = join(folder, 'held.glb'), clip = parse(bytes).json.animations.at(-1).name;
  writeFileSync(path, bytes);
  const driven = apart(shown, commandFrame(path, '--clip', clip, '--frames', '0:1', '--drivers', 'all')), tracks = apart(shown, commandFrame(path, '--clip', clip, '--frames', '0:1', '--drivers', 'off'));
  say('over a clip they follow the hand too, as the command drives that pose', driven < 1e-6 ? '' : `${driven} apart`);
  say('and the pose that is saved says so to players without drivers', tracks < 1e-6 ? '' : `${tracks} apart`);
  await tab(page, 'deform');
  await setExact(page, false);
}
/** A motion that is dropped on it moves its helpers. */
async function drivenByAMotion(page, drivers) {
  await page.evaluate(() => { window.studio.resetPose(); window.studio.saved = window.studio.state; });
  const before = await page.state('s.info.description.clips.length'), motion = join(folder, 'motion.glb');
  cutis('synth', 'arm', '--vertices', '1000', '-q', '-o', motion);
  await page.evaluate(() => window.studio.panels.selectTab('start'));
  await page.evaluate((text) => { const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0)); return window.studio.panels.journey.motionFile([new File([bytes], 'motion.glb')]); }, readFileSync(motion).toString('base64'));
  await page.evaluate(() => window.studio.setPlaying(false));
  await idle(page);
  const told = await page.state('s.info.description.clips.length');
  const far = await page.evaluate(async () => {
    const s = window.studio, helpers = s.info.description.nodes.flatMap((node, i) => (/helper/i.test(node.name ?? '') ? [i] : [])), rest = helpers.map((node) => s.info.description.nodes[node].rest);
    let most = 0;
    for (const part of [0.2, 0.4, 0.6, 0.8]) {
      s.seek(part * s.clipInfo.duration);
      await s.idle();
      helpers.forEach((node, i) => rest[i].forEach((x, c) => { most = Math.max(most, Math.abs(x - s.frames.shown.pose[10 * node + c])); }));
    }
    return most;
  });
  say('a motion that is dropped on it moves its helpers', told === before + 1 && far > 1e-3 ? '' : `${told} clips after ${before}, helpers ${far} from rest, ${drivers} drivers: ${await page.text('#notice')}`);
}
/** Shapes that are dropped are learned from. */
async function testFit(page) {
  cutis('synth', 'arm', '--examples', join(folder, 'sculpts'), '-q', '-o', join(folder, 'arm.glb'));
  await drop(page, [['arm.glb', readFileSync(join(folder, 'arm.glb'))]]);
  await seek(page, 'examples', 0);
  await page.evaluate(() => { document.getElementById('notice').hidden = true; });
  await page.drop([['examples.npy', readFileSync(join(folder, 'sculpts', 'examples.npy'))]]);
  await page.until(() => !document.getElementById('notice').hidden);
  await page.click('#notice-actions .button');
  await page.until(() => !!window.studio.info.description.poseSpace || (document.getElementById('busy').hidden && !document.getElementById('notice').hidden));
  say('shapes dropped on a rig are fitted to it', (await page.state('s.info.methods.includes("wpsd")')) ? '' : await page.text('#notice'));
}

const model = join(folder, 'small.glb');
cutis('synth', 'biped', '--vertices', '1500', '-q', '-o', model);
const server = view(command, []), browser = await launch('chromium', folder), wanted = new RegExp(process.argv[5] ?? '.');
let page;
try {
  page = await browser.open(await server.address);
  await page.ready();
  for (const step of [testCompare, testPatches, testOwnPatches, testCage, testDrawn, testBars, testRigid, testDrivers, testFit].filter((each) => wanted.test(each.name))) {
    if (step !== testCompare && !(await page.state('s.source.name === "small"'))) await drop(page, [['small.glb', readFileSync(model)]]);
    if (step === testPatches) await tab(page, 'deform');
    await step(page, model);
    note(step.name);
  }
  say('no errors or warnings on the console', page.complaints.slice(0, 3).join(' | '));
} catch (error) {
  say('the steps ran to their end', `${error.message.split('\n')[0]}${page?.complaints.length ? ` (console: ${page.complaints[0]})` : ''}`);
  if (process.env.SHOT && page) writeFileSync(process.env.SHOT, await page.screenshot());
} finally {
  await browser.close();
  await server.stop();
}
end();
