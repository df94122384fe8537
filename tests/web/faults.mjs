// Faults that users met, one test each: node faults.mjs CUTIS STUDIO FOLDER. Every one of them failed before its repair.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch, pause } from './drive.mjs';
import { differences, meaning, numbers, parse } from './gltf_compare.mjs';
import { glb, rich, sheetObj, withKtx2 } from './made_files.mjs';
import { claims } from './say.mjs';
import { chooseJoint, drop, fingerprint, idle, invalid, onScreen, openBuiltIn, saveGlb, seek, tab, turnJoint } from './stage.mjs';
import { view } from './view.mjs';

const [command, , folder] = process.argv.slice(2);
const { say, note, end } = claims();
const BVH = 'HIERARCHY\nROOT hips\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\nJOINT leg\n{\nOFFSET 0 -1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 -1 0\n}\n}\n}\nMOTION\nFrames: 3\nFrame Time: 0.5\n0 1 0 0 0 0 0 0 0\n0 1 0 0 0 0 0 30 0\n0 1 0 0 0 0 0 60 0\n';
const plain = join(folder, 'plain.glb');
execFileSync(command, ['synth', 'biped', '--vertices', '1500', '-q', '-o', plain]);
const source = rich(readFileSync(plain)), model = join(folder, 'rich.glb');
writeFileSync(model, source);
const browser = await launch('chromium', folder);

/** `cutis view` on a file, and a page of it. */
async function viewed(path, step, options) {
  const server = view(command, path ? [path] : []), page = await browser.open(await server.address, options);
  try { await page.ready(); await step(page); } finally { await page.close(); await server.stop(); }
}
const degrees = (a, b) => (360 / Math.PI) * Math.acos(Math.min(1, Math.abs(a.reduce((sum, x, i) => sum + x * b[i], 0))));
const camera = (page) => page.state('s.viewport.camera.position.toArray().concat(s.viewport.camera.quaternion.toArray()).map((x) => x.toFixed(4)).join()');

// Opening ---------------------------------------------------------------------------------------

async function testServedBvh() {
  const path = join(folder, 'walk.bvh');
  writeFileSync(path, BVH);
  await viewed(path, async (page) => {
    const joints = await page.state("s.info?.description.nodes.map((node) => node.name).join(' ')");
    say('cutis view walk.bvh shows the BVH, not the built-in biped', (await page.state('s.source?.name')) === 'walk' && /hips.*leg/.test(joints) ? '' : `${await page.state('s.source?.name')}: ${joints}; ${await page.text('#notice')}`);
    const lie = () => page.state('Array.from(s.frames.shown.world).join()'), before = await lie();
    await page.fill('#scrub', '0.8');
    await idle(page);
    say('its clip moves its joints, which are drawn', (await lie()) !== before && (await page.state('s.viewport.bones?.visible ?? s.viewport.overlay?.visible ?? s.showsBones')) ? '' : 'nothing moves');
    const shot = await page.screenshot();
    await page.key('k');
    await idle(page);
    say('the picture shows a skeleton', Buffer.compare(shot, await page.screenshot()) ? '' : 'nothing is drawn');
  });
}
async function testServedKtx2() {
  const path = join(folder, 'packed.glb');
  writeFileSync(path, withKtx2(readFileSync(plain)));
  await viewed(path, async (page) => {
    say('a file that needs KTX2 is open, and the page says what it cannot show', (await page.state('s.source?.name')) === 'packed' && /KTX2/.test(await page.text('#notice')) ? '' : `${await page.state('s.source?.name')}: "${await page.text('#notice')}"`);
  });
}
/** The server has it, the page cannot read it: what the page says stands, and nothing else is put in its place. */
async function testServedBroken() {
  const server = view(command, [model]), address = await server.address, page = await browser.open(address.replace(/open=.*/, 'open=missing.glb'));
  await page.ready();
  say('a model that cannot be had is a message, not the built-in biped', (await page.shown('#notice')) && /missing\.glb/.test(await page.text('#notice')) && (await page.state('s.source?.name ?? null')) !== 'biped' ? '' : `${await page.state('s.source?.name')}: "${await page.text('#notice')}"`);
  await page.close();
  await server.stop();
}
async function testObj(page) {
  const said = await drop(page, [['sheet.obj', sheetObj(20)]]);
  say('an OBJ without normals has a vertex for every point', (await page.state('s.info.vertexCount')) === 400 ? said : `${await page.state('s.info.vertexCount')} vertices, not 400`);
  say('an unrigged mesh is offered no methods and no error map', (await page.evaluate(() => [...document.querySelectorAll('.method, #paint input[value="error"], #paint input[value="weights"]')].some((each) => (each.closest('label') ?? each).checkVisibility()))) ? 'they are shown' : '');
  say('what it can have is offered', (await page.shown('#rig-it')) ? '' : 'nothing');
}
async function testFormats(page) {
  const ply = join(folder, 'body.ply');
  execFileSync(command, ['convert', plain, '-q', '-o', ply]);
  say('a PLY can be dropped', (await drop(page, [['body.ply', readFileSync(ply)]])) || ((await page.state('s.info.vertexCount')) === 1500 ? '' : `${await page.state('s.info.vertexCount')} vertices`));
  await drop(page, [['sheet.stl', 'solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid a\n']]);
  say('an STL can be dropped', (await page.state('s.source.name')) === 'sheet' && (await page.state('s.info.triangleCount')) === 1 ? '' : await page.text('#notice'));
  await drop(page, [['walk.bvh', BVH]]);
  if (await page.shown('#notice-actions')) { // over a mesh it asks what to do with the motion
    await page.evaluate(() => { [...document.querySelectorAll('#notice-actions button')].at(-1).id = 'tested-alone'; });
    await page.click('#tested-alone');
    await page.until(() => window.studio.source.name === 'walk');
  }
  await idle(page);
  say('a BVH can be dropped', (await page.state('s.source.name')) === 'walk' ? '' : await page.text('#notice'));
  const fbx = await drop(page, [['hero.fbx', 'Kaydara FBX Binary  \0']]);
  say('FBX gets one line that says it is not read yet', /FBX/.test(fbx) && /not/.test(fbx) && (await page.state('s.source.name')) === 'walk' ? '' : fbx);
  const draco = join(folder, 'draco.glb');
  let packed = true;
  try { execFileSync(command, ['convert', plain, '--compress', 'draco', '-q', '-o', draco], { stdio: 'pipe' }); } catch { packed = false; }
  if (packed) { const line = await drop(page, [['draco.glb', readFileSync(draco)]]); say('a dropped Draco file gets one line naming cutis convert', /Draco/.test(line) && /cutis convert/.test(line) ? '' : line); } else console.log('skip a dropped Draco file gets one line naming cutis convert: cutis-draco is not there');
}
async function testChosenAgain(page) {
  await page.pick('#file', [model]);
  await page.until(() => window.studio.source?.name === 'rich' && document.getElementById('busy').hidden);
  say('the same file can be chosen again: the chooser forgets it', (await page.evaluate(() => document.getElementById('file').value)) === '' ? '' : 'it remembers, so choosing it is no change');
  const first = await page.state('s.document.id');
  await page.pick('#file', [model]);
  await page.until((id) => window.studio.document.id !== id, first, 20_000).catch(() => {});
  say('chosen again it is opened again', (await page.state('s.document.id')) !== first ? '' : 'nothing happened');
}

