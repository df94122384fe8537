// The page in Chromium: node browser.mjs CUTIS STUDIO FOLDER [--golden]. Every step of the studio as a user takes it; with
// --golden the reference pictures are made anew. Prints "ok NAME" and "not ok NAME: why".
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { BAD, GOOD, REPAIRABLE } from './bad_files.mjs';
import { launch } from './drive.mjs';
import { parse } from './gltf_compare.mjs';
import { readNpy } from './npy.mjs';
import { claims } from './say.mjs';
import { chooseJoint, drop, fingerprint, idle, invalid, onScreen, openBuiltIn, positions, sameBytes, saveGlb, seek, setExact, setMethod, tab, turnJoint } from './stage.mjs';
import { view } from './view.mjs';

const [command, , folder] = process.argv.slice(2), makeGolden = process.argv.includes('--golden');
const here = dirname(fileURLToPath(import.meta.url)), GOLDEN_LIMIT = 3 / 255;
const { say, note, end } = claims();

function commandPositions(model, words) {
  const file = join(folder, 'lbs.npy');
  execFileSync(command, ['deform', model, ...words, '-q', '-o', file]);
  return readNpy(file).values;
}

/** Drag the gizmo at a point of the scene: look around it for a part that takes hold, then pull. */
async function dragGizmo(page, point, by) {
  const [x, y] = await onScreen(page, point);
  for (let radius = 26; radius < 120; radius += 7) {
    for (let k = 0; k < 24; k++) {
      const at = [x + radius * Math.cos((k * Math.PI) / 12), y + radius * Math.sin((k * Math.PI) / 12)];
      await page.act([{ move: at }]);
      if (!(await page.state('s.viewport.gizmo.axis'))) continue;
      await page.drag(at, by, 4);
      await idle(page);
      return true;
    }
  }
  return false;
}

/** Mean absolute difference of two PNGs over all channels, 0..1, computed by the browser. */
function difference(page, a, b) {
  return page.evaluate(async ([first, second]) => {
    const pixels = async (text) => {
      const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], { type: 'image/png' }));
      const canvas = new OffscreenCanvas(image.width, image.height), context = canvas.getContext('2d');
      context.drawImage(image, 0, 0);
      return context.getImageData(0, 0, image.width, image.height);
    };
    const [p, q] = [await pixels(first), await pixels(second)];
    if (p.width !== q.width || p.height !== q.height) return 1;
    let sum = 0;
    for (let i = 0; i < p.data.length; i++) if (i % 4 !== 3) sum += Math.abs(p.data[i] - q.data[i]);
    return sum / (255 * 0.75 * p.data.length);
  }, [a.toString('base64'), b.toString('base64')]);
}

// The steps -------------------------------------------------------------------------------------

/** Other people's files: the page reads them as the command does. */
async function testAssets(page) {
  const assets = join(here, '../../../shared/data/gltf-sample-assets');
  if (!existsSync(assets)) { console.log('skip sample assets in the page: shared data: they are not there'); return; }
  await setExact(page, true);
  for (const name of ['Fox', 'CesiumMan', 'RecursiveSkeletons', 'MorphStressTest', 'InterpolationTest', 'SimpleSkin']) {
    const binary = join(assets, name, 'glTF-Binary', `${name}.glb`), single = join(assets, name, 'glTF', `${name}.gltf`), embedded = join(assets, name, 'glTF-Embedded', `${name}.gltf`);
    const path = [binary, single, embedded].find(existsSync);
    if (!path) { console.log(`skip ${name} in the page: shared data: not among the assets`); continue; }
    const parts = path === single ? readdirSync(dirname(path)).map((file) => [file, readFileSync(join(dirname(path), file))]) : [[path.split('/').at(-1), readFileSync(path)]];
    const message = await drop(page, parts, name), opened = (await page.state('s.source.name')) === name, animated = opened && (await page.state('s.info.description.clips.length')) > 0;
    if (opened && (await page.state('s.methods[0]')) !== 'lbs' && (await page.state('s.skinned'))) await setMethod(page, 0, 'lbs');
    if (animated) await seek(page, '0', 0.3);
    const wanted = commandPositions(path, animated ? ['--clip', '0', '--frames', '9:10'] : []);
    say(`${name} opens in the page and has the command's bits (LBS, exact)`, opened ? (sameBytes(await positions(page), wanted) ? '' : 'other bits') : message);
  }
  await setExact(page, false);
}

