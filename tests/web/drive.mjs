// Both browsers behind one small interface, so that a step is written once: Debian's Chromium by playwright-core, Debian's
// Firefox (which playwright cannot drive) by WebDriver BiDi, a list of JSON messages over a websocket; the websocket is the one
// that playwright-core carries. A page gives two primitives of its own (`run` a text, `act` with pointer or keys) and a few more;
// everything a step uses is made of them in `Page`, the same for both.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { chromium } from 'playwright-core';

const { ws: WebSocket } = createRequire(import.meta.url)('playwright-core/lib/utilsBundle');
const CHROMIUM = process.env.CHROMIUM ?? '/usr/bin/chromium', FIREFOX = process.env.FIREFOX ?? '/usr/bin/firefox-esr';
const SOFTWARE = ['--no-sandbox', '--ignore-gpu-blocklist', '--enable-unsafe-swiftshader', '--use-gl=angle', '--use-angle=swiftshader', '--hide-scrollbars', '--font-render-hinting=none', '--js-flags=--expose-gc', '--enable-precise-memory-info'];
const PREFERENCES = { 'webgl.force-enabled': true, 'browser.shell.checkDefaultBrowser': false, 'datareporting.policy.dataSubmissionEnabled': false, 'browser.download.alwaysOpenPanel': false, 'dom.disable_beforeunload': false };
const PATIENCE = 60_000; // a machine with other work

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
export const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
/** How a page is looked at; what is not said. Low quality, unless a test is about how the stage looks: drawing it well without a GPU
 * takes most of a test's time. */
const looks = ({ width = 900, height = 640, scheme = 'light', scale = 1, motion = 'no-preference', quality = 'low' } = {}) => ({ width, height, scheme, scale, motion, quality });
/** Before a page's own scripts: the quality that this browser's user chose, unless a step has chosen another. */
const choosing = (quality) => `try { if (!localStorage.getItem('view-quality')) localStorage.setItem('view-quality', '${quality}'); } catch { /* a page of no origin */ }`;

/** Processor time of every thread of some processes, milliseconds. */
function timesOf(processes) {
  const threads = new Map(), there = (look) => { try { return look(); } catch { return null; } }; // null: it has ended
  for (const id of processes) {
    for (const thread of there(() => readdirSync(`/proc/${id}/task`)) ?? []) {
      const time = there(() => readFileSync(`/proc/${id}/task/${thread}/schedstat`, 'utf8'));
      if (time) threads.set(thread, Number(time.split(' ')[0]) / 1e6);
    }
  }
  return threads;
}
/** Processes of a group: those that a detached one started. */
const groupOf = (leader) => readdirSync('/proc').filter((id) => { try { return /^\d+$/.test(id) && Number(readFileSync(`/proc/${id}/stat`, 'utf8').split(') ').at(-1).split(' ')[2]) === leader; } catch { return false; } });

/** What steps use. Complaints are the console's errors and warnings; requests the addresses asked for. */
export class Page {
  constructor() { this.complaints = []; this.requests = []; this.downloads = []; }

  /** The value (as JSON) of a function of the page, promises waited for. */
  async evaluate(what, argument = null) {
    const text = await this.run(`Promise.resolve((${what})(${JSON.stringify(argument)})).then((value) => JSON.stringify(value))`);
    return text === undefined || text === null ? undefined : JSON.parse(text);
  }
  state(expression) { return this.evaluate(`async () => { const s = window.studio; return ${expression}; }`); }
  /** The bytes of a typed array of the page: JSON would lose the sign of a zero. */
  async bytes(expression) {
    const text = await this.state(`(() => { const a = ${expression}, b = new Uint8Array(a.buffer, a.byteOffset, a.byteLength); let t = ''; for (let i = 0; i < b.length; i += 8192) t += String.fromCharCode(...b.subarray(i, i + 8192)); return btoa(t); })()`);
    return new Uint8Array(Buffer.from(text, 'base64'));
  }
  async until(what, argument = null, patience = PATIENCE) {
    for (const end = Date.now() + patience; Date.now() < end; await pause(30)) if (await this.evaluate(what, argument)) return;
    throw new Error(`waited ${patience} ms for ${what}`);
  }
  /** It has started; steps begin on the page of methods, unless they say another. */
  async ready(patience = PATIENCE, tab = 'deform') {
    await this.until(() => 'ready' in document.documentElement.dataset, null, patience);
    await this.evaluate((name) => { window.studio?.panels?.selectTab(name); }, tab);
  }

