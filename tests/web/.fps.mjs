import { launch } from './drive.mjs';
import { view } from './view.mjs';
const server = view('/work/w25a/build/cutis', []), browser = await launch('chromium', '/tmp/w25a');
const page = await browser.open(await server.address, { width: 1684, height: 836 }); // the stage is 1280 x 720
await page.ready(60000, 'start');
const box = await page.box('#canvas');
const measure = (low) => page.evaluate(async (value) => {
  const { viewport: v } = window.studio, gl = v.renderer.getContext(), px = new Uint8Array(4), out = [];
  v.setLow(value);
  for (let i = 0; i < 24; i++) { v.shapeMoved = true; v.slow = false; const t = performance.now(); v.render(); gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, px); out.push(performance.now() - t); }
  out.sort((a, b) => a - b);
  return [out[0], out[12]].map((x) => x.toFixed(1));
}, low);
console.log(box.width, box.height, 'high', await measure(false), 'low', await measure(true));
await page.evaluate(() => { window.studio.viewport.setLow(true); window.studio.setPlaying(true); });
await new Promise((r) => setTimeout(r, 4000));
console.log('playing, low, ms a frame', await page.state('s.frames.means.frame'));
await browser.close(); await server.stop();
