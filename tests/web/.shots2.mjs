import { launch } from './drive.mjs';
import { drop, idle, tab } from './stage.mjs';
import { view } from './view.mjs';
import { readFileSync, writeFileSync } from 'node:fs';
const server = view('/work/w25a/build/cutis', []), browser = await launch('chromium', '/tmp/w25a');
for (const [w, h, scheme] of [[1024, 768, 'dark'], [390, 844, 'light'], [1440, 900, 'dark']]) {
  const page = await browser.open(await server.address, { width: w, height: h, scheme });
  await page.ready(60000, 'start');
  const shot = async (n) => writeFileSync(`/tmp/w25a/s-${w}-${scheme}-${n}.png`, await page.screenshot());
  await shot('start');
  if (w === 1440) { await drop(page, [['sphere.obj', readFileSync('/tmp/w25a/sphere.obj')]]); await page.evaluate(() => window.studio.panels.journey.rig('human')); await page.until(() => !document.getElementById('notice').hidden, null, 90000); await idle(page); await shot('refused'); }
  else { await tab(page, 'joints'); await shot('joints'); await tab(page, 'scene'); await shot('scene'); await tab(page, 'weights'); await shot('weights'); await tab(page, 'deform'); await shot('deform'); }
  console.log(page.complaints);
  await page.close();
}
await browser.close(); await server.stop();
