// The pictures of docs/guide/studio.md: node shots.mjs CUTIS OUTPUT. Also how to look at the page at other sizes:
// node shots.mjs CUTIS OUTPUT WIDTH HEIGHT light|dark takes every state at that size.
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { view } from './view.mjs';

const [command, output, width, height, scheme] = process.argv.slice(2);
const STATES = [
  { name: 'studio', scheme: 'light', act: "s.panels.setSplit(true); s.setMethod(0, 'rigid'); s.setMethod(1, 'sbs-weighted'); s.clip = 2; document.getElementById('clip').value = '2'; s.panels.showClip(); s.seek(1.5); s.panels.showMethods();" },
  { name: 'studio-weights', scheme: 'light', tab: 'weights', act: "s.setInfluences(1); s.panels.showInfluences(); s.panels.setPaint('error'); s.clip = 2; document.getElementById('clip').value = '2'; s.panels.showClip(); s.seek(1.5);" },
  { name: 'studio-pose', scheme: 'dark', open: 'arm', tab: 'pose', act: 's.applyExample(2);' },
  { name: 'studio-handles', scheme: 'dark', open: 'quadruped', tab: 'handles', act: "s.handles.mode = 'place'; s.handles.selected = 2; s.panels.showHandles(); s.changed();" },
];
const server = view(command, []), address = await server.address;
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: ['--no-sandbox', '--ignore-gpu-blocklist', '--enable-unsafe-swiftshader', '--use-gl=angle', '--use-angle=swiftshader', '--hide-scrollbars'] });
for (const state of STATES) {
  const page = await browser.newPage({ viewport: { width: Number(width ?? 1280), height: Number(height ?? 800) }, colorScheme: scheme ?? state.scheme });
  page.setDefaultTimeout(120_000);
  page.on('console', (message) => console.log(message.text()));
  page.on('pageerror', (error) => console.log(error.message));
  await page.goto(address);
  await page.waitForSelector('html[data-ready]');
  if (state.open) {
    await page.selectOption('#character', state.open);
    while ((await page.evaluate(() => window.studio.source.name)) !== state.open) await new Promise((done) => { setTimeout(done, 50); });
  }
  if (state.tab) await page.click(`#tab-${state.tab}`);
  await page.evaluate(`(() => { const s = window.studio; ${state.act} })()`);
  if (state.tab === 'handles') await new Promise((done) => { setTimeout(done, 4000); });
  await page.evaluate(() => { for (let i = 0; i < 40; i++) window.studio.compute(0); }); // so that the speeds shown are settled
  await page.evaluate(() => new Promise((done) => { requestAnimationFrame(() => requestAnimationFrame(done)); }));
  await page.screenshot({ path: join(output, `${state.name}${width ? `-${width}-${scheme}` : ''}.png`) });
  await page.close();
}
await browser.close();
await server.stop();