async function testClip(page) {
  await page.choose('#clip', 'walk');
  const before = await fingerprint(page);
  await page.click('#play');
  await page.until(() => window.studio.time > 0.15 && window.studio.frames.speed.frame.length > 2);
  say('play moves the character and the time', (await page.state('Array.from(s.viewport.sides[0].positions.array).reduce((h, x, i) => (h + x * ((i % 977) + 1)) % 1e9, 0)')) !== before ? '' : 'nothing moves');
  await page.until(() => /ms/.test(document.getElementById('speed-frame').textContent) && /[kMG]/.test(document.getElementById('speed-rate').textContent));
  say('frame time and vertices per second are shown', '');
  await page.click('#play');
  await idle(page);
  const still = await page.state('s.time');
  await idle(page);
  say('pause stops it', (await page.state('s.time')) === still && !(await page.state('s.playing')) ? '' : 'time goes on');
  await page.fill('#scrub', '0.5');
  await idle(page);
  say('scrubbing goes to the time', Math.abs((await page.state('s.time')) - 0.5) < 0.002 ? '' : `${await page.state('s.time')}`);
}

async function testMethods(page) {
  const seen = new Map();
  await seek(page, 'bend', 1.5);
  for (const id of ['lbs', 'dqs', 'sbs', 'sbs-weighted', 'cor', 'rigid']) {
    await setMethod(page, 0, id);
    seen.set(await fingerprint(page), id);
    const tag = await page.text('#tag-a'), name = await page.text(`.method[data-method="${id}"] > span`);
    if (!tag.includes(name)) say(`the stage names ${id}`, tag);
  }
  say('six methods give six shapes, and the stage names each', seen.size === 6 ? '' : `only ${[...seen.values()]}`);
  say('methods without a pose space are not offered', (await page.shown('.method[data-method="psd"]')) ? 'psd is shown' : '');
  await setMethod(page, 0, 'lbs');
}

async function testSplit(page) {
  await page.click('label:has(#split)');
  await setMethod(page, 1, 'rigid');
  const box = await page.box('#divider'), area = await page.box('#stage'), now = async () => Number(await page.evaluate(() => document.getElementById('divider').getAttribute('aria-valuenow')));
  const from = [box.x + box.width / 2, box.y + box.height / 2];
  await page.drag(from, [area.x + 0.3 * area.width - from[0], 40], 4);
  await idle(page);
  say('the divider follows the pointer', Math.abs((await now()) - 30) <= 1 ? '' : await now());
  await page.evaluate(() => document.getElementById('divider').focus());
  await page.key('ArrowRight');
  say('and the arrow keys', Math.abs((await now()) - 32) <= 1 ? '' : await now());
  say('A and B show different methods', (await fingerprint(page, 0)) !== (await fingerprint(page, 1)) ? '' : 'the same shape');
  say('volume and distance are measured', /%/.test(await page.text('#volume-b')) && /%/.test(await page.text('#distance-rms')) ? '' : 'no figures');
  await page.check('#paint input[value="error"]');
  await idle(page);
  say('showing errors has a legend with its unit and range', /Distance to rigid, %/.test(await page.text('#legend')) ? '' : await page.text('#legend'));
  await page.check('#paint input[value="none"]');
  await page.click('label:has(#split)');
  await idle(page);
}