/** Pictures and bytes as data URIs, in one text. */
async function testDataUris(page) {
  const { json, buffers: [body] } = parse(source), uri = (type, bytes) => `data:${type};base64,${Buffer.from(bytes).toString('base64')}`;
  json.images = json.images.map(({ name, mimeType, bufferView }) => { const { byteOffset = 0, byteLength } = json.bufferViews[bufferView]; return { name, uri: uri(mimeType, body.subarray(byteOffset, byteOffset + byteLength)) }; });
  json.buffers[0].uri = uri('application/octet-stream', body);
  const said = await drop(page, [['inside.gltf', JSON.stringify(json)]]);
  const sizes = await page.state("s.document.look.materials.map(({ map, normalMap, emissiveMap, aoMap }) => [map, normalMap, emissiveMap, aoMap].map((each) => each?.image?.width)).join()");
  say('pictures as data URIs are shown, all four', said || (sizes === '4,4,4,4' ? '' : sizes));
  const { bytes } = await saveGlb(page), saved = parse(bytes).json;
  say('and saved', (await invalid(bytes)) || (saved.images.length === 4 && saved.images.every((image) => image.bufferView !== undefined || /^data:image\/png/.test(image.uri)) ? '' : JSON.stringify(saved.images).slice(0, 200)));
}
/** More joints than a call has room for arguments. */
async function testManyJoints(page) {
  if (!process.env.CUTIS_SOAK) { console.log('skip a skeleton of 140000 joints: it takes 15 s; ./dev soak does it (CUTIS_SOAK=1)'); return; }
  const count = 140_000, said = await drop(page, [['many.glb', glb({ asset: { version: '2.0' }, scene: 0, scenes: [{ nodes: [0] }], nodes: [{ name: 'root', children: Array.from({ length: count - 1 }, (_, i) => i + 1) }, ...Array.from({ length: count - 1 }, (_, i) => ({ translation: [i % 400, Math.floor(i / 400), 0] }))] })]]);
  say(`a skeleton of ${count} joints opens, and all are in the list`, said || ((await page.evaluate(() => document.getElementById('joint').options.length)) === count && (await page.state('s.viewport.markers.length')) === count ? '' : `${await page.state('s.viewport.markers.length')} markers`));
}
/** The line below a verb's form, read by a shell, is the words that are run; two files of one name are not taken for each other. */
async function testToolWords(page) {
  const name = "it's $(one) body.glb", twin = ['a', 'b'].map((each) => { const place = join(folder, each); mkdirSync(place, { recursive: true }); writeFileSync(join(place, 'twin.json'), each.repeat(each === 'a' ? 9 : 8)); return join(place, 'twin.json'); });
  await drop(page, [[name, source]]);
  await tab(page, 'tools');
  await page.until(() => window.studio.panels.verbs.list);
  await page.choose('#verb', 'retarget');
  const text = `a 'b' "c" \\ $HOME \`id\` *`;
  await page.fill('#verb-form [name="map"]', text);
  const line = await page.evaluate(() => document.getElementById('verb-line').textContent), read = execFileSync('sh', ['-c', `set -- ${line}; printf '%s\\0' "$@"`]).toString().split('\0').slice(0, -1);
  const wanted = ['cutis', 'retarget', name, '--map', text, '-o', `${name.replace('.glb', '')}-retarget.glb`];
  say('the line for a terminal means the same to a shell', JSON.stringify(read) === JSON.stringify(wanted) ? '' : `${JSON.stringify(read)} of ${line}`);
  await page.fill('#verb-form [name="map"]', '');
  await page.evaluate(() => { for (const [name, id] of [['motion', 'tested-motion'], ['map', 'tested-map']]) document.querySelector(`#verb-form [name="${name}"]`).parentElement.querySelector('[type="file"]').id = id; });
  await page.pick('#tested-motion', [twin[0]]);
  await page.pick('#tested-map', [twin[1]]);
  say('two files of one name: the second is refused, in words', /twin\.json is chosen already/.test(await page.text('#notice')) && (await page.evaluate(() => document.querySelector('#verb-form [name="map"]').value)) === '' ? '' : await page.text('#notice'));
  say('the first one stays what it was', (await page.state("s.panels.verbs.files.get('twin.json').text()")) === 'a'.repeat(9) ? '' : 'another');
  await page.click('#notice-close');
}

