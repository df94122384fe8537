// Every screen of the page at three widths, light and dark, to be looked at by a person: node screens.mjs CUTIS OUTPUT [STATES [WIDTHS]].
// One page for all: STATES and WIDTHS are patterns of names ("brush|cage", "390-dark"). Nothing is claimed here.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './drive.mjs';
import { sheetObj } from './made_files.mjs';
import { idle, openBuiltIn, tab } from './stage.mjs';
import { view } from './view.mjs';

const [command, output, states = '.', widths = '.'] = process.argv.slice(2);
const SIZES = [[1440, 900], [1024, 768], [390, 844]].flatMap((size) => ['light', 'dark'].map((scheme) => ({ name: `${size[0]}-${scheme}`, size, scheme }))).filter(({ name }) => new RegExp(widths).test(name));
const cutis = (...words) => execFileSync(command, words, { stdio: ['ignore', 'pipe', 'pipe'] });
const files = join(output, 'files');
mkdirSync(files, { recursive: true });
const OPEN = "const open = async (name) => { s.saved = s.state; await s.openFiles([new File([Uint8Array.from(atob(window.files[name]), (c) => c.charCodeAt(0))], name)]); await s.idle(); };";
const BARE = "await s.openBuiltIn('scan');", RIG = "if (!s.document.rig) { s.saved = s.state; await s.openBuiltIn('scan'); await s.panels.journey.rig(); }", BIPED = "if (s.source.name !== 'biped') { s.saved = s.state; await s.openBuiltIn('biped'); }", SMALL = "if (s.source.name !== 'small') await open('small.glb');";
const STATES = [
  { name: 'first', tab: 'start', act: '' },
  { name: 'view-menu', tab: 'start', act: "document.getElementById('tool-view').click();", end: "document.getElementById('tool-view').click();" },
  { name: 'methods', tab: 'deform', act: `${BIPED} s.edit({ clip: 2 }); s.seek(1.5);` },
  { name: 'wipe', tab: 'deform', act: "s.edit({ split: true, methods: ['lbs', 'sbs-weighted', 'dqs', 'sbs'] });", until: 's.compare.ready' },
  { name: 'two', tab: 'deform', act: "s.edit({ split: true, layout: 'side', bodies: 2 });", until: 's.compare.ready' },
  { name: 'four', tab: 'deform', act: "s.edit({ split: true, layout: 'side', bodies: 4 });", until: 's.compare.ready', end: "s.edit({ split: false, layout: 'wipe', bodies: 2 });" },
  { name: 'error', tab: 'deform', act: "s.edit({ show: 'error', influences: 1 });", end: "s.edit({ influences: 0 });" },
  { name: 'weights-shown', tab: 'deform', act: "s.edit({ show: 'weights' });" },
  { name: 'count', tab: 'deform', act: "s.edit({ show: 'count' });", end: "s.edit({ show: 'none' });" },
  { name: 'patches', tab: 'deform', act: "s.edit({ clip: 2 }); s.seek(1.5); s.edit({ methods: ['patches', 'lbs', 'dqs', 'sbs'], show: 'parts' });", end: "s.edit({ methods: ['lbs', 'sbs-weighted', 'dqs', 'sbs'], show: 'none' });" },
  { name: 'reduced', tab: 'weights', act: 's.edit({ influences: 2 });', end: 's.edit({ influences: 0 });' },
  { name: 'brush', tab: 'weights', act: "s.brush.mirror = true; await s.brush.setOn(true); s.panels.show();", end: 'await s.brush.setOn(false);' },
  { name: 'pose', tab: 'pose', act: "s.pickMarker(s.joints.findIndex((n) => s.info.description.nodes[n].name === 'upperarm_l')); await s.idle(); s.setRotation(s.joint, [0, 0, 0.38, 0.92], 'x'); s.history.seal();", end: 's.resetPose();' },
  { name: 'range', tab: 'pose', act: "s.seek(0.6); s.setRange(0); s.seek(1.8); s.setRange(1); s.seek(1.2);", end: 's.range = null; s.panels.showTime();' },
  { name: 'handles', tab: 'handles', act: "await s.idle(); s.handle = 1; s.dragHandle(1, s.handlePosition(1).map((x, c) => x + [0.15, 0.1, 0.1][c])); s.history.seal();" },
  { name: 'handle-weights', tab: 'handles', act: "s.handleMode = 'place'; s.panels.show(); s.frames.changed();", end: "s.handleMode = 'move'; s.edit({ handles: null });" },
  { name: 'cage-drawn', tab: 'handles', act: "document.getElementById('cage-draw').click(); document.getElementById('cage-section').scrollIntoView();", until: '!!s.state.draft', end: 's.edit({ draft: null });' },
  { name: 'cage', tab: 'handles', act: "s.cages.bind(); document.getElementById('cage-section').scrollIntoView();", until: "s.cages.active && document.getElementById('busy').hidden", end: "s.saved = s.state; await s.openBuiltIn('biped');" },
  { name: 'scene', tab: 'scene', act: '' },
  { name: 'scene-joint', tab: 'scene', act: "document.querySelectorAll('.outline .row')[9]?.click();" },
  { name: 'tools', tab: 'tools', act: "s.panels.verbs.choose('reduce');" },
  { name: 'tools-rig', tab: 'tools', act: "s.panels.verbs.choose('rig'); for (const d of document.querySelectorAll('#page-tools details')) d.open = true;" },
  { name: 'tools-said', tab: 'tools', act: `${OPEN} ${SMALL} s.panels.verbs.choose('check'); await s.panels.verbs.begin(); await s.panels.verbs.run(); document.getElementById('verb-said').scrollIntoView();` },
  { name: 'help', tab: 'start', act: "document.getElementById('help').click();", end: "document.getElementById('keys').close();" },
  { name: 'save', tab: 'start', act: "s.panels.closeNotice(); s.edit({ influences: 4 }); s.panels.sheet.open();", end: "document.getElementById('export').close(); " },
  { name: 'guard', tab: 'start', act: "document.getElementById('guard').showModal();", end: "document.getElementById('guard').close(); s.edit({ influences: 0 });" },
  { name: 'bad-file', tab: 'start', act: "s.saved = s.state; await s.openFiles([new File(['solid nothing'], 'a rather long name of a scan that came from somewhere.stl')]);", end: 's.panels.closeNotice();' },
  { name: 'drop', tab: 'start', act: "document.getElementById('drop').hidden = false;", end: "document.getElementById('drop').hidden = true;" },
  { name: 'busy', tab: 'start', act: "document.getElementById('busy').hidden = false; document.getElementById('busy-text').textContent = 'Rigging: weights'; document.getElementById('busy-bar').hidden = false; document.getElementById('busy-bar').value = 0.4; document.getElementById('busy-cancel').hidden = false;", end: "document.getElementById('busy').hidden = true;" },
  { name: 'recover', tab: 'start', act: "s.panels.say('There is unsaved work: scan', 'Kept in this browser 3 minutes ago.', [['Open it', () => {}], ['Forget it', () => {}]]);", end: 's.panels.closeNotice();' },
  { name: 'bare', tab: 'start', act: `s.saved = s.state; ${BARE}` },
  { name: 'bare-deform', tab: 'deform', act: '' },
  { name: 'bare-pose', tab: 'pose', act: '' },
  { name: 'bare-weights', tab: 'weights', act: '' },
  { name: 'bare-joints', tab: 'joints', act: '' },
  { name: 'rigged', tab: 'start', act: 's.saved = s.state; await s.panels.journey.rig();' },
  { name: 'joints', tab: 'joints', act: "s.panels.joints.select('forearm_l');" },
  { name: 'walking', tab: 'start', act: "await s.panels.journey.move('walk'); s.setPlaying(false); s.seek(0.3);" },
  { name: 'lying', tab: 'start', act: `${OPEN} await open('lying.obj');`, end: 's.panels.closeNotice();' },
  { name: 'refused', tab: 'start', act: `${OPEN} await open('ball.obj'); await s.panels.journey.rig('human');`, end: 's.panels.closeNotice();' },
  { name: 'sheet', tab: 'start', act: `${OPEN} await open('cloth.obj'); await s.panels.journey.rig('auto');`, end: 's.panels.closeNotice();' },
  { name: 'skeleton', tab: 'deform', act: `${OPEN} await open('bones.glb');` },
  { name: 'examples', tab: 'pose', act: "s.saved = s.state; await s.openBuiltIn('arm'); s.applyExample(2);" },
  { name: 'baked', tab: 'pose', act: `${OPEN} await open('baked.glb'); s.edit({ clip: 0 }); s.seek(1);` },
];

