// What must hold in every browser: node both.mjs CUTIS STUDIO FOLDER chromium|firefox. Open, pose, undo, save, reopen; saved
// files against their source and the Khronos validator; positions in exact mode against the command, bit for bit.
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './drive.mjs';
import { differences, parse } from './gltf_compare.mjs';
import { rich } from './made_files.mjs';
import { readNpy } from './npy.mjs';
import { claims } from './say.mjs';
import { chooseJoint, drop, fingerprint, invalid, openBuiltIn, positions, sameBytes, saveGlb, seek, setExact, setMethod, tab, turnJoint } from './stage.mjs';
import { view } from './view.mjs';

const [command, studio, folder, name] = process.argv.slice(2);
const { say, note, end } = claims(`${name}: `);
const cutis = (...words) => execFileSync(command, words, { stdio: ['ignore', 'pipe', 'pipe'] });

function commandPositions(model, words) {
  const out = join(folder, 'positions.npy');
  cutis('deform', model, ...words, '-q', '-o', out);
  return readNpy(out).values;
}

// A rotation turned by hand is a key in the file, and a key is normalised when it is read: the last bit of a length of about 1.
const KEY_ROUNDING = 2 ** -22;

/** '' if two lists of floats are the same bits (or as near as is allowed); else how far they are apart. */
function apart(got, wanted, allowed = 0) {
  if (sameBytes(got, wanted)) return '';
  const [a, b] = [got, wanted].map(({ buffer, byteOffset, byteLength }) => new Float32Array(buffer.slice(byteOffset, byteOffset + byteLength)));
  if (a.length !== b.length) return `${a.length} and ${b.length} numbers`;
  const most = a.reduce((far, x, i) => Math.max(far, Math.abs(x - b[i])), 0);
  return most > 0 && most <= allowed ? '' : `${a.reduce((n, x, i) => n + (x === b[i] ? 0 : 1), 0)} of ${a.length} numbers, at most ${most}`;
}

/** Every method that the page offers for what is open, at a time of a clip. */
async function exactMethods(page, model, clip, frame) {
  const offered = await page.state('s.info.methods'), wrong = [];
  await tab(page, 'deform');
  await setExact(page, true);
  await seek(page, clip, frame / 30);
  for (const id of offered) {
    await setMethod(page, 0, id);
    const words = id === 'sbs-weighted' ? ['sbs', '--weighted'] : id === 'patches' ? ['patches', '--fixed'] : [id];
    const wanted = commandPositions(model, ['--clip', clip, '--frames', `${frame}:${frame + 1}`, '--method', ...words]);
    const far = apart(await positions(page), wanted);
    if (far) wrong.push(`${id}: ${far}`);
  }
  await setExact(page, false);
  await setMethod(page, 0, 'lbs');
  return { offered, wrong };
}

async function testOpenAndBits(page, model) {
  say('the model named on the command line is open', (await page.state('s.source?.name')) === 'rich' && (await page.state('s.info.vertexCount')) === 3000 ? '' : await page.text('#notice'));
  const { offered, wrong } = await exactMethods(page, model, 'bend', 45);
  say(`exact positions of the biped are the command's bits, for ${offered.length} methods`, offered.length < 6 ? `only ${offered} are offered` : wrong.join(', '));
}
async function testPoseSpaceBits(page) {
  await openBuiltIn(page, 'arm');
  const { offered, wrong } = await exactMethods(page, join(studio, 'models', 'arm.glb'), 'bend', 15);
  say(`exact positions of the arm are the command's bits, for ${offered.length} methods, pose space too`, offered.includes('wpsd') && offered.includes('psd') ? wrong.join(', ') : `only ${offered} are offered`);
}

async function testUntouched(page, source) {
  const { bytes, name: as, proposed } = await saveGlb(page);
  say('a model that was not changed is saved as it was', (await invalid(bytes)) || differences(source, bytes).join(' | '));
  say('the sheet proposes another name than that of the source', proposed !== 'rich.glb' && as === proposed ? '' : `${proposed}, ${as}`);
}

