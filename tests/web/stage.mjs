// What steps do with the studio's page, in either browser: open, wait, look at what is shown, save.
import { readFileSync } from 'node:fs';
import validator from 'gltf-validator';
import { pause } from './drive.mjs';

/** Nothing is in flight and what is shown is drawn. */
export const idle = (page) => page.evaluate(() => window.studio.idle().then(() => true));

/** Until a model is open; unsaved work is let go when the page asks about it. */
async function opens(page, what, argument) {
  await page.until(`(argument) => document.getElementById('guard').open || (${what})(argument)`, argument);
  if (!(await discard(page))) return;
  await page.until(what, argument);
}
export async function openBuiltIn(page, id) {
  await page.choose('#character', id);
  await opens(page, (name) => window.studio.source?.name === name && document.getElementById('busy').hidden, id);
  await idle(page);
}
/** Drop files and wait for the model, or for a message. @returns the message, '' if it opened without */
export async function drop(page, files, name = files[0][0].replace(/\.[^.]*$/, '')) {
  await page.evaluate(() => { document.getElementById('notice').hidden = true; window.before = window.studio.document; });
  await page.drop(files);
  await opens(page, (wanted) => (window.studio.document !== window.before && window.studio.source?.name === wanted && document.getElementById('busy').hidden) || !document.getElementById('notice').hidden, name);
  await idle(page);
  return (await page.shown('#notice')) ? page.text('#notice') : '';
}
/** Unsaved work is let go, where the page asks about it. */
async function discard(page) {
  const asked = await page.evaluate(() => document.getElementById('guard').open);
  if (asked) await page.click('#guard-discard');
  return asked;
}
export async function tab(page, name) { await page.click(`#tab-${name}`); await idle(page); }
export async function seek(page, clip, seconds) {
  await page.choose('#clip', clip);
  await page.fill('#scrub', seconds);
  await idle(page);
}
/** A number that changes when the shown positions change. */
export async function fingerprint(page, side = 0) {
  await idle(page);
  return page.state(`Array.from(s.viewport.sides[${side}].positions.array).reduce((h, x, i) => (h + x * ((i % 977) + 1)) % 1e9, 0)`);
}
export const positions = async (page, side = 0) => { await idle(page); return page.bytes(`s.viewport.sides[${side}].positions.array`); };
export const sameBytes = (a, b) => Buffer.from(a.buffer, a.byteOffset, a.byteLength).equals(Buffer.from(b.buffer, b.byteOffset, b.byteLength));
export async function setMethod(page, side, id) { await page.check(`.method[data-method="${id}"] .chip.${'ab'[side]} input`); await idle(page); }
export async function setExact(page, on) {
  if ((await page.evaluate(() => document.getElementById('exact').checked)) !== on) await page.click('label:has(#exact)');
  await idle(page);
}
/** A turn of the selected joint about an axis, in degrees, by its slider. */
export async function turnJoint(page, axis, degrees) { await page.fill(`#turns label:nth-of-type(${axis + 1}) input`, degrees); await idle(page); }
export async function chooseJoint(page, name) {
  await page.choose('#joint', name);
  await idle(page);
}
/** The export sheet, filled in and sent off: { name, bytes, changes, proposed }. */
export async function saveGlb(page, { name = null, influences = null, handles = null } = {}) {
  await page.click('#save-glb');
  await page.until(() => document.getElementById('export').open);
  const proposed = await page.evaluate(() => document.getElementById('export-name').value);
  if (name) await page.fill('#export-name', name);
  if (influences) await page.choose('#export-influences', String(influences));
  if (handles !== null) await page.choose('#export-handles', handles);
  await pause(30);
  const changes = await page.text('#export-changes'), saved = await page.download(() => page.click('#export-save'));
  await page.until(() => !document.getElementById('export').open && document.getElementById('busy').hidden);
  return { ...saved, changes, proposed };
}
/** What the Khronos validator calls an error: '' or the first. */
export async function invalid(bytes) {
  const report = await validator.validateBytes(new Uint8Array(bytes), { maxIssues: 20 }), first = report.issues.messages.find((message) => message.severity === 0);
  return report.issues.numErrors ? `${report.issues.numErrors} errors, first ${first?.code} at ${first?.pointer}` : '';
}
/** Where a point of the scene is in the window. */
export async function onScreen(page, expression) {
  const { x, y } = await page.box('#canvas'), [px, py] = await page.state(`s.viewport.project(${expression})`);
  return [x + px, y + py];
}
export const file = (path) => [path.split('/').at(-1), readFileSync(path)];