// Pose and time ---------------------------------------------------------------------------------

async function testStaleSliders(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'pose');
  await chooseJoint(page, 'forearm_l');
  await seek(page, 'bend', 1.5);
  const before = await page.state('s.rotation(s.joint)');
  await page.evaluate(() => document.querySelector('#turns input').focus());
  await page.key('ArrowRight');
  await idle(page);
  const turned = degrees(before, await page.state('s.rotation(s.joint)'));
  say('after scrubbing one press of an arrow key turns a joint by its one degree', turned > 0.2 && turned < 3 ? '' : `${turned.toFixed(1)} degrees`);
}
async function testRootMotion(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'deform');
  await page.choose('#clip', 'walk_forward');
  const duration = await page.state('s.clipInfo.duration'), { width, height } = await page.box('#canvas');
  await page.fill('#scrub', duration);
  await idle(page);
  const middle = '(() => { const p = s.viewport.sides[0].positions.array, m = [0, 0, 0]; for (let i = 0; i < p.length; i++) m[i % 3] += 3 * p[i] / p.length; return m; })()';
  const far = await page.state(`Math.hypot(...((m) => [m[0], m[2]])(${middle}))`), [x, y] = await page.state(`s.viewport.project(${middle})`);
  say('a body that walks away stays in the picture, and in both halves of it', far > 0.5 && Math.abs(x / width - 0.5) < 0.2 && Math.abs(y / height - 0.5) < 0.3 ? '' : `it walked ${far.toFixed(2)} and is at ${(x / width).toFixed(2)}, ${(y / height).toFixed(2)} of the window`);
}
async function testSpeedReadout(page) {
  await page.evaluate(() => { window.studio.frames.speed.skin = Array(40).fill(1e5); });
  await openBuiltIn(page, 'cylinder');
  await fingerprint(page);
  await page.until(() => /ms/.test(document.getElementById('speed-skin').textContent), null, 20_000).catch(() => {});
  const shown = Number.parseFloat(await page.text('#speed-skin'));
  say('the speed that is shown is of what is open', shown < 1000 ? '' : `${shown} ms, measured on another model`);
}

// Saving ----------------------------------------------------------------------------------------