  // What a user does. Everything by pointer and keys, but for selects and sliders, whose widgets are the browser's own.
  async box(selector) {
    return this.evaluate((s) => {
      const element = document.querySelector(s);
      if (!element) throw new Error(`nothing matches ${s}`);
      element.scrollIntoView({ block: 'nearest', inline: 'nearest', behavior: 'instant' });
      const { x, y, width, height } = element.getBoundingClientRect();
      return { x, y, width, height };
    }, selector);
  }
  async click(selector) {
    const { x, y, width, height } = await this.box(selector);
    if (!width || !height) throw new Error(`${selector} cannot be clicked: it is not shown`);
    await this.clickAt(x + width / 2, y + height / 2);
  }
  async clickAt(x, y) { await this.act([{ move: [x, y] }, { down: true }, { up: true }]); }
  async drag(from, by, steps = 3) {
    const moves = Array.from({ length: steps }, (_, i) => ({ move: from.map((x, c) => x + (by[c] * (i + 1)) / steps) }));
    await this.act([{ move: from }, { down: true }, ...moves, { up: true }]);
  }
  /** A radio or check box, by its label (the box itself may be drawn by the label). */
  async check(selector) {
    const shown = await this.evaluate((s) => { const e = document.querySelector(s), l = e.closest('label') ?? e; l.dataset.tested = 'yes'; return e.checked; }, selector);
    if (!shown) await this.click('[data-tested]').finally(() => this.evaluate(() => { delete document.querySelector('[data-tested]')?.dataset.tested; }));
    else await this.evaluate(() => { delete document.querySelector('[data-tested]')?.dataset.tested; });
  }
  async fill(selector, value) {
    await this.evaluate(([s, v]) => {
      const e = document.querySelector(s);
      e.focus();
      e.value = v;
      for (const type of ['input', 'change']) e.dispatchEvent(new Event(type, { bubbles: true }));
    }, [selector, String(value)]);
  }
  async choose(selector, label) {
    await this.evaluate(([s, wanted]) => {
      const e = document.querySelector(s), option = [...e.options].find((each) => each.label.trim() === wanted || each.value === wanted);
      if (!option) throw new Error(`${s} has no ${wanted}: ${[...e.options].map((each) => each.label)}`);
      e.value = option.value;
      for (const type of ['input', 'change']) e.dispatchEvent(new Event(type, { bubbles: true }));
    }, [selector, label]);
  }
  async key(chord) {
    const keys = chord.split(/(?<=.)\+/);
    await this.act([...keys.map((key) => ({ press: key })), ...keys.reverse().map((key) => ({ release: key }))]);
  }
  async text(selector) { return (await this.evaluate((s) => document.querySelector(s)?.innerText, selector)) ?? ''; }
  async shown(selector) { return this.evaluate((s) => !!document.querySelector(s)?.checkVisibility(), selector); }
  /** Files let fall on the stage: [[name, bytes]]. */
  async drop(files) {
    await this.evaluate((list) => {
      const transfer = new DataTransfer(), stage = document.getElementById('stage');
      for (const [name, text] of list) transfer.items.add(new File([Uint8Array.from(atob(text), (c) => c.charCodeAt(0))], name));
      for (const type of ['dragenter', 'dragover', 'drop']) stage.dispatchEvent(new DragEvent(type, { dataTransfer: transfer, bubbles: true, cancelable: true }));
    }, files.map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]));
  }
  /** What an action takes of the browser's processor time: { result, total, longest: of one thread }, milliseconds. */
  async spends(action) {
    const before = await this.spent(), result = await action(), each = [...await this.spent()].map(([thread, time]) => time - (before.get(thread) ?? 0));
    return { result, total: each.reduce((a, b) => a + b, 0), longest: Math.max(...each) };
  }
  /** What an action downloads: { name, bytes }. */
  async download(action) {
    const before = this.downloads.length;
    await action();
    for (const end = Date.now() + PATIENCE / 2; this.downloads.length === before; await pause(30)) if (Date.now() > end) throw new Error('nothing was downloaded');
    return this.downloads.at(-1);
  }
}

// Chromium --------------------------------------------------------------------------------------

