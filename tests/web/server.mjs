// `cutis view` as a server: node server.mjs CUTIS STUDIO FOLDER. What can be reached, what cannot, and how it starts and stops.
import { execFileSync, spawn } from 'node:child_process';
import { createServer, request } from 'node:http';
import { connect } from 'node:net';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parse } from './gltf_compare.mjs';
import { claims } from './say.mjs';
import { view as startView } from './view.mjs';

const [command, studio, folder] = process.argv.slice(2);
const { say, end } = claims();

const view = (words) => startView(command, words);

function get(port, path, { method = 'GET', host = `127.0.0.1:${port}` } = {}) {
  return new Promise((resolve, reject) => {
    const asked = request({ port, host: '127.0.0.1', path, method, headers: { host } }, (answer) => {
      const parts = [];
      answer.on('data', (part) => parts.push(part));
      answer.on('end', () => resolve({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
    });
    asked.on('error', reject);
    asked.end();
  });
}

const status = async (claim, wanted, ...ask) => { const { status: got } = await get(...ask); say(claim, got === wanted ? '' : `${ask[1]} gives ${got}, not ${wanted}`); };

const model = join(folder, 'served model.glb');
execFileSync(command, ['synth', 'cylinder', '-q', '-o', model]);
const server = view([model]);
const address = new URL(await server.address), port = Number(address.port), [, token] = address.pathname.split('/');
say('the address is on 127.0.0.1, has a token of 128 bits and names the model', address.hostname === '127.0.0.1' && /^[0-9a-f]{32}$/.test(token) && address.hash === '#open=served_model.glb' ? '' : address.href);
const page = await get(port, `/${token}/`);
say('the page is served with its security headers', page.status === 200 && /default-src 'none'/.test(page.headers['content-security-policy']) && /frame-ancestors 'none'/.test(page.headers['content-security-policy']) && page.headers['x-content-type-options'] === 'nosniff' ? '' : `${page.status} ${JSON.stringify(page.headers)}`);
{
  const files = readdirSync(studio, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile()).map((entry) => relative(studio, join(entry.parentPath ?? entry.path, entry.name)));
  const got = await Promise.all(files.filter((path) => path !== 'service.js').map(async (path) => ((await get(port, `/${token}/${path}`)).body.equals(readFileSync(join(studio, path))) ? '' : path)));
  say('all that the build made is served, byte for byte', files.length > 9 ? got.filter(Boolean).join(', ') : `only ${files}`);
  await status('but no service worker: a run leaves nothing behind in a browser', 404, port, `/${token}/service.js`);
}
const opened = await get(port, `/${token}/open/served_model.glb`);
say('the opened file is served byte for byte', opened.body.equals(readFileSync(model)) ? '' : `${opened.status}, ${opened.body.length} bytes`);
await status('without a token there is nothing', 404, port, '/');
await status('with another token there is nothing', 404, port, `/${'0'.repeat(32)}/`);
await status('with a part of the token there is nothing', 404, port, `/${token.slice(0, 16)}/`);
for (const path of ['../../../../etc/passwd', '..%2f..%2fetc%2fpasswd', 'open/../index.html', 'models/', 'open/', '/etc/passwd', 'studio.js%00', 'package.json'])
  await status(`${path} cannot be reached`, 404, port, `/${token}/${path}`);
await status('a request under another name is refused', 403, port, `/${token}/`, { host: 'evil.example' });
await status('a POST is refused', 405, port, `/${token}/`, { method: 'POST' });
{
  const outside = await new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.2' }, () => { socket.destroy(); resolve('it answers'); });
    socket.on('error', () => resolve(''));
  });
  say('it listens on 127.0.0.1 alone', outside);
}
{ // the port of the running one
  const second = view(['--port', String(port)]), other = new URL(await second.address);
  say('a port in use: the next one', Number(other.port) > port && Number(other.port) < port + 64 ? '' : other.href);
  say('another run has another token', other.pathname === address.pathname ? 'the same' : '');
  await second.stop();
}
{ // every port it tries is someone else's
  const plain = createServer().listen(0, '127.0.0.1');
  await new Promise((done) => { plain.on('listening', done); });
  const third = view(['--port', String(plain.address().port), '--json']), other = new URL(await third.address);
  say('another program on the port: the next one, and --json says where', Number(other.port) !== plain.address().port ? '' : other.href);
  await third.stop();
  plain.close();
}
const { code } = await server.stop();
say('Ctrl-C ends it with status 0', code === 0 ? '' : `status ${code}`);
{
  const broken = join(folder, 'broken.glb');
  writeFileSync(broken, 'glTF and no more');
  const { code: failed, errors, out } = await view([broken]).ended;
  say('a broken model: status 1, one line, no address', failed === 1 && /^cutis: .*broken\.glb/.test(errors) && errors.trim().split('\n').length === 1 && !out ? '' : `${failed} ${errors}${out}`);
  const missing = await view([join(folder, 'nothing.glb')]).ended;
  say('a missing model: status 1, one line', missing.code === 1 && missing.errors.trim().split('\n').length === 1 ? '' : `${missing.code} ${missing.errors}`);
}
{ // a desktop with a browser: xdg-open gets the address
  const tool = join(folder, 'xdg-open'), got = join(folder, 'opened');
  writeFileSync(tool, `#!/bin/sh\necho "$1" >"${got}"\n`, { mode: 0o755 });
  const child = spawn(command, ['view'], { env: { ...process.env, PATH: `${folder}:${process.env.PATH}`, DISPLAY: ':77' } });
  let out = '';
  child.stdout.on('data', (data) => { out += data; });
  for (let i = 0; i < 200 && !existsSync(got); i++) await new Promise((done) => { setTimeout(done, 50); });
  await new Promise((done) => { setTimeout(done, 100); });
  child.kill('SIGINT');
  const address_ = existsSync(got) ? readFileSync(got, 'utf8').trim() : '';
  say('the desktop is asked to open the address that is printed', address_ && out.startsWith(address_) ? '' : `"${address_}" and "${out}"`);
}
/** What the page gets for a file: [address, JSON of the GLB]. */
async function served(path) {
  const other = view([path]), there = new URL(await other.address), name = there.hash.slice('#open='.length), got = await get(Number(there.port), `${there.pathname}open/${name}`);
  await other.stop();
  if (got.body.subarray(0, 4).toString() !== 'glTF') throw new Error(`${name}: ${got.status}`);
  return [name, parse(got.body).json];
}
const made = (name, text) => { const path = join(folder, name); writeFileSync(path, text); return path; };
{ // every other format arrives as a GLB
  for (const extension of ['ply', 'obj', 'gltf']) {
    const path = join(folder, `body.${extension}`);
    execFileSync(command, ['convert', model, '-q', '-o', path]);
    const [name, json] = await served(path);
    say(`.${extension} is opened as a GLB`, name === 'body.glb' && json.meshes.length && json.buffers.every((buffer) => buffer.uri === undefined) ? '' : `${name} ${JSON.stringify(json).slice(0, 100)}`);
  }
  const bvh = made('walk.bvh', 'HIERARCHY\nROOT hips\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\nJOINT leg\n{\nOFFSET 0 -1 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 -1 0\n}\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.5\n0 1 0 0 0 0 0 0 0\n0 1 1 0 0 0 0 30 0\n');
  const [name, json] = await served(bvh);
  say('a BVH arrives with its joints and its clip', name === 'walk.glb' && json.nodes.some((node) => node.name === 'leg') && json.animations.length === 1 ? '' : JSON.stringify(json).slice(0, 200));
}
{ // what needs a program of its own is unpacked before it is served
  const packed = join(folder, 'packed.glb');
  let why = '';
  try { execFileSync(command, ['convert', model, '--compress', 'draco', '-q', '-o', packed], { stdio: 'pipe' }); } catch (error) { why = String(error.stderr).trim(); }
  if (why) console.log(`skip a file packed by Draco is unpacked for the page: ${why}`);
  else {
    const [, json] = await served(packed);
    say('a file packed by Draco is unpacked for the page', parse(readFileSync(packed)).json.extensionsUsed.includes('KHR_draco_mesh_compression') && !JSON.stringify(json).includes('draco') ? '' : JSON.stringify(json.extensionsUsed));
  }
}
end();