cutis('synth', 'biped', '--vertices', '2000', '-q', '-o', join(files, 'small.glb'));
cutis('synth', 'arm', '--vertices', '1000', '-q', '-o', join(files, 'arm.glb'));
cutis('bake', join(files, 'arm.glb'), '--method', 'dqs', '--helpers', '2', '--drivers', '-q', '-o', join(files, 'baked.glb'));
cutis('synth', 'family', '--kind', 'human', '--seed', '7', '--vertices', '2000', '--unrigged', '-q', '-o', join(files, 'upright.glb'));
cutis('convert', join(files, 'upright.glb'), '-q', '-o', join(files, 'upright.obj'));
writeFileSync(join(files, 'lying.obj'), readFileSync(join(files, 'upright.obj'), 'utf8').split('\n').filter((line) => /^[vf] /.test(line)).map((line) => (line[0] === 'f' ? line.replace(/\/\S*/g, '') : line.replace(/^v (\S+) (\S+) (\S+)/, (_, x, y, z) => `v ${100 * x} ${-100 * z} ${100 * y}`))).join('\n'));
writeFileSync(join(files, 'cloth.obj'), sheetObj(30));
const ball = [], N = 24;
for (let i = 0; i <= N; i++) for (let j = 0; j < 2 * N; j++) ball.push(`v ${Math.sin((Math.PI * i) / N) * Math.cos((Math.PI * j) / N)} ${1 + Math.cos((Math.PI * i) / N)} ${Math.sin((Math.PI * i) / N) * Math.sin((Math.PI * j) / N)}`);
for (let i = 0; i < N; i++) for (let j = 0; j < 2 * N; j++) { const at = (a, b) => a * 2 * N + (b % (2 * N)) + 1; ball.push(`f ${at(i, j)} ${at(i, j + 1)} ${at(i + 1, j + 1)}`, `f ${at(i, j)} ${at(i + 1, j + 1)} ${at(i + 1, j)}`); }
writeFileSync(join(files, 'ball.obj'), ball.join('\n'));
{ // a skeleton without a body: a BVH of two bones
  writeFileSync(join(files, 'bones.bvh'), 'HIERARCHY\nROOT hips\n{\nOFFSET 0 1 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\nJOINT spine\n{\nOFFSET 0 0.4 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nJOINT head\n{\nOFFSET 0 0.3 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 0.2 0\n}\n}\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.5\n0 1 0 0 0 0 0 0 0 0 0 0\n0 1 0 10 0 0 20 0 0 5 0 0\n');
  cutis('convert', join(files, 'bones.bvh'), '-q', '-o', join(files, 'bones.glb'));
}
const server = view(command, []), browser = await launch('chromium', output);
const page = await browser.open(await server.address, { width: 1440, height: 900, quality: 'low' });
await page.ready(120_000, 'start');
await page.evaluate((given) => { window.files = given; localStorage.removeItem('theme'); }, Object.fromEntries(['small.glb', 'lying.obj', 'ball.obj', 'cloth.obj', 'bones.glb', 'baked.glb'].map((name) => [name, readFileSync(join(files, name)).toString('base64')])));
for (const state of STATES) {
  if (!new RegExp(states).test(state.name) && !/recover$|^bare$|^rigged$/.test(state.name)) continue;
  try {
    await page.resize(1440, 900);
    await page.evaluate((name) => window.studio.panels.selectTab(name), state.tab);
    await idle(page);
    await page.evaluate(`async () => { const s = window.studio; ${state.act} }`);
    if (state.until) await page.until(`() => { const s = window.studio; return !!(${state.until}); }`);
    await idle(page);
    if (new RegExp(states).test(state.name)) for (const { name, size, scheme } of SIZES) {
      await page.page.emulateMedia({ colorScheme: scheme });
      await page.resize(...size);
      await page.evaluate((low) => { window.studio.viewport.setLow(low); window.studio.frames.changed(); }, name === '1440-light' ? 0 : 1); // as it looks where there is a GPU, once: drawing it takes seconds without one
      await idle(page);
      writeFileSync(join(output, `${state.name}-${name}.png`), await page.screenshot());
    }
    if (state.end) await page.evaluate(`async () => { const s = window.studio; ${state.end} }`);
    await idle(page);
  } catch (error) { console.log(`${state.name}: ${error.message.split('\n')[0]}`); }
  console.log(state.name);
}
for (const complaint of page.complaints) console.log(complaint);
await browser.close();
await server.stop();