async function testSaveFromHandles(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'handles');
  await page.until(() => window.studio.handles.length > 0);
  await idle(page);
  const { bytes, name } = await saveGlb(page);
  say('saved from the handles tab a body keeps its skeleton, weights, clips, looks, cameras and extras', (await invalid(bytes)) || differences(source, bytes).join(' | '));
  say('and not under the name of its source', name !== 'rich.glb' ? '' : name);
}
async function testHandlesBound(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'handles');
  await page.until(() => window.studio.handles.length > 0);
  await idle(page);
  await page.click('#handle-mode label:first-child');
  await page.fill('#handle-moves label:nth-of-type(2) input', '0.1');
  await idle(page);
  await page.click('#save-glb');
  await page.until(() => document.getElementById('export').open);
  const words = [];
  for (const how of ['place', 'beside']) { await page.choose('#export-handles', how); await pause(50); words.push(await page.text('#export-changes')); }
  say('handles in the skeleton’s place or beside it: the sheet says in words what that does', words[0] !== words[1] && /skeleton|clip/i.test(words[0]) && words.every((text) => text.length > 20) ? '' : words.join(' / '));
  const saved = await page.download(() => page.click('#export-save'));
  const found = differences(source, saved.bytes);
  say('beside the skeleton: skin, weights and clips stay', (await invalid(saved.bytes)) || found.filter((line) => /^\/(skins|animations|materials|images|cameras|nodes\/\d+\/(rotation|translation|name))/.test(line) || /influences/.test(line)).join(' | '));
  await page.until(() => document.getElementById('busy').hidden);
}
/** What the sheet promises and the file has: of a body that has a pose by hand, a cap on influences and a handle that was moved. */
async function testHandlesInPlace(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'pose');
  await chooseJoint(page, 'forearm_l');
  await turnJoint(page, 2, 40);
  await tab(page, 'handles');
  await page.until(() => window.studio.handles.length > 0);
  await page.click('#handle-mode label:first-child');
  await page.fill('#handle-moves label:nth-of-type(2) input', '0.1');
  await idle(page);
  const { rest, move } = await page.state('s.handles[s.handle]'), wanted = rest.map((x, c) => x + move[c]);
  const { bytes, changes } = await saveGlb(page, { handles: 'place', influences: 2 }), made = parse(bytes), { json } = made;
  const [, promised] = /clip “([^”]*)”/.exec(changes) ?? [], clip = json.animations.find(({ name }) => name === promised);
  say('handles in the skeleton’s place: the file is valid and has the clip that the sheet promises', (await invalid(bytes)) || (clip && json.animations.length === parse(source).json.animations.length + 1 ? '' : `${changes}: ${json.animations.map(({ name }) => name)}`));
  const places = (clip?.channels ?? []).map(({ target, sampler }) => [json.nodes[target.node].name, target.path, ...numbers(made, clip.samplers[sampler].output)]);
  say('it moves the handle that was moved, to where it was', places.length === 1 && /^handle \d+$/.test(places[0][0]) && places[0][1] === 'translation' && wanted.every((x, c) => Math.abs(x - places[0][2 + c]) < 1e-5) ? '' : `${JSON.stringify(places)}, not ${wanted}`);
  say('the cap on influences is said and kept', /At most 2 of 6 influences/.test(changes) && meaning(made).meshes.every(({ primitives }) => primitives.every(({ attributes }) => /^[12] at most/.test(attributes.influences ?? '1 at most'))) ? '' : changes);
  say('the pose by hand is said to be left out, and stays unsaved', /pose made by hand is left out/.test(changes) && (await page.state('s.unsaved')) ? '' : changes);
}
/** Cancelled while it saves: no file, the work is still unsaved, and the next save is whole. */
async function testCancelSaving(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'pose');
  await chooseJoint(page, 'forearm_l');
  await turnJoint(page, 2, 40);
  const before = page.downloads.length, shape = await fingerprint(page);
  await page.evaluate(async () => {
    const { studio } = window, saving = studio.save({ name: 'cut.glb', influences: 0, weights: 'float', pose: true, handles: '' });
    studio.panels.cancel();
    await saving;
  });
  await pause(200);
  say('Cancel while saving writes nothing, and the work stays unsaved', page.downloads.length === before && (await page.state('s.unsaved')) && !(await page.shown('#notice')) ? '' : `${page.downloads.length - before} files, unsaved ${await page.state('s.unsaved')}: ${await page.text('#notice')}`);
  say('what was shown is shown again', (await fingerprint(page)) === shape ? '' : 'another shape');
  const { bytes } = await saveGlb(page);
  say('and the next save is whole', (await invalid(bytes)) || (parse(bytes).json.animations.length === parse(source).json.animations.length + 1 && !(await page.state('s.unsaved')) ? '' : 'no clip'));
}
/** What derived work starts from: the reduced weights, and the bytes that were opened. */
async function testWorkGoesOn(page) {
  const path = join(folder, 'moved.glb'), keyed = async () => { await tab(page, 'pose'); await chooseJoint(page, 'forearm_l'); await turnJoint(page, 2, 30); await page.click('#pose-key'); await page.until(() => document.getElementById('busy').hidden && !Object.keys(window.studio.state.pose).length); };
  writeFileSync(path, source);
  await drop(page, [['sheet.obj', sheetObj(4)]]);
  await page.pick('#file', [path]);
  await page.until(() => window.studio.source?.name === 'moved' && document.getElementById('busy').hidden);
  writeFileSync(path, 'another file by now');
  await tab(page, 'weights');
  await page.fill('#influences', '2');
  await keyed();
  say('keying a pose keeps the cap on influences', (await page.state('s.state.influences')) === 2 && /pose/.test(await page.state('s.clipInfo.name')) ? '' : `${await page.state('s.state.influences')} influences`);
  await page.evaluate(() => window.studio.runVerb('convert', []).then(() => true));
  say('a verb takes the model as it was opened and reduced, whatever is on the disk now', (await page.state('s.info.maxInfluences')) === 2 ? '' : `${await page.state('s.info.maxInfluences')} influences; ${await page.text('#notice')}`);
  await page.click('#undo');
  await tab(page, 'weights');
  await page.check('#reduction input[value="optimised"]');
  await page.until(() => document.getElementById('busy').hidden && window.studio.state.optimised);
  await keyed();
  say('keying a pose keeps optimised weights', (await page.state('s.info.maxInfluences')) === 2 && (await page.state('s.document.made.join()')).includes('reduce') ? '' : `${await page.state('s.info.maxInfluences')} influences`);
  for (let i = 0; i < 3; i++) await page.click('#undo'); // the clip, the turn, the weights
  const chosen = () => page.evaluate(() => document.querySelector('#reduction :checked').value);
  say('the choice of weights is what the state has', (await page.state('s.state.optimised')) === null && (await chosen()) === 'klargest' ? '' : await chosen());
  const handles = JSON.stringify({ handles: [{ name: 'a', kind: 'point', position: [0, 0.5, 0] }, { name: 'b', kind: 'point', position: [0, 1.2, 0] }] });
  await page.evaluate((text) => window.studio.runVerb('handles', ['--handles', 'moved.glb'], [new File([text], 'moved.glb')]).then(() => true), handles);
  say('a chosen file may have the name of the model', (await page.state("s.document.made.at(-1)")) === 'handles' ? '' : await page.text('#notice'));
}
/** Neither a drag that is let go nor a method that fails costs what was undone. */
async function testRedoStays(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'pose');
  await chooseJoint(page, 'forearm_l');
  await turnJoint(page, 2, 30);
  await page.click('#undo');
  await page.evaluate(() => { const s = window.studio; s.setRotation(s.joint, [0, 0, 0, 1], 'a drag'); s.cancel(); });
  say('a drag that Esc lets go leaves what can be done again', (await page.state('s.history.canRedo')) && !(await page.state('s.unsaved')) ? '' : 'it is gone');
  await page.evaluate(() => {
    const { stage } = window.studio, { call } = stage;
    stage.call = (...words) => { if (words[0] !== 'frame') return call.apply(stage, words); delete stage.call; return Promise.reject(new Error('a test')); };
    window.studio.setPlaying(true);
  });
  await page.until(() => !document.getElementById('notice').hidden);
  await idle(page);
  say('a frame that fails stops the clip and is no step', !(await page.state('s.playing')) && (await page.state('s.history.canRedo')) && (await page.state('s.methods.join()')) === 'lbs,lbs,lbs,lbs' ? '' : JSON.stringify(await page.state('[s.playing, s.history.canRedo, s.methods]')));
  await page.click('#notice-close');
}
async function testSheetCaps(page) {
  await page.click('#save-glb');
  await page.until(() => document.getElementById('export').open);
  const before = await page.text('#export-changes');
  await page.choose('#export-influences', '2');
  await pause(50);
  say('the sheet says what a cap on influences changes', before !== (await page.text('#export-changes')) ? '' : before);
  await page.key('Escape');
  await page.until(() => !document.getElementById('export').open);
}
async function testGuard(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'pose');
  await turnJoint(page, 1, 25);
  await page.choose('#character', 'cylinder');
  await page.until(() => document.getElementById('guard').open, null, 10_000).catch(() => {});
  const asked = await page.evaluate(() => document.getElementById('guard').open);
  if (asked) await page.click('#guard-cancel');
  await idle(page);
  say('unsaved work is not lost by opening something else unasked', asked && (await page.state('s.source.name')) === 'rich' && (await page.state('s.unsaved')) ? '' : 'it is gone');
  const guarded = await page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })));
  say('nor by closing the page', guarded ? '' : 'it closes');
  await page.click('#undo');
  await idle(page);
  say('undone, there is nothing to guard', (await page.state('s.unsaved')) || (await page.evaluate(() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true })))) ? 'it still asks' : '');
}