async function testJoint(page) {
  await tab(page, 'pose');
  await chooseJoint(page, 'forearm_l');
  const before = await fingerprint(page), held = await dragGizmo(page, '[3, 7, 11].map((k) => s.frames.shown.world[12 * s.joint + k])', [30, 40]);
  const angles = await page.evaluate(() => [...document.querySelectorAll('#turns output')].map((each) => each.textContent));
  say('a ring of the gizmo turns the joint and the skin follows', held && (await fingerprint(page)) !== before && angles.some((text) => text !== '0°') ? '' : `held ${held}, ${angles}`);
  await page.click('#pose-reset');
  await idle(page);
  say('the pose can be dropped', (await fingerprint(page)) === before ? '' : 'it stays');
  await turnJoint(page, 2, 45);
  say('sliders turn it too', (await fingerprint(page)) !== before ? '' : 'nothing turned');
  await page.click('#undo');
  await idle(page);
  await page.clickAt(...await onScreen(page, '((n) => [3, 7, 11].map((k) => s.frames.shown.world[12 * n + k]))(s.joints.find((n) => s.info.description.nodes[n].name === "hand_r"))'));
  await idle(page);
  const name = await page.state('s.info.description.nodes[s.joint].name');
  say('a click on a joint selects it', name.startsWith('hand_r') ? '' : name);
  await tab(page, 'deform');
  await page.check('#paint input[value="weights"]');
  await idle(page);
  say('showing weights names the joint in its legend', /Weight of hand_r/.test(await page.text('#legend')) ? '' : await page.text('#legend'));
  await page.check('#paint input[value="none"]');
}

async function testInfluences(page) {
  await seek(page, 'bend', 1.5);
  await tab(page, 'weights');
  const normalError = async () => { await idle(page); return Number((await page.text('#error-normal-rms')).replace('°', '')); };
  await page.fill('#influences', '2');
  const largest = await normalError();
  await page.check('#reduction input[value="optimised"]');
  await page.until(() => document.getElementById('busy').hidden && window.studio.state.optimised);
  const optimised = await normalError();
  say('optimised weights have smaller errors of normals than the largest ones', optimised < largest ? '' : `${optimised} against ${largest} degrees`);
  const { bytes, name } = await saveGlb(page);
  say('the saved GLB with two influences is valid (Khronos)', await invalid(bytes));
  const weights = parse(bytes), { attributes } = weights.json.meshes[0].primitives[0];
  say('it has one set of joints and all clips', name.endsWith('.glb') && attributes.JOINTS_1 === undefined && weights.json.animations.length >= 5 ? '' : `${Object.keys(attributes)}, ${weights.json.animations.length} clips`);
  await page.click('#undo');
}

async function testHandles(page) {
  await tab(page, 'handles');
  await page.until(() => window.studio.handles.length > 0);
  const before = await fingerprint(page), held = await dragGizmo(page, 's.handlePosition(s.handle)', [40, -30]);
  say('dragging a handle moves the shape', held && (await fingerprint(page)) !== before && (await page.state('Math.hypot(...s.handles[s.handle].move)')) > 0.01 ? '' : `held ${held}`);
  const { bytes } = await saveGlb(page, { handles: 'place' });
  say('the GLB with handles is valid (Khronos)', await invalid(bytes));
  await page.click('#handle-reset');
  await page.check('#handle-mode input[value="place"]');
  const rest = await page.state('s.handles[s.handle].rest.join()'), placed = await dragGizmo(page, 's.handlePosition(s.handle)', [20, -60]);
  say('dragging a handle over the shape moves where it is bound', placed && (await page.state('s.handles[s.handle].rest.join()')) !== rest ? '' : `held ${placed}`);
  await page.check('#handle-mode input[value="move"]');
  await tab(page, 'deform');
}

async function testExamples(page) {
  await openBuiltIn(page, 'arm');
  await tab(page, 'pose');
  await page.until(() => [...document.querySelectorAll('.example img')].filter((each) => each.src.startsWith('data:image/png') || each.src.startsWith('blob:')).length === 8);
  say('the arm has its eight examples with pictures', '');
  await page.click('.example:nth-child(3)');
  const shape = await fingerprint(page);
  await tab(page, 'deform');
  await setMethod(page, 0, 'lbs');
  say('an example pose has another shape under pose space than under linear blending', (await fingerprint(page)) !== shape ? '' : 'the same');
  const { bytes } = await saveGlb(page);
  say('the saved arm with its pose space is valid (Khronos)', await invalid(bytes));
  const picture = await page.download(() => page.click('#save-picture'));
  say('a picture is a PNG of the stage', picture.bytes.subarray(1, 4).toString() === 'PNG' && picture.bytes.length > 10_000 ? '' : `${picture.bytes.length} bytes`);
  const message = await drop(page, [['saved.glb', bytes]]);
  say('the saved file opens again, pose space and all', (await page.state('s.info.description.poseSpace?.poseCount')) === 8 ? message : 'no pose space');
}