/** Pose by hand, undo, redo, scrub, save, reopen. */
async function testPose(page, source) {
  await drop(page, [['rich.glb', source]]);
  say('nothing is unsaved, nothing can be undone', (await page.state('s.unsaved')) || (await page.state('s.history.at')) || !(await page.evaluate(() => document.getElementById('undo').disabled)) ? 'something is' : '');
  await tab(page, 'pose');
  await seek(page, 'bend', 0.5);
  const start = await fingerprint(page);
  await chooseJoint(page, 'forearm_l');
  await turnJoint(page, 2, 40);
  const turned = await fingerprint(page);
  say('a slider turns a joint, and the work is unsaved', turned !== start && (await page.state('s.unsaved')) ? '' : 'nothing turned');
  await page.evaluate(() => document.getElementById('canvas').focus()); // a click there would select what lies in the middle
  await page.key('Control+z');
  say('Ctrl+Z takes it back, bit for bit', (await fingerprint(page)) === start && !(await page.state('s.unsaved')) ? '' : 'another shape');
  await page.click('#redo');
  say('the button puts it there again', (await fingerprint(page)) === turned ? '' : 'another shape');
  await page.fill('#scrub', '1.2');
  const seen = async () => ({ shape: await fingerprint(page), ...await page.state('({ joint: s.markerName(s.joints.indexOf(s.joint)), turn: s.rotation(s.joint).join(), time: s.time, playing: s.playing })') }), later = await seen();
  await page.fill('#scrub', '0.5');
  const back = await seen();
  say('a pose made by hand survives scrubbing', later.shape !== turned && back.shape === turned && back.joint === 'forearm_l' && back.turn === later.turn ? '' : JSON.stringify({ turned, later, back }));
  await tab(page, 'deform');
  await setExact(page, true);
  const shown = await positions(page);
  await setExact(page, false);
  const { bytes, changes } = await saveGlb(page, { name: 'posed.glb' });
  say('the sheet says that the pose becomes a clip', /pose/i.test(changes) ? '' : changes);
  say('the posed model is valid (Khronos)', await invalid(bytes));
  const { json } = parse(bytes), count = parse(source).json.animations.length;
  say('it is its source and one clip more', json.animations.length === count + 1 ? differences(source, bytes, { but: new RegExp(`^/animations/${count}[:/]`) }).join(' | ') : `${json.animations.length} clips`);
  say('after saving nothing is unsaved', (await page.state('s.unsaved')) ? 'it says so' : '');
  const path = join(folder, 'posed.glb');
  writeFileSync(path, bytes);
  const clip = json.animations.at(-1).name;
  const wanted = commandPositions(path, ['--clip', clip, '--frames', '0:1']);
  say('the command shows the clip as the page did', apart(shown, wanted, KEY_ROUNDING));
  const message = await drop(page, [['posed.glb', bytes]]);
  await setExact(page, true);
  await seek(page, clip, 0);
  say('reopened, the page shows the command\'s bits', message || apart(await positions(page), wanted));
  await setExact(page, false);
}

async function testReduced(page, source) {
  await drop(page, [['rich.glb', source]]);
  const { bytes, changes } = await saveGlb(page, { name: 'four.glb', influences: 4 });
  const found = differences(source, bytes);
  say('capped to four influences, the file differs in them alone, and the sheet says so', (await invalid(bytes)) || (found.length === 1 && /influences.*4 at most/.test(found[0]) && /influence/i.test(changes) ? '' : `${found.join(' | ')}; ${changes}`));
}

const plain = join(folder, 'plain.glb'), model = join(folder, 'rich.glb');
cutis('synth', 'biped', '--vertices', '3000', '-q', '-o', plain);
writeFileSync(model, rich(readFileSync(plain)));
const source = readFileSync(model), server = view(command, [model]), browser = await launch(name, folder);
let page;
try {
  page = await browser.open(await server.address);
  await page.ready();
  note('ready');
  for (const step of [testOpenAndBits, testUntouched, testPose, testReduced, testPoseSpaceBits]) {
    await step(page, step === testOpenAndBits ? model : source);
      note(step.name);
  }
  say('no errors or warnings on the console', page.complaints.slice(0, 3).join(' | '));
  const { origin } = new URL(await server.address), foreign = page.requests.filter((url) => !url.startsWith(`${origin}/`) && !/^(blob|data):/.test(url));
  say('no request to another origin', foreign.slice(0, 3).join(' '));
} catch (error) {
  say('the steps ran to their end', `${error.message.split('\n')[0]}${page?.complaints.length ? ` (console: ${page.complaints[0]})` : ''}`);
} finally {
  await browser.close();
  await server.stop();
}
end();