class ChromiumPage extends Page {
  constructor(page, context) {
    super();
    Object.assign(this, { page, context });
    page.setDefaultTimeout(PATIENCE);
    page.on('console', (message) => { if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text()); });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    page.on('request', (asked) => this.requests.push(asked.url()));
    page.on('download', async (saved) => this.downloads.push({ name: saved.suggestedFilename(), bytes: readFileSync(await saved.path()) }));
  }
  run(text) { return this.page.evaluate(text); }
  async act(list) {
    for (const { move, down, up, press, release } of list) {
      if (move) await this.page.mouse.move(...move);
      if (down) await this.page.mouse.down();
      if (up) await this.page.mouse.up();
      if (press) await this.page.keyboard.down(press === 'Space' ? ' ' : press);
      if (release) await this.page.keyboard.up(release === 'Space' ? ' ' : release);
    }
  }
  async go(address) { await this.page.goto(address); }
  async reload() { await this.page.reload(); }
  async pick(selector, paths) { await this.page.setInputFiles(selector, paths); }
  async screenshot() { return this.page.screenshot(); }
  async offline(value) { await this.context.setOffline(value); }
  async resize(width, height) { await this.page.setViewportSize({ width, height }); }
  /** Another tab of the same visitor. */
  async beside(address) { const tab = new ChromiumPage(await this.context.newPage(), this.context); tab.close = () => tab.page.close(); await tab.go(address); return tab; }
  /** Processor time of every thread of the browser, milliseconds. What others do on the machine is not in it, though caches that
   * they fill make it up to a third longer: a test can claim something of it. */
  async spent() {
    this.whole ??= await this.context.browser().newBrowserCDPSession();
    return timesOf((await this.whole.send('SystemInfo.getProcessInfo')).processInfo.map(({ id }) => id));
  }
  async close() { await this.context.close(); }
}

async function launchChromium() {
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: SOFTWARE });
  return {
    name: 'Chromium',
    async open(address, options) {
      const { width, height, scheme, scale, motion, quality } = looks(options);
      const context = await browser.newContext({ viewport: { width, height }, colorScheme: scheme, deviceScaleFactor: scale, reducedMotion: motion, acceptDownloads: true });
      const page = new ChromiumPage(await context.newPage(), context);
      for (const text of [choosing(quality), options?.before]) if (text) await context.addInitScript(text);
      await page.go(address);
      return page;
    },
    close: () => browser.close(),
  };
}

// Firefox ---------------------------------------------------------------------------------------

const KEYS = { Control: '\uE009', Shift: '\uE008', Alt: '\uE00A', Meta: '\uE03D', Escape: '\uE00C', Delete: '\uE017', Enter: '\uE007', Tab: '\uE004', Space: ' ', Backspace: '\uE003', ArrowLeft: '\uE012', ArrowUp: '\uE013', ArrowRight: '\uE014', ArrowDown: '\uE015', Home: '\uE011', End: '\uE010' };

/** A connection to a browser that speaks WebDriver BiDi. */
class BiDi {
  constructor(socket) {
    Object.assign(this, { socket, serial: 0, waiting: new Map(), listeners: new Map() });
    socket.on('message', (text) => {
      const { id, type, result, method, params, error, message } = JSON.parse(text);
      if (id === undefined) { this.listeners.get(params?.source?.context ?? params?.context)?.(method, params); return; }
      const { resolve, reject } = this.waiting.get(id);
      this.waiting.delete(id);
      if (type === 'error') reject(new Error(`${error}: ${message}`)); else resolve(result);
    });
    socket.on('close', () => { for (const { reject } of this.waiting.values()) reject(new Error('Firefox is gone')); });
  }
  static async connect(address) {
    const socket = new WebSocket(address, { perMessageDeflate: false, maxPayload: 1 << 30 });
    await new Promise((resolve, reject) => { socket.on('open', resolve); socket.on('error', reject); });
    return new BiDi(socket);
  }
  send(method, params = {}) {
    return new Promise((resolve, reject) => {
      this.waiting.set(++this.serial, { resolve, reject });
      this.socket.send(JSON.stringify({ id: this.serial, method, params }));
    });
  }
}