// Handles, keys, tools ----------------------------------------------------------------------------

async function testHandleDot(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'handles');
  await page.until(() => window.studio.handles.length > 2);
  await idle(page);
  const moves = () => page.state('JSON.stringify(s.handles)'), other = await page.state('s.handles.findIndex((_, i) => i !== s.handle)');
  const before = await moves(), eye = await camera(page);
  await page.drag(await onScreen(page, `s.handlePosition(${other})`), [30, -24]);
  await idle(page);
  say('dragging the dot of a handle moves the handle', (await moves()) !== before ? '' : 'it stays');
  say('and not the camera', (await camera(page)) === eye ? '' : 'the camera turned');
  await page.click('#undo');
  await idle(page);
  say('one undo takes the whole drag back', (await moves()) === before ? '' : 'not where it was');
  const at = await onScreen(page, `s.handlePosition(${other})`);
  await page.act([{ move: at }, { down: true }, { move: [at[0] + 15, at[1]] }, { move: [at[0] + 40, at[1] + 10] }]);
  await idle(page);
  const held = await moves();
  await page.act([{ press: 'Escape' }, { release: 'Escape' }, { up: true }]);
  await idle(page);
  say('Esc lets go of a drag as if it had not begun', held !== before && (await moves()) === before ? '' : held === before ? 'nothing was dragged' : 'it stays');
  await page.click('#handle-add');
  await page.key('Escape');
  say('Esc ends adding', (await page.state('s.adding')) ? 'it goes on' : '');
  const count = await page.state('s.handles.length');
  await page.click('#canvas');
  await page.key('Delete');
  await idle(page);
  say('Delete removes the selected handle', (await page.state('s.handles.length')) === count - 1 ? '' : `${await page.state('s.handles.length')} of ${count}`);
  const lit = await page.evaluate(() => ['play', 'tool-split'].filter((id) => !document.getElementById(id).disabled));
  for (const key of ['Space', 'b']) await page.key(key);
  await idle(page);
  say('among handles play and split do not light up without effect', lit.length || (await page.state('s.playing || s.state.split && s.canSplit')) ? `${lit} can be pressed` : '');
}
async function testUndoEverything(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'deform');
  const work = () => page.state('JSON.stringify([s.state.methods, s.state.split, s.state.show, s.state.exact, s.state.influences, s.state.clip, s.state.pose, s.state.handles])');
  const seen = [await work()], steps = [
    () => page.check('.method[data-method="dqs"] .chip.a input'), () => page.click('label:has(#split)'), () => page.check('#paint input[value="count"]'), () => page.click('label:has(#exact)'),
    async () => { await tab(page, 'weights'); await page.fill('#influences', '2'); }, () => page.choose('#clip', 'twist'), async () => { await tab(page, 'pose'); await chooseJoint(page, 'forearm_l'); await turnJoint(page, 0, 30); },
    async () => { await tab(page, 'handles'); await page.until(() => window.studio.handles.length > 0); await page.click('#handle-remove'); },
  ];
  for (const step of steps) { await step(); await idle(page); seen.push(await work()); }
  const same = seen.findIndex((text, i) => i && text === seen[i - 1]), wrong = [];
  for (let i = seen.length - 2; i >= 0; i--) { await page.click('#undo'); await idle(page); if ((await work()) !== seen[i]) wrong.push(`undo ${i + 1}`); }
  for (let i = 1; i < seen.length; i++) { await page.evaluate(() => document.activeElement.blur()); await page.key('Control+Shift+Z'); await idle(page); if ((await work()) !== seen[i]) wrong.push(`redo ${i}`); }
  say(`${steps.length} kinds of change: each one undone and done again, by button and by keys`, same > 0 ? `step ${same} changed nothing` : wrong.join(', '));
}
async function testInfluenceSlider(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'weights');
  const most = await page.state('s.info.maxInfluences ?? s.info.description.maxInfluences'), errors = [], shapes = new Set();
  say('the slider of influences ends at what the model has', (await page.evaluate(() => Number(document.getElementById('influences').max))) === most ? '' : `${await page.evaluate(() => document.getElementById('influences').max)}, not ${most}`);
  await page.choose('#clip', 'bend');
  await page.fill('#scrub', '1.5');
  for (let k = most; k >= 1; k--) { await page.fill('#influences', k); shapes.add(await fingerprint(page)); errors.push(Number(await page.text('#error-position-rms'))); }
  say('no position of it is dead: each has its own shape, and the error grows', shapes.size === most && errors.every((x, i) => !i || x >= errors[i - 1]) && errors.at(-1) > 0.1 ? '' : `${shapes.size} shapes, errors ${errors.join(', ')}`);
  await page.fill('#influences', most);
}
async function testWords(page) {
  const text = await page.evaluate(() => document.getElementById('paint-section').textContent); // the brush paints; this shows
  say('what only shows is not called paint', /\bShow\b/.test(text) && !/\bPaint\b/i.test(text) ? '' : text.trim());
}
async function testKeysOff(page) {
  await page.evaluate(() => document.activeElement.blur());
  await page.key('?');
  await page.until(() => document.getElementById('keys').open);
  await page.click('label:has(#single-keys)');
  await page.key('Escape');
  await page.evaluate(() => document.activeElement.blur());
  const before = await page.state('JSON.stringify([s.state, s.playing])');
  for (const key of ['b', 'e', 'k', '2', 'Space']) await page.key(key);
  await idle(page);
  say('keys without Ctrl can be turned off', (await page.state('JSON.stringify([s.state, s.playing])')) === before ? '' : 'they still act');
  await page.reload();
  await page.ready();
  await page.key('b');
  say('and stay off for the next visit', (await page.state('s.state.split')) ? 'they are on again' : '');
}

