// The pictures of docs/guide/studio.md: node shots.mjs CUTIS OUTPUT. Also how to look at the page at other sizes:
// node shots.mjs CUTIS OUTPUT WIDTH HEIGHT light|dark takes every state at that size. ONLY=PATTERN: those of that name alone.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './drive.mjs';
import { idle, openBuiltIn, tab } from './stage.mjs';
import { view } from './view.mjs';

const [command, output, width, height, scheme] = process.argv.slice(2);
const STATES = [
  { name: 'studio-journey', scheme: 'light', tab: 'start', act: "await s.openBuiltIn('scan'); await s.panels.journey.rig(); await s.panels.journey.move('walk'); s.setPlaying(false); s.seek(0.3);" },
  { name: 'studio-rigged', scheme: 'dark', tab: 'start', act: "await s.openBuiltIn('scan'); await s.panels.journey.rig();" },
  { name: 'studio-joints', scheme: 'dark', tab: 'joints', act: "await s.openBuiltIn('scan'); await s.panels.journey.rig(); s.panels.joints.select('forearm_l');" },
  { name: 'studio', scheme: 'light', act: "s.edit({ split: true, methods: ['rigid', 'sbs-weighted'], clip: 2 }); s.seek(1.5);" },
  { name: 'studio-weights', scheme: 'light', tab: 'weights', act: "s.edit({ influences: 1, show: 'error', clip: 2 }); s.seek(1.5);" },
  { name: 'studio-pose', scheme: 'dark', open: 'arm', tab: 'pose', act: 's.applyExample(2);' },
  { name: 'studio-handles', scheme: 'dark', open: 'quadruped', tab: 'handles', act: "s.handleMode = 'place'; s.handle = 2; s.panels.show(); s.frames.changed();" },
  { name: 'studio-brush', scheme: 'light', tab: 'weights', act: "s.setClip(2); s.seek(1.2); s.brush.mirror = true; s.brush.setOn(true); s.panels.show();", stroke: 'upperarm_l' },
  { name: 'studio-compare', scheme: 'light', tab: 'deform', act: "s.edit({ split: true, layout: 'side', bodies: 4, clip: 2, methods: ['rigid', 'lbs', 'dqs', 'sbs-weighted'] }); s.seek(1.5);", until: 's.compare.ready' },
  { name: 'studio-cage', scheme: 'dark', open: 'quadruped', tab: 'handles', act: "document.getElementById('cage-section').scrollIntoView(); s.cages.bind();", until: "s.cages.active && document.getElementById('busy').hidden", then: "s.cages.control = s.cages.controls.reduce((best, z, i) => (i % 3 === 2 && z > s.cages.controls[3 * best + 2] ? (i - 2) / 3 : best), 0); s.cages.move(s.cages.control, s.cages.place(s.cages.control).map((x, c) => x + [0, 0.15, 0.2][c])); document.getElementById('cage-section').scrollIntoView();" },
  { name: 'studio-patches', scheme: 'dark', tab: 'deform', act: "s.edit({ methods: ['patches', 'lbs', 'dqs', 'sbs'], show: 'parts', clip: 2 }); s.seek(1.5);" },
];
const only = new RegExp(process.argv[7] ?? process.env.ONLY ?? '.');
const server = view(command, []), address = await server.address, browser = await launch('chromium', output);
for (const state of STATES.filter(({ name }) => only.test(name))) {
  const page = await browser.open(address, { width: Number(width ?? 1280), height: Number(height ?? 800), scheme: scheme ?? state.scheme, quality: 'high' });
  await page.ready();
  if (state.open) await openBuiltIn(page, state.open);
  if (state.tab) await tab(page, state.tab);
  await page.evaluate(`async () => { const s = window.studio; ${state.act} }`);
  if (state.until) await page.until(`() => { const s = window.studio; return !!(${state.until}); }`);
  if (state.then) await page.evaluate(`() => { const s = window.studio; ${state.then} }`);
  await idle(page);
  if (state.stroke) {
    const [x, y] = await page.state(`(() => { const n = s.info.description.nodes.findIndex((node) => node.name === '${state.stroke}'), w = s.frames.shown.world; return s.viewport.project([w[12 * n + 3], w[12 * n + 7], w[12 * n + 11]]); })()`), box = await page.box('#canvas');
    await page.act([{ move: [box.x + x - 3, box.y + y] }, { move: [box.x + x, box.y + y] }]);
    await idle(page);
    await page.drag([box.x + x, box.y + y], [-24, 20], 10);
  }
  for (let i = 0; i < 20; i++) { await page.evaluate(() => { window.studio.frames.changed(); }); await idle(page); } // so that the speeds shown are settled
  writeFileSync(join(output, `${state.name}${width ? `-${width}-${scheme}` : ''}.png`), await page.screenshot());
  for (const complaint of page.complaints) console.log(complaint);
  await page.close();
}
await browser.close();
await server.stop();