/** A verb of the command's table, run on what is open. */
async function testTools(page) {
  await openBuiltIn(page, 'cylinder');
  const before = await page.state('[s.document.id, s.info.maxInfluences].join()');
  await tab(page, 'tools');
  const verbs = await page.evaluate(() => [...document.getElementById('verb').options].map((each) => each.value)), table = JSON.parse(execFileSync(command, ['help', '--json'])).verbs.map((each) => each.name);
  say('the tools are verbs of the command', verbs.length > 3 && verbs.includes('reduce') ? verbs.filter((each) => !table.includes(each)).join(', ') : `${verbs}`);
  await page.evaluate(() => window.studio.runVerb('reduce', ['--influences', '2']).then(() => true));
  await idle(page);
  say('a verb changes the model, and can be undone', (await page.state('s.info.maxInfluences')) <= 2 && (await page.state('s.unsaved')) ? '' : `${await page.state('s.info.maxInfluences')} influences; ${await page.text('#notice')}`);
  await page.click('#undo');
  await idle(page);
  say('undone the model is what it was', (await page.state('[s.document.id, s.info.maxInfluences].join()')) === before ? '' : 'another');
  await page.evaluate(() => window.studio.runVerb('reduce', ['--influences', '0']).then(() => true));
  say('what the command refuses is a message', (await page.shown('#notice')) && !(await page.state('s.unsaved')) ? '' : 'nothing is said');
  await tab(page, 'deform');
}

async function testBadFiles(page) {
  const problems = [];
  for (const [name, bytes, pattern] of BAD) {
    const before = await page.state('s.source.name'), text = await drop(page, [[name, bytes]]);
    if (!text.includes(name)) problems.push(`${name}: the message does not name it ("${text}")`);
    else if (!pattern.test(text)) problems.push(`${name}: "${text.replaceAll('\n', ' ')}"`);
    else if ((await page.state('s.source.name')) !== before) problems.push(`${name}: what was open is gone`);
    else if (await page.shown('#busy')) problems.push(`${name}: still busy`);
  }
  say(`${BAD.length} broken files: a message with name and reason each, and what was open stays`, problems.join(' | '));
  say('after them a good file opens', await drop(page, [['good.glb', GOOD]]));
  const text = await drop(page, [['repair.glb', REPAIRABLE]]);
  say('a file that can be put right opens, and the message says what was wrong', (await page.state('s.source.name')) === 'repair' && text ? '' : text || 'no message');
}

async function testAccess(page) {
  const reached = new Set();
  await page.evaluate(() => document.activeElement?.blur());
  for (let i = 0; i < 44; i++) {
    await page.key('Tab');
    reached.add(await page.evaluate(() => document.activeElement?.id || document.activeElement?.name || ''));
  }
  const wanted = ['character', 'open', 'save-picture', 'save-glb', 'theme', 'canvas', 'tool-home', 'play', 'scrub', 'tab-deform', 'method-0', 'exact'];
  say('Tab reaches every control', wanted.filter((id) => !reached.has(id)).join(', '));
  await page.evaluate(() => document.getElementById('canvas').focus());
  const from = await page.state('s.viewport.camera.position.x');
  await page.key('ArrowRight');
  say('arrow keys turn the view', (await page.state('s.viewport.camera.position.x')) !== from ? '' : 'it stays');
  await page.key('b');
  say('B splits the view', (await page.state('s.state.split')) ? '' : 'no');
  await page.key('b');
}

/** A crowd made by the jobs worker. */
async function testCrowd(page) {
  await openBuiltIn(page, 'crowd');
  say('a crowd is made in the worker and shown', (await page.state('s.info.instances.length')) === 8 ? '' : `${await page.state('s.info.instances.length')} bodies`);
}