class FirefoxPage extends Page {
  constructor(bidi, context, leader) {
    super();
    Object.assign(this, { bidi, context, leader });
    bidi.listeners.set(context, (method, params) => this.heard(method, params));
  }
  heard(method, params) {
    if (method === 'log.entryAdded' && ['error', 'warn'].includes(params.level)) this.complaints.push(params.text);
    if (method === 'network.beforeRequestSent') this.requests.push(params.request.url);
    if (method === 'browsingContext.downloadEnd' && params.status === 'complete') this.downloads.push({ name: basename(params.filepath), bytes: readFileSync(params.filepath) });
  }
  async run(text) {
    const { result, exceptionDetails } = await this.bidi.send('script.evaluate', { expression: text, target: { context: this.context }, awaitPromise: true, userActivation: false });
    if (exceptionDetails) throw new Error(exceptionDetails.text);
    return result.value;
  }
  async act(list) {
    for (const { move, down, up, press, release } of list) { // one tick each, so that frames come between as with a hand
      const pointer = move ? { type: 'pointerMove', x: Math.round(move[0]), y: Math.round(move[1]) } : down ? { type: 'pointerDown', button: 0 } : up ? { type: 'pointerUp', button: 0 } : null;
      const actions = pointer ? [{ type: 'pointer', id: 'mouse', parameters: { pointerType: 'mouse' }, actions: [pointer] }]
        : [{ type: 'key', id: 'keys', actions: [{ type: press ? 'keyDown' : 'keyUp', value: KEYS[press ?? release] ?? press ?? release }] }];
      await this.bidi.send('input.performActions', { context: this.context, actions });
    }
  }
  async go(address) { await this.bidi.send('browsingContext.navigate', { context: this.context, url: address, wait: 'complete' }); }
  async reload() { await this.bidi.send('browsingContext.reload', { context: this.context, wait: 'complete' }); }
  async pick(selector, paths) {
    const { nodes } = await this.bidi.send('browsingContext.locateNodes', { context: this.context, locator: { type: 'css', value: selector } });
    await this.bidi.send('input.setFiles', { context: this.context, element: { sharedId: nodes[0].sharedId }, files: [paths].flat() });
  }
  async screenshot() { return Buffer.from((await this.bidi.send('browsingContext.captureScreenshot', { context: this.context })).data, 'base64'); }
  async resize(width, height, scale = 1) { await this.bidi.send('browsingContext.setViewport', { context: this.context, viewport: { width, height }, devicePixelRatio: scale }); }
  async beside(address) { const { context } = await this.bidi.send('browsingContext.create', { type: 'tab' }), tab = new FirefoxPage(this.bidi, context, this.leader); await tab.go(address); return tab; }
  async spent() { return timesOf(groupOf(this.leader)); }
  async close() { await this.bidi.send('browsingContext.close', { context: this.context }); }
}

/** Firefox without a window; Xvfb gives its WebGL something to ask for a display. */
async function launchFirefox(folder) {
  const profile = mkdtempSync(resolve(folder, 'firefox-')), saved = join(profile, 'saved');
  mkdirSync(saved);
  writeFileSync(join(profile, 'user.js'), Object.entries(PREFERENCES).map(([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`).join(''));
  const child = spawn('xvfb-run', ['-a', FIREFOX, '--headless', '--no-remote', '--profile', profile, '--remote-debugging-port', '0', 'about:blank'], { detached: true });
  const kill = () => { try { process.kill(-child.pid, 'SIGKILL'); } catch { /* it has ended, as it was asked to */ } };
  process.on('exit', kill); // a test that is stopped takes its browser along
  const ended = new Promise((resolve) => { child.on('exit', resolve); });
  const address = await new Promise((resolve, reject) => {
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => { said += data; const found = said.match(/ws:\/\/[^\s/]+/); if (found) resolve(found[0]); });
    child.on('error', reject);
    ended.then(() => reject(new Error(`Firefox does not start: ${said.trim().slice(-300)}`)));
  });
  const bidi = await BiDi.connect(`${address}/session`);
  await bidi.send('session.new', { capabilities: {} });
  await bidi.send('session.subscribe', { events: ['log.entryAdded', 'network.beforeRequestSent', 'browsingContext.downloadEnd'] });
  await bidi.send('browser.setDownloadBehavior', { downloadBehavior: { type: 'allowed', destinationFolder: saved } });
  return {
    name: 'Firefox',
    async open(url, options) {
      const { width, height, scale, quality } = looks(options), { context } = await bidi.send('browsingContext.create', { type: 'tab' });
      await bidi.send('script.addPreloadScript', { functionDeclaration: `() => { ${choosing(quality)} }`, contexts: [context] });
      const page = new FirefoxPage(bidi, context, child.pid);
      await page.resize(width, height, scale);
      await page.go(url);
      return page;
    },
    async close() {
      await Promise.race([bidi.send('browser.close').catch(() => {}), pause(5000)]);
      bidi.socket.terminate();
      await Promise.race([ended, pause(5000)]);
      kill();
      process.off('exit', kill);
      rmSync(profile, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

export const launch = (name, folder) => (name === 'firefox' ? launchFirefox(folder) : launchChromium());
