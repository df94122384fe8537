// The journey, as someone with a scan goes it: node journey.mjs CUTIS STUDIO FOLDER chromium|firefox [SHARED]. Drop, rig, drag a
// joint, walk, paint, compare, reduce, bake, save, reopen; what is saved against what the command makes of the same steps.
// CUTIS_SOAK=1: also a beast, a bird, a bear, MakeHuman, spot and the barbarian; bodies of 6000 vertices in place of 2000; and the bake,
// which is half of the time, in Firefox too (the engine is the same bytes in both).
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { launch, pause } from './drive.mjs';
import { differences, parse } from './gltf_compare.mjs';
import { sheetObj } from './made_files.mjs';
import { claims } from './say.mjs';
import { drop, fingerprint, idle, invalid, onScreen, saveGlb, setMethod, tab } from './stage.mjs';
import { view } from './view.mjs';

const [command, studio, folder, name, shared] = process.argv.slice(2), soak = !!process.env.CUTIS_SOAK;
const { say, note, end } = claims(`${name}: `);
const cutis = (...words) => execFileSync(command, words, { stdio: ['ignore', 'pipe', 'pipe'] });
const LONG = 600_000; // milliseconds: a busy machine
const GOAL = 10_000, FIVE = 5; // milliseconds and clicks from the drop to a body that walks
const SIZE = soak ? 6000 : 2000, MANY = 8; // vertices; influences of automatic weights, before they are reduced
const WALKS = soak ? GOAL : name === 'firefox' ? 3500 : 7000; // of all processors, which other work on the machine makes a third more at most; small bodies take 1600 and 3000 to 4000
const quietly = () => loadavg()[0] < cpus().length; // then on the clock too
const bakes = soak || name === 'chromium';
const since = (before, after) => [...after].reduce((sum, [thread, time]) => sum + time - (before.get(thread) ?? 0), 0);
const quiet = (page) => page.until(() => document.getElementById('busy').hidden && !window.studio.panels.joints.drag && !window.studio.panels.working, null, LONG).then(() => idle(page));

/** A body of the family as a scan: a file of triangles alone. */
function scan(kind, seed, vertices) {
  const path = join(folder, `${kind}.glb`);
  cutis('synth', 'family', '--kind', kind, '--seed', String(seed), '--vertices', String(vertices), '--unrigged', '-q', '-o', path);
  return path;
}
/** Triangles alone of somebody's model. */
function bare(from, to, group = null) {
  const path = join(folder, to);
  if (!group) {
    cutis('convert', from, '-q', '-o', path);
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^(mtllib|usemtl) .*\n/gm, '')); // the library is not dropped with it
    return path;
  }
  const lines = [];
  let inside = false;
  for (const line of readFileSync(from, 'utf8').split('\n')) { if (line.startsWith('g ')) inside = line.trim() === `g ${group}`; else if (line.startsWith('v ') || (inside && line.startsWith('f '))) lines.push(line.replace(/\/\d*/g, '')); }
  writeFileSync(path, lines.join('\n'));
  return path;
}
function bodies() {
  const list = [{ what: 'a human', path: scan('human', 7, SIZE), motion: 'walk' }];
  if (!soak) return list;
  for (const [kind, seed] of [['quadruped', 3], ['bird', 2], ['bear', 2]]) list.push({ what: `a ${kind}`, path: scan(kind, seed, SIZE), motion: 'walk' });
  const real = [['MakeHuman', 'makehuman/makehuman/data/3dobjs/base.obj', 'makehuman.obj', 'body'], ['spot', 'spot-cc0/spot_triangulated.obj', 'spot.obj'], ['the barbarian', 'kaykit/Barbarian.glb', 'barbarian.obj']];
  for (const [what, path, to, group] of real) {
    const file = join(shared ?? '', 'data', path);
    if (shared && existsSync(file)) list.push({ what, path: bare(file, to, group), motion: 'walk' }); else console.log(`skip ${what}: shared data: ${file} is not there`);
  }
  return list;
}

/** What the command makes of a file by the page's own steps. */
function made(path, steps) {
  let last = path;
  steps.forEach(([verb, ...words], i) => {
    const next = join(folder, `step-${i}.glb`);
    try { cutis(verb, last, ...words.map((word) => (/^motions-(two|four)\.glb$/.test(word) ? join(studio, 'models', word) : word)), '-o', next); } catch (error) { if (!words.includes('--keep') || !existsSync(next)) throw error; }
    last = next;
  });
  return readFileSync(last);
}

