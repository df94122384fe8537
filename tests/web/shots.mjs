// The pictures of docs/guide/studio.md: node shots.mjs CUTIS OUTPUT. Also how to look at the page at other sizes:
// node shots.mjs CUTIS OUTPUT WIDTH HEIGHT light|dark takes every state at that size.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { launch } from './drive.mjs';
import { idle, openBuiltIn, tab } from './stage.mjs';
import { view } from './view.mjs';

const [command, output, width, height, scheme] = process.argv.slice(2);
const STATES = [
  { name: 'studio-journey', scheme: 'light', tab: 'start', act: "await s.openBuiltIn('scan'); await s.panels.journey.rig(); await s.panels.journey.move('walk'); s.setPlaying(false); s.seek(0.3);" },
  { name: 'studio-joints', scheme: 'dark', tab: 'joints', act: "await s.openBuiltIn('scan'); await s.panels.journey.rig(); s.panels.joints.select('forearm_l');" },
  { name: 'studio', scheme: 'light', act: "s.edit({ split: true, methods: ['rigid', 'sbs-weighted'], clip: 2 }); s.seek(1.5);" },
  { name: 'studio-weights', scheme: 'light', tab: 'weights', act: "s.edit({ influences: 1, show: 'error', clip: 2 }); s.seek(1.5);" },
  { name: 'studio-pose', scheme: 'dark', open: 'arm', tab: 'pose', act: 's.applyExample(2);' },
  { name: 'studio-handles', scheme: 'dark', open: 'quadruped', tab: 'handles', act: "s.handleMode = 'place'; s.handle = 2; s.panels.show(); s.frames.changed();" },
];
const server = view(command, []), address = await server.address, browser = await launch('chromium', output);
for (const state of STATES) {
  const page = await browser.open(address, { width: Number(width ?? 1280), height: Number(height ?? 800), scheme: scheme ?? state.scheme });
  await page.ready();
  if (state.open) await openBuiltIn(page, state.open);
  if (state.tab) await tab(page, state.tab);
  await page.evaluate(`async () => { const s = window.studio; ${state.act} }`);
  for (let i = 0; i < 20; i++) { await page.evaluate(() => { window.studio.frames.changed(); }); await idle(page); } // so that the speeds shown are settled
  writeFileSync(join(output, `${state.name}${width ? `-${width}-${scheme}` : ''}.png`), await page.screenshot());
  for (const complaint of page.complaints) console.log(complaint);
  await page.close();
}
await browser.close();
await server.stop();