// The look --------------------------------------------------------------------------------------

/** How much of the picture, in CSS pixels, showing the skeleton changes. */
async function skeletonArea(scale) {
  let area = 0;
  await viewed(null, async (page) => {
    await page.key('k');
    await idle(page);
    const on = await page.screenshot();
    await page.key('k');
    await idle(page);
    const off = await page.screenshot();
    area = (await page.evaluate(async ([first, second]) => {
      const pixels = async (text) => {
        const image = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))])), context = new OffscreenCanvas(image.width, image.height).getContext('2d');
        context.drawImage(image, 0, 0);
        return context.getImageData(0, 0, image.width, image.height).data;
      };
      const [a, b] = [await pixels(first), await pixels(second)];
      let count = 0;
      for (let i = 0; i < a.length; i += 4) if (Math.abs(a[i] - b[i]) + Math.abs(a[i + 1] - b[i + 1]) + Math.abs(a[i + 2] - b[i + 2]) > 24) count++;
      return count;
    }, [on.toString('base64'), off.toString('base64')])) / scale ** 2;
  }, { width: 800, height: 600, scale, quality: 'high' });
  return area;
}
async function testMarkers() {
  const [one, two] = [await skeletonArea(1), await skeletonArea(2)];
  say('markers are as large on a screen with small pixels', one > 300 && two / one > 0.7 && two / one < 1.3 ? '' : `${Math.round(one)} and ${Math.round(two)} pixels`);
}
/** Low quality has a canvas over the one that gets the pointer: what the pointer looks like is the latter's. */
async function testCrosshair(page) {
  await drop(page, [['rich.glb', source]]);
  await page.evaluate(() => { window.studio.amend({ split: false, show: 'none' }); }); // as steps before may have left it
  const under = () => page.evaluate(() => { const { x, y, width, height } = document.getElementById('canvas').getBoundingClientRect(), top = document.elementFromPoint(x + width / 2, y + height / 2); return `${top.id} ${getComputedStyle(top).cursor}`; });
  const low = await page.state('s.viewport.low > 0 && s.viewport.renderer !== s.viewport.fine');
  await tab(page, 'handles');
  await page.until(() => window.studio.handles.length > 0);
  const before = await under();
  await page.click('#handle-add');
  const adding = await under();
  await page.key('Escape');
  const after = await under();
  say('where a handle is put the pointer is a crosshair, in low quality too', low && adding === 'canvas crosshair' && before !== adding && after !== adding ? '' : `${low}: ${before}, ${adding}, ${after}`);
  await tab(page, 'weights');
  await page.click('label:has(#brush-on)');
  await idle(page);
  const skin = await page.evaluate(() => { // as near to the middle as there is some
    const { x, y, width, height } = document.getElementById('canvas').getBoundingClientRect();
    for (let k = 0; k < 40; k++) for (const by of [-k, k]) { const at = { clientX: x + width / 2 + 6 * by, clientY: y + height / 2 }; if (window.studio.viewport.surfacePoint(at)) return [at.clientX, at.clientY]; }
    return null;
  });
  await page.act([{ move: [skin[0] - 3, skin[1]] }, { move: skin }]);
  await page.until(() => document.getElementById('canvas').classList.contains('brushing'), null, 20_000).catch(() => {});
  say('and where the brush is on skin', (await under()) === 'canvas crosshair' ? '' : await under());
  await page.click('label:has(#brush-on)');
  await tab(page, 'deform');
}
/** A picture that is saved has all of the pixels, shadows and smooth edges, whatever the stage is drawn with. */
async function testLowPicture(page) {
  const [width, height] = await page.state('[s.viewport.canvas.clientWidth, s.viewport.canvas.clientHeight]'), saved = async () => (await page.download(() => page.click('#save-picture'))).bytes;
  const low = await saved(), still = await page.state('s.viewport.low'), drawn = await page.state('s.viewport.renderer.domElement.width');
  await page.evaluate(() => { window.studio.viewport.setLow(0); });
  await idle(page);
  const high = await saved();
  await page.evaluate(() => { window.studio.panels.view.apply(); });
  await idle(page);
  say('a picture saved in low quality is the one of high quality, pixel by pixel', still > 0 && drawn < width && low.readUInt32BE(16) === width && low.readUInt32BE(20) === height && !Buffer.compare(low, high) ? '' : `${low.readUInt32BE(16)} x ${low.readUInt32BE(20)} of ${width} x ${height}, low ${still}, ${Buffer.compare(low, high) ? 'others' : 'the same'}`);
}
/** A clip or a hand may carry a body out of sight. */
async function testShowEverything(page) {
  await openBuiltIn(page, 'biped');
  const seen = () => page.state('(() => { const { min, max } = s.frames.shown.lie, { clientWidth: w, clientHeight: h } = s.viewport.canvas; return [min, max].every(([x, y, z]) => { const [a, b] = s.viewport.project([x, y, z]); return a > 0 && a < w && b > 0 && b < h; }); })()');
  await page.evaluate(() => { const s = window.studio, node = s.joints[0], values = [...s.info.description.nodes[node].rest]; values[1] += 0.45; s.edit({ pose: Object.freeze({ [node]: values }) }); });
  await idle(page);
  const before = await seen();
  await page.click('#tool-home');
  await idle(page);
  say('“Show everything” shows a body that is elsewhere than at rest', !before && (await seen()) ? '' : `seen before: ${before}`);
  await page.evaluate(() => { window.studio.resetPose(); window.studio.saved = window.studio.state; });
}
/** Pages that need joints lead to them; nobody chose white; rigged, a body shows what it has got. */
async function testBareBody(page) {
  const path = join(folder, 'bare.glb');
  execFileSync(command, ['synth', 'family', '--kind', 'bear', '--seed', '4', '--scan', 'off', '--vertices', '2000', '--unrigged', '-q', '-o', path]);
  await drop(page, [['bare.glb', readFileSync(path)]]);
  const color = await page.state('s.viewport.shared.materials[0].color.getHex()');
  say('a body that is white all over is shown as clay', color !== 0xffffff ? '' : color);
  const offered = [];
  for (const name of ['pose', 'joints', 'weights', 'deform']) { await tab(page, name); if (await page.shown('#rig-it') && (await page.evaluate((id) => [...document.getElementById(`page-${id}`).children].filter((each) => each.checkVisibility()).length, name)) === 1) offered.push(name); }
  say('every page that needs joints offers to rig it, and nothing else', offered.join() === 'pose,joints,weights,deform' ? '' : offered);
  await page.click('#rig-it');
  await page.until(() => window.studio.skinned || !document.getElementById('notice').hidden);
  await tab(page, 'start');
  const shown = () => page.state('({ dots: s.viewport.markers.length, colors: new Set(Array.from({ length: s.info.vertexCount }, (_, v) => [...(s.viewport.shared.paint?.array ?? []).subarray?.(3 * v, 3 * v + 3) ?? []].map((x) => x.toFixed(2)).join())).size, painted: s.viewport.sides[0].painted, joints: s.joints.length })'), rigged = await shown();
  say('rigged, its joints and their weights are shown', rigged.painted && rigged.dots === rigged.joints && rigged.colors > rigged.joints ? '' : JSON.stringify(rigged));
  await tab(page, 'deform');
  const later = await shown();
  say('and no longer where it is looked at otherwise', !later.painted && later.dots === 0 ? '' : JSON.stringify(later));
  await page.evaluate(() => { window.studio.saved = window.studio.state; });
}
/** A tool that only looks writes nothing. */
async function testCheckTool(page) {
  await drop(page, [['rich.glb', source]]);
  await tab(page, 'tools');
  await page.until(() => document.getElementById('verb').options.length > 0);
  await page.choose('#verb', 'check');
  const document = await page.state('s.document.id');
  await page.click('#verb-run');
  await page.until(() => !document.getElementById('verb-said').hidden || !document.getElementById('notice').hidden);
  await idle(page);
  say('the tool “check” says what it found and leaves the model as it is', /cutis check, /.test(await page.text('#verb-text')) && !/ -o /.test(await page.text('#verb-line')) && !(await page.shown('#notice')) && (await page.state('s.document.id')) === document ? '' : `${await page.text('#notice')} ${await page.text('#verb-line')}`);
  await tab(page, 'deform');
}
async function testSmallWindow() {
  await viewed(model, async (page) => {
    for (const [width, height] of [[720, 450], [390, 844], [1024, 768]]) {
      await page.resize(width, height);
      await idle(page);
      const overlaps = await page.evaluate(() => {
        const parts = ['.bar', '#stage', '.timeline', '#panel'].map((selector) => [selector, document.querySelector(selector).getBoundingClientRect()]);
        const inside = ['#tag-a', '.tools', '#speed'].map((selector) => [selector, document.querySelector(selector)]).filter(([, element]) => element.checkVisibility()).map(([selector, element]) => [selector, element.getBoundingClientRect()]);
        const cut = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 1;
        const found = [];
        for (const list of [parts, inside]) list.forEach(([name, box], i) => list.slice(i + 1).forEach(([other, its]) => { if (cut(box, its)) found.push(`${name} and ${other}`); }));
        for (const [name, box] of parts) if (box.width < 40 || box.height < 20) found.push(`${name} is ${Math.round(box.width)} x ${Math.round(box.height)}`);
        if (document.documentElement.scrollWidth > innerWidth) found.push('it scrolls sideways');
        return found;
      });
      say(`at ${width} x ${height} nothing overlaps`, overlaps.join(', '));
      const session = await page.context.newCDPSession(page.page), { nodes } = await session.send('Accessibility.getFullAXTree'), roles = new Set(['button', 'slider', 'combobox', 'radio', 'checkbox', 'tab', 'listbox', 'splitter', 'link', 'switch', 'spinbutton', 'textbox']);
      say(`at ${width} x ${height} every control has a name, Open too`, nodes.filter((each) => !each.ignored && roles.has(each.role?.value) && !each.name?.value?.trim()).map((each) => each.role.value).join(', ') || (nodes.some((each) => each.role?.value === 'button' && /open/i.test(each.name?.value)) ? '' : 'no Open'));
    }
  }, { width: 720, height: 450 });
}
async function testShadows() {
  await viewed(model, async (page) => {
    await page.evaluate(() => {
      const { shadowMap } = window.studio.viewport.renderer, render = shadowMap.render;
      window.drawn = { frames: 0, shadows: 0 };
      shadowMap.render = (...words) => { window.drawn.frames++; if (shadowMap.autoUpdate || shadowMap.needsUpdate) window.drawn.shadows++; return render(...words); };
    });
    await page.evaluate(() => { // slow or not by word, whatever this machine is
      Object.defineProperty(window.studio.viewport, 'slow', { get: () => window.slow, set() {}, configurable: true });
    });
    const share = async (slow) => {
      await page.evaluate((value) => { window.slow = value; window.drawn.frames = window.drawn.shadows = 0; window.since = performance.now(); }, slow);
      await page.until(() => window.drawn.frames > 12);
      return page.evaluate(() => ({ ...window.drawn, took: performance.now() - window.since }));
    };
    await page.click('#play');
    const fast = await share(false), slow = await share(true);
    await page.click('#play');
    say('where frames are fast every one has its shadow', fast.shadows >= 0.9 * fast.frames ? '' : `${fast.shadows} in ${fast.frames} frames`);
    say('where they are slow shadows are redrawn every 300 ms at most', slow.shadows > 0 && slow.shadows <= 2 + slow.took / 300 && slow.shadows < fast.shadows ? '' : `${slow.shadows} in ${slow.frames} frames of ${slow.took.toFixed(0)} ms in all`);
  }, { width: 1200, height: 800, quality: 'high' }); // else slow frames would lose their shadows
}