async function testPolicy(page) {
  const before = page.complaints.length, refused = await page.evaluate(async () => {
    document.head.append(Object.assign(document.createElement('script'), { textContent: 'window.inlineRan = true' }));
    const reached = await fetch('https://example.com/').then(() => true, () => false);
    return !window.inlineRan && !reached;
  });
  say('the policy refuses scripts in the page and requests to elsewhere', refused ? '' : 'inline or foreign');
  page.complaints.length = before; // those two refusals
}

/** The look: fixed states, compared with pictures that a person has looked at. */
async function testLook() {
  const shots = [
    { name: 'deform-1440-light', width: 1440, height: 900, scheme: 'light', act: "s.edit({ split: true, methods: ['lbs', 'rigid'], show: 'error' }); s.setClip(2); s.seek(1.5);" },
    { name: 'pose-1024-dark', width: 1024, height: 768, scheme: 'dark', open: 'arm', tab: 'pose', act: 's.applyExample(2);' },
    { name: 'weights-390-light', width: 390, height: 844, scheme: 'light', tab: 'weights', act: "s.edit({ show: 'weights', influences: 3 });" },
  ];
  const shown = await browser.open(base, { width: shots[0].width, height: shots[0].height, motion: 'reduce' }); // one page for all, drawn well when its picture is taken
  await shown.ready();
  await shown.evaluate(() => document.fonts.ready.then(() => true));
  for (const shot of shots) {
    await shown.page.emulateMedia({ colorScheme: shot.scheme });
    await shown.resize(shot.width, shot.height);
    await shown.evaluate(() => { const s = window.studio; s.viewport.setLow(2); s.edit({ split: false, show: 'none', methods: ['lbs', 'sbs-weighted', 'dqs', 'sbs'] }); s.saved = s.state; });
    if (shot !== shots[0]) await openBuiltIn(shown, shot.open ?? 'biped');
    await tab(shown, shot.tab ?? 'deform');
    await shown.evaluate(`() => { const s = window.studio; ${shot.act} document.getElementById('speed').hidden = true; }`);
    await idle(shown);
    await shown.evaluate(() => { window.studio.viewport.setLow(0); });
    await idle(shown);
    const taken = await shown.screenshot(), file = join(here, 'golden', `${shot.name}.png`);
    writeFileSync(join(folder, `${shot.name}.png`), taken);
    if (makeGolden) { mkdirSync(dirname(file), { recursive: true }); writeFileSync(file, taken); }
    const far = existsSync(file) ? await difference(shown, taken, readFileSync(file)) : 1;
    say(`the page looks as it did: ${shot.name}`, far <= GOLDEN_LIMIT ? '' : `mean difference ${(255 * far).toFixed(2)} of 255`);
  }
  await shown.close();
}

// All of it -------------------------------------------------------------------------------------

const model = join(folder, 'opened.glb');
execFileSync(command, ['synth', 'biped', '--vertices', '3000', '-q', '-o', model]);
const server = view(command, [model]), address = await server.address, base = address.split('#')[0], origin = new URL(base).origin;
const browser = await launch('chromium', folder), wanted = new RegExp(process.argv.slice(5).find((word) => !word.startsWith('--')) ?? '.');
let page;
try {
  page = await browser.open(address);
  await page.ready();
  for (const step of [testClip, testAccess, testMethods, testSplit, testJoint, testInfluences, testHandles, testExamples, testTools, testBadFiles, testAssets, testCrowd, testPolicy].filter((each) => wanted.test(each.name))) {
    await step(page);
    note(step.name);
  }
  if (wanted.test('testLook')) await testLook();
  note('look');
  say('no errors or warnings on the console', page.complaints.slice(0, 3).join(' | '));
  const foreign = page.requests.filter((url) => !url.startsWith(`${origin}/`) && !/^(blob|data):|^https:\/\/example\.com\//.test(url));
  say('no request to another origin', foreign.slice(0, 3).join(' '));
} catch (error) {
  say('the steps ran to their end', error.message.split('\n')[0] + (page?.complaints.length ? ` (console: ${page.complaints[0]})` : ''));
} finally {
  await browser.close();
  await server.stop();
}
end();