/** @returns { clicks, seconds }: what it took from the drop */
async function rigs(page, { what, path }) {
  const bytes = readFileSync(path), began = await page.spent(), clock = Date.now(), said = await drop(page, [[path.split('/').at(-1), bytes]]);
  let clicks = 1;
  await tab(page, 'start'); // where one who drops a mesh is, and the next one of our bodies is not
  await page.click('#journey-rig');
  await page.until(() => window.studio.skinned || !document.getElementById('notice').hidden, null, LONG);
  if (await page.shown('#notice-actions')) { // its own check found something: taken as it is
    note(`${what}: ${await page.text('#notice-text')}`);
    await page.evaluate(() => { [...document.querySelectorAll('#notice-actions button')].at(-1).click(); });
    clicks++;
    await page.until(() => window.studio.skinned, null, LONG);
  }
  await quiet(page);
  say(`${what} is rigged by one button`, said || ((await page.state('s.skinned && s.joints.length > 3 && s.unsaved')) ? '' : await page.text('#notice')));
  return { clicks, began, clock };
}
async function walks(page, { what, motion }, { clicks, began, clock }) {
  await tab(page, 'start');
  await page.click(`#move-${motion}`);
  await page.until(() => window.studio.playing || !document.getElementById('notice').hidden, null, LONG);
  const moving = await page.state('s.playing'), shape = "Array.from(window.studio.viewport.sides[0].positions?.array ?? []).slice(0, 600).join()", first = await page.evaluate(`() => ${shape}`);
  await page.until(`(before) => { const now = ${shape}; return now && before && now !== before; }`, first || '1', 20_000).catch(() => {});
  const moved = (await page.evaluate(`() => ${shape}`)) !== first, took = Date.now() - clock, milliseconds = since(began, await page.spent());
  await page.evaluate(() => window.studio.setPlaying(false));
  await quiet(page);
  say(`${what} walks by one more`, moving && moved && (await page.state('s.clipInfo?.name')) === motion ? '' : await page.text('#notice'));
  note(`${what}: ${await page.state('s.info.vertexCount')} vertices, walking ${clicks + 1} clicks, ${(took / 1000).toFixed(1)} s and ${Math.round(milliseconds)} ms of all processors after the drop; load ${loadavg()[0].toFixed(1)}`);
  say(`${what} walks within ${WALKS / 1000} s of all processors and five clicks of the drop${quietly() ? `, and within ${GOAL / 1000} s` : ''}`, clicks + 1 <= FIVE && milliseconds <= WALKS && (took <= GOAL || !quietly()) ? '' : `${milliseconds} ms, ${took} ms on the clock, ${clicks + 1} clicks`);
}
/** A joint is dragged by its dot, its partner with it; the weights follow, and one undo takes it back. */
async function drags(page, { what }) {
  await tab(page, 'joints');
  const joint = await page.state('s.panels.joints.name(s.joint)'), before = await page.state('s.panels.joints.place(s.joint)'), weights = 's.stage.call("frame", { ...s.frames.request(0), show: { kind: "weights", node: s.joint }, spare: [] }).then(({ transfer }) => transfer.colors ? Array.from(transfer.colors).reduce((h, x, i) => (h + x * ((i % 977) + 1)) % 1e9, 0) : 0)';
  const painted = await page.state(weights), at = await page.state('s.history.at');
  await page.drag(await onScreen(page, 's.panels.joints.place(s.joint)'), [18, 12], 4);
  await quiet(page);
  const after = await page.state('s.panels.joints.place(s.joint)'), far = Math.hypot(...after.map((x, c) => x - before[c]));
  say(`${what}: ${joint} is dragged, and its weights follow`, far > 0.003 && (await page.state(weights)) !== painted ? '' : `it went ${far}: ${await page.text('#notice')}`);
  say(`${what}: the drag is one step`, (await page.state('s.history.at')) === at + 1 ? '' : `${await page.state('s.history.at')} after ${at}`);
  await page.click('#undo');
  await quiet(page);
  const back = await page.state('s.panels.joints.place(s.joint)');
  say(`${what}: undone it is where it was`, back.every((x, c) => Math.abs(x - before[c]) < 1e-6) ? '' : back.join());
  await page.click('#redo');
  await quiet(page);
}
async function paints(page, { what }) {
  await tab(page, 'weights');
  await page.click('label:has(#brush-on)');
  await idle(page);
  const from = await page.evaluate(() => { // where skin is, as near to the middle as there is
    const { x, y, width, height } = document.getElementById('canvas').getBoundingClientRect(), places = Array.from({ length: 21 * 21 }, (_, i) => [x + (width * (1 + (i % 21))) / 22, y + (height * (1 + Math.floor(i / 21))) / 22]), far = ([a, b]) => Math.hypot(a - x - width / 2, b - y - height / 2);
    return places.sort((a, b) => far(a) - far(b)).find(([clientX, clientY]) => [0, 6].every((by) => window.studio.viewport.surfacePoint({ clientX: clientX + by, clientY: clientY + by / 2 })));
  });
  await page.act([{ move: [from[0] - 2, from[1]] }, { move: from }]);
  await idle(page);
  await page.drag(from, [12, 6], 5);
  await page.until(() => window.studio.state.strokes.length > 0, null, 20_000).catch(() => {});
  say(`${what}: a stroke of the brush changes weights`, (await page.state('s.state.strokes.length')) === 1 ? '' : `${await page.state('s.state.strokes.length')} strokes`);
  await page.click('label:has(#brush-on)');
  await page.click('#undo');
  await quiet(page);
}
/** Automatic weights of many influences, by the form of the tools; then four that deform as they did. */
async function reduces(page, { what }) {
  await tab(page, 'tools');
  await page.until(() => document.getElementById('verb').options.length > 0, null, LONG);
  await page.choose('#verb', 'handles');
  await page.evaluate(() => { const box = document.querySelector('#verb-form [name="skeleton"]'); if (!box.checked) box.click(); });
  await page.fill('#verb-form [name="influences"]', MANY);
  await page.click('#verb-run');
  await quiet(page);
  const many = await page.state('s.info.maxInfluences');
  await tab(page, 'start');
  await page.click('#journey-reduce');
  await quiet(page);
  say(`${what}: ${many} influences are reduced to four that deform alike`, many > 4 && (await page.state('s.state.influences')) === 4 && (await page.state('s.state.optimised?.info.maxInfluences')) === 4 ? '' : `${many} influences: ${await page.text('#notice')}`);
}
async function testJourney(page, body) {
  const { what, path } = body;
  await walks(page, body, await rigs(page, body));
  await drags(page, body);
  await paints(page, body);
  await tab(page, 'start');
  await page.click('#journey-compare');
  await idle(page);
  say(`${what}: methods are compared`, (await page.state('s.state.split')) && (await fingerprint(page, 0)) !== (await fingerprint(page, 1)) ? '' : 'one shape');
  note(`${what}: to the comparison`);
  await reduces(page, body);
  note(`${what}: to the reduction`);
  if (bakes) {
    await tab(page, 'deform');
    await setMethod(page, 1, 'dqs'); // the quickest that is baked
    await tab(page, 'start');
    await page.click('#journey-bake');
    await quiet(page);
    say(`${what}: it is baked`, (await page.state("s.document.made.includes('bake')")) ? '' : await page.text('#notice'));
    note(`${what}: to the bake`);
  }
  const steps = await page.state('(s.state.optimised ?? s.document).steps'), verbs = steps.map(([verb]) => verb).join(' '), { bytes } = await saveGlb(page, { name: 'journey.glb' });
  say(`${what}: the saved file is valid (Khronos)`, await invalid(bytes));
  say(`${what}: it is what the command makes of the same steps, ${verbs}`, (bakes ? /^rig retarget joints handles reduce bake$/ : /^rig retarget joints handles reduce$/).test(verbs) ? differences(made(path, steps), bytes).slice(0, 3).join(' | ') : 'not the steps that were taken');
  const lines = await page.evaluate(() => document.getElementById('journey-commands').textContent);
  say(`${what}: the steps are told for a terminal`, lines.split('\n').length === steps.length && /^cutis rig .* -o /.test(lines) ? '' : lines);
  const joints = await page.state('s.joints.length'), message = await drop(page, [['journey.glb', bytes]]);
  say(`${what}: reopened it has its joints and walks`, message || ((await page.state('s.joints.length')) === joints && (await page.state("s.info.description.clips.some(({ name }) => name === 'walk')")) ? '' : `${await page.state('s.joints.length')} of ${joints} joints`));
  say(`${what}: four influences at most`, (await page.state('s.info.maxInfluences')) <= 4 && parse(bytes).json.meshes.every(({ primitives }) => primitives.every(({ attributes }) => attributes.JOINTS_1 === undefined)) ? '' : 'more');
}
/** Added, renamed, removed, mirrored; both sides at once. */
async function testJoints(page) {
  await rigs(page, { what: 'the human, again', path: scan('human', 7, 2000) });
  await tab(page, 'joints');
  const names = () => page.state('s.joints.map((node) => s.panels.joints.name(node))'), count = (await names()).length;
  await page.choose('#joints-list', 'hand_l');
  await page.click('#joints-add');
  await quiet(page);
  say('a joint is added on both sides', (await names()).length === count + 2 && (await names()).includes('hand_2_r') ? '' : (await names()).join());
  await page.fill('#joints-name', 'claw_l');
  await quiet(page);
  say('and renamed', (await names()).includes('claw_l') && !(await names()).includes('hand_2_l') ? '' : (await names()).join());
  await page.click('#undo');
  await quiet(page);
  await page.choose('#joints-list', 'hand_2_l');
  await page.click('#joints-remove');
  await quiet(page);
  say('removed on both sides', (await names()).length === count ? '' : (await names()).join());
  await page.evaluate(() => { const box = document.getElementById('joints-mirror'); if (box.checked) box.click(); });
  await page.choose('#joints-list', 'forearm_l');
  const pair = () => page.state("['forearm_l', 'forearm_r'].map((name) => s.panels.joints.place(s.joints.find((node) => s.panels.joints.name(node) === name)))");
  const [, right] = await pair();
  await page.drag(await onScreen(page, 's.panels.joints.place(s.joint)'), [16, 10], 3);
  await quiet(page);
  const [, still] = await pair();
  await page.click('#joints-flip');
  await quiet(page);
  const [left, mirrored] = await pair(), away = (a, b) => Math.hypot(...a.map((x, c) => x - b[c]));
  const [a, b] = await page.state("['thigh_l', 'thigh_r'].map((name) => s.panels.joints.place(s.joints.find((node) => s.panels.joints.name(node) === name)))"), length = away(a, b), normal = a.map((x, c) => (x - b[c]) / length);
  const high = left.reduce((sum, x, c) => sum + (x - (a[c] + b[c]) / 2) * normal[c], 0), wanted = left.map((x, c) => x - 2 * high * normal[c]); // by the thighs alone
  say('one side alone is dragged, then mirrored', away(still, right) < 1e-5 && away(mirrored, right) > 0.003 && away(mirrored, wanted) < 0.25 * high ? '' : JSON.stringify([left, right, still, mirrored, wanted]));
}
/** What cannot be rigged: words, and a place on the body. */
async function testRefused(page) {
  const points = [], faces = [], n = 16;
  for (let i = 0; i <= n; i++) for (let j = 0; j < 2 * n; j++) points.push([Math.sin((Math.PI * i) / n) * Math.cos((Math.PI * j) / n), 1 + Math.cos((Math.PI * i) / n), Math.sin((Math.PI * i) / n) * Math.sin((Math.PI * j) / n)]);
  for (let i = 0; i < n; i++) for (let j = 0; j < 2 * n; j++) { const a = 2 * n * i + j, b = 2 * n * i + ((j + 1) % (2 * n)); faces.push(`f ${a + 1} ${b + 1} ${b + 2 * n + 1} ${a + 2 * n + 1}`); }
  await drop(page, [['ball.obj', [...points.map((p) => `v ${p.join(' ')}`), ...faces].join('\n')]]);
  await tab(page, 'start');
  await page.choose('#rig-kind', 'human');
  await page.click('#journey-rig');
  await page.until(() => !document.getElementById('notice').hidden, null, LONG);
  await idle(page); // the pins are where the body was drawn
  const text = await page.text('#notice'), pin = await page.evaluate(() => { const b = document.querySelector('.pin b')?.getBoundingClientRect(), c = document.getElementById('canvas').getBoundingClientRect(); return b ? [(b.x + b.width / 2 - c.x) / c.width, (b.y + b.height / 2 - c.y) / c.height] : null; });
  say('a ball is no human: what is missing is said in words', /legs/.test(text) && !(await page.state('s.skinned')) ? '' : text);
  say('and shown low on the body, where legs would be', pin && Math.abs(pin[0] - 0.5) < 0.2 && pin[1] > 0.5 && pin[1] < 0.95 ? '' : JSON.stringify(pin));
  await page.click('#notice-close');
  await drop(page, [['cloth.obj', sheetObj(30)]]);
  await tab(page, 'start');
  await page.choose('#rig-kind', 'auto');
  await page.click('#journey-rig');
  await page.until(() => !document.getElementById('notice').hidden, null, LONG);
  await idle(page);
  const place = await page.state('s.panels.journey.pins[0]?.at');
  say('a sheet is no body: that is said, and shown in its middle', /sheet, not a body: 50 %/.test(await page.text('#notice')) && Math.hypot(place[0] - 0.48, place[2] - 0.48) < 0.05 ? '' : `${await page.text('#notice')} ${place}`);
  await page.click('#notice-close');
  say('closed, nothing is left of it', (await page.evaluate(() => document.querySelectorAll('.pin').length)) === 0 && !(await page.state('s.unsaved')) ? '' : 'a pin stays');
}
/** A cage is drawn, and a corner of it moved. */
async function draws(page) {
  await tab(page, 'handles');
  await page.click('#cage-draw');
  await page.until(() => !!window.studio.state.draft, null, LONG);
  await page.evaluate(() => { const { cages } = window.studio; cages.move(2, cages.place(2).map((x) => x + 0.125)); }); // not as it is drawn at first
  await quiet(page);
}
/** A scan that lies on its back, in centimetres: that is seen and offered; it is read so, rigged, and told for a terminal so. */
async function testUp(page) {
  cutis('convert', scan('human', 7, 2000), '-q', '-o', join(folder, 'upright.obj'));
  const path = join(folder, 'lying.obj');
  writeFileSync(path, readFileSync(join(folder, 'upright.obj'), 'utf8').split('\n').filter((line) => /^[vf] /.test(line)).map((line) => (line[0] === 'f' ? line.replace(/\/\S*/g, '') : line.replace(/^v (\S+) (\S+) (\S+)/, (_, x, y, z) => `v ${100 * x} ${-100 * z} ${100 * y}`))).join('\n'));
  const offered = await drop(page, [['lying.obj', readFileSync(path)]]), height = () => page.state('s.info.bounds.max[1] - s.info.bounds.min[1]'), lies = await height();
  say('a scan that lies, in centimetres, is seen to', /lying seems to lie and seems to be in centimetres/.test(offered) && /Stand it up: z is up/.test(offered) ? '' : offered);
  await page.click('#notice-actions button');
  await page.until((before) => Math.abs(window.studio.info.bounds.max[1] - window.studio.info.bounds.min[1] - before) > 1, lies, LONG).catch(() => {});
  await quiet(page);
  const stands = await height(), controls = await page.evaluate(() => [document.getElementById('body-up').value, document.getElementById('body-units').value].join());
  say('one button stands it up, as high as a person', stands > 1 && stands < 2.5 && controls === 'z,cm' && !(await page.shown('#notice')) ? '' : `${lies} and ${stands} high, ${controls}`);
  await draws(page);
  await reopens(page, 'lying', 'a cage on a body that was stood up', () => page.state('JSON.stringify([s.info.bounds.max.map((x) => x.toFixed(4)), s.document.options, s.state.draft])'));
  await tab(page, 'start');
  await page.click('#journey-rig');
  await page.until(() => window.studio.skinned || !document.getElementById('notice').hidden, null, LONG);
  await quiet(page);
  const steps = await page.state('s.document.steps'), { bytes } = await saveGlb(page, { name: 'stood.glb' });
  say('a scan that lies is stood up and rigged, as the command does it', differences(made(path, steps), bytes).slice(0, 3).join(' | '));
}
/** What has no legs cannot walk: that is said, with what it might be instead; so is a kind that hardly fits. */
async function testUnfit(page) {
  await rigs(page, { what: 'a fish', path: scan('fish', 3, 2000) });
  await tab(page, 'start');
  await page.click('#move-walk');
  await page.until(() => !document.getElementById('notice').hidden, null, LONG);
  const second = await page.state('s.document.rig.second');
  say('a fish cannot walk: in words, with the kind that it might be', /It cannot walk[^]*rigged as a fish[^]*two legs or four/.test(await page.text('#notice')) && (await page.text('#notice-actions')).includes(`Rig it as a ${second}`) === ['human', 'quadruped', 'bird', 'bear'].includes(second) ? '' : await page.text('#notice'));
  say('and what it can do instead is there, first in the step and in the message', /Pose it/.test(await page.text('#notice-actions')) && (await page.text('[data-step="move"] .primary')) === 'Pose it' ? '' : `${await page.text('#notice-actions')}; ${await page.text('[data-step="move"] .primary')}`);
  await page.click('#notice-close');
  const told = (deviation) => page.evaluate((far) => { const { journey } = window.studio.panels; window.studio.panels.closeNotice(); Object.defineProperty(window.studio, 'replace', { value: () => true, configurable: true }); journey.take(null, null, { kind: 'fish', joints: 9, deviation: far, second: 'bear' }); delete window.studio.replace; return document.getElementById('notice').hidden ? '' : document.getElementById('notice').innerText; }, deviation);
  say('a kind that hardly fits is asked about, one that fits is not', /Taken for a fish/.test(await told(0.99)) && (await told(0.64)) === '' ? '' : `${await told(0.99)}, ${await told(0.64)}`);
}
/** Kept, reloaded and opened again: what is asked for is as it was. */
async function reopens(page, called, what, asked) {
  const before = await asked();
  await page.evaluate(() => window.studio.panels.recovery.keep());
  await page.evaluate(() => { window.addEventListener('beforeunload', (event) => event.stopImmediatePropagation(), true); window.studio.saved = window.studio.state; });
  await page.reload();
  await page.ready(LONG, 'start');
  await page.until(() => !document.getElementById('notice').hidden, null, 20_000).catch(() => {});
  say(`a reload offers ${what} that was not saved`, (await page.text('#notice')).includes(`unsaved work: ${called}`) ? '' : await page.text('#notice'));
  await page.evaluate(() => document.querySelector('#notice-actions button')?.click());
  await page.until((name) => window.studio.source?.name === name && window.studio.unsaved && !window.studio.panels.working, called, 30_000).catch(() => {});
  await quiet(page);
  const after = await asked();
  say(`opened again ${what} is as it was, and still unsaved`, after === before && (await page.state('s.unsaved')) ? '' : `${after} after ${before}`);
}
/** A reload loses nothing: what testJoints made, and a cage that is being drawn. */
async function testRecovery(page) {
  await reopens(page, 'human', 'a rig', () => page.state('JSON.stringify([s.source.name, s.skinned, s.joints.map((node) => s.panels.joints.name(node)), s.document.steps])'));
  await draws(page);
  await reopens(page, 'human', 'a cage', () => page.state('JSON.stringify(s.state.draft)'));
  await page.evaluate(() => window.studio.panels.recovery.forget());
  await page.evaluate(() => { window.studio.saved = window.studio.state; });
  await pause(50);
  await page.reload();
  await page.ready(LONG, 'start');
  say('forgotten it is not offered', (await page.shown('#notice')) ? await page.text('#notice') : '');
}

const server = view(command, []), browser = await launch(name, folder), wanted = new RegExp(process.argv[7] ?? '.');
let page;
try {
  page = await browser.open(await server.address, { width: 1000, height: 700 });
  await page.ready(LONG, 'start');
  for (const body of bodies()) if (wanted.test(`testJourney ${body.what}`)) { await testJourney(page, body); note(body.what); }
  for (const step of [testJoints, testRecovery, testUp, testUnfit, testRefused]) if (wanted.test(step.name) && (name === 'chromium' || soak)) { await step(page); note(step.name); }
  say('no errors or warnings on the console', page.complaints.slice(0, 3).join(' | '));
} catch (error) {
  say('the steps ran to their end', `${error.message.split('\n')[0]}${page?.complaints.length ? ` (console: ${page.complaints[0]})` : ''}`);
} finally {
  await browser.close();
  await server.stop();
}
end();