let page;
const server = view(command, [model]);
const WITH_PAGE = [testShowEverything, testBareBody, testCheckTool, testObj, testFormats, testDataUris, testToolWords, testManyJoints, testChosenAgain, testStaleSliders, testRootMotion, testSpeedReadout, testSaveFromHandles, testHandlesBound, testHandlesInPlace, testCancelSaving, testWorkGoesOn, testRedoStays, testSheetCaps, testGuard, testHandleDot, testUndoEverything, testCrosshair, testLowPicture, testInfluenceSlider, testWords, testKeysOff];
const ALONE = [testServedBvh, testServedKtx2, testServedBroken, testMarkers, testSmallWindow, testShadows];
const chosen = process.argv[5] ? (step) => new RegExp(process.argv[5]).test(step.name) : () => true; // a pattern: those alone
try {
  page = await browser.open(await server.address, { width: 1100, height: 760 });
  await page.ready();
  for (const step of [...WITH_PAGE, ...ALONE].filter(chosen)) {
    try { await step(page); } catch (error) {
      say(`${step.name} ran to its end`, `${error.message.split('\n')[0]}${page.complaints.length ? ` (console: ${page.complaints[0]})` : ''}`);
      if (WITH_PAGE.includes(step)) { await page.evaluate(() => { for (const each of document.querySelectorAll('dialog[open]')) each.close(); }).catch(() => {}); }
    }
    note(step.name);
  }
  say('no errors or warnings on the console', page.complaints.slice(0, 3).join(' | '));
} finally {
  await browser.close();
  await server.stop();
}
end();
