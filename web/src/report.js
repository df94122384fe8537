// The report of a comparison as one page that refers to nothing outside itself. Figures are those of `cutis compare --json`, run by the
// command in the engine; curves are the stage worker's (compare.js), pictures the stage's own: the engine draws none.
import { figure } from './dom.js';

const REPORT_FRAMES = 60; // that the command measures: in the page a second for every five, about
const escape = (text) => String(text).replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
const COLORS = ['#1f5fd0', '#15181d', '#c2571a', '#1d7f5f'];
const STYLE = `:root{color-scheme:light dark}body{margin:0 auto;max-width:1080px;padding:40px 24px;font:15px/1.55 system-ui,sans-serif;color:#15181d;background:#fff}
h1{font-size:28px;margin:0 0 8px}h2{font-size:18px;margin:36px 0 12px}.lead{color:#5a6370}table{border-collapse:collapse;width:100%}th,td{padding:7px 10px;text-align:right;border-bottom:1px solid #dfe3e8;font-variant-numeric:tabular-nums}
th{font-weight:550;color:#5a6370}td:first-child,th:first-child{text-align:left}figure{margin:0 0 20px}img{width:100%;border-radius:10px;display:block}figcaption{margin-top:6px;color:#5a6370}svg{width:100%;height:auto;display:block}
.grid{display:grid;grid-template-columns:repeat(auto-fit,minmax(420px,1fr));gap:24px}code{font-size:13px;overflow-wrap:anywhere}
@media(prefers-color-scheme:dark){body{background:#16191d;color:#eceff3}th,.lead,figcaption{color:#98a2af}th,td{border-color:#282d34}svg .axis{stroke:#414852}svg text{fill:#98a2af}}`;

/** A curve for every method, with the least and the greatest value written at the axis. */
function plot(title, unit, times, lines, names) {
  const all = lines.flat().filter(Number.isFinite), high = Math.max(0, ...all), low = Math.min(0, ...all), span = high - low || 1, end = times.at(-1) || 1;
  const x = (t) => 50 + (t / end) * 440, y = (v) => 170 - ((v - low) / span) * 140, number = (v) => figure(v).replace('-', '−');
  const curves = lines.map((values, i) => (values.length ? `<polyline fill="none" stroke="${COLORS[i]}" stroke-width="1.8" points="${values.map((v, f) => `${x(times[f]).toFixed(1)},${y(v).toFixed(1)}`).join(' ')}"/>` : '')).join('');
  const keys = names.map((name, i) => (lines[i].length ? `<tspan fill="${COLORS[i]}" dx="10">${escape(name)}</tspan>` : '')).join('');
  return `<figure><svg viewBox="0 0 500 210" role="img" aria-label="${escape(title)}"><text x="0" y="14" font-size="13" font-weight="600" fill="currentColor">${escape(title)}</text><g font-size="11" fill="#5a6370"><text x="44" y="${y(high) + 4}" text-anchor="end">${number(high)}</text><text x="44" y="${y(low) + 4}" text-anchor="end">${number(low)}</text><text x="50" y="190">0 s</text><text x="490" y="190" text-anchor="end">${end.toFixed(2)} s</text><text x="490" y="14" text-anchor="end">${escape(unit)}</text></g><path class="axis" d="M50 30V170H490M50 ${y(0)}H490" fill="none" stroke="#dfe3e8"/>${curves}<text x="40" y="206" font-size="11">${keys}</text></svg></figure>`;
}

/** The figures of the command. */
async function figures(studio, names, fps) {
  const { from, influences, strokes } = studio.reduced, said = {}, clip = studio.state.clip, words = ['compare', 'model.glb', '--clip', String(clip), '--methods', names.join(','), '--fps', String(fps), '--json'];
  Object.assign(said, await studio.jobs.call('command', { words, files: [{ name: 'model.glb', blob: await studio.glb(from, influences, strokes) }] }));
  if (said.status) throw new Error(said.stderr.trim().split('\n').at(-1).replace(/^cutis: /, ''));
  return { ...JSON.parse(said.stdout), words };
}
const row = ({ method, position_rms: rms, position_max: most, normal_rms: normal, volume_variation_min: least, volume_variation_max: greatest, edge_stretch_rms: stretch, worst_frame: worst }, title) => {
  const signed = (v) => `${v >= 0 ? '+' : '−'}${Math.abs(v).toFixed(2)} %`;
  return `<tr><td>${escape(title)} <code>${escape(method)}</code></td><td>${rms.toFixed(4)}</td><td>${most.toFixed(4)}</td><td>${normal.toFixed(4)}</td><td>${signed(least)}</td><td>${signed(greatest)}</td><td>${stretch.toFixed(4)}</td><td>${worst}</td></tr>`;
};

/** @returns a blob of HTML */
export async function makeReport(studio, compare) {
  while (!compare.ready) await new Promise((done) => { setTimeout(done, 50); });
  const { series, bodies, worst } = compare, ids = Array.from({ length: bodies }, (_, i) => studio.method(i)), fps = Math.max(4, Math.min(30, Math.round(REPORT_FRAMES / (studio.clipInfo.duration || 1)))), made = await figures(studio, ids.map(({ id }) => id), fps);
  const clip = studio.clipInfo.name ?? 'clip', names = ids.map(({ name }) => name), column = (key, from) => names.map((_, i) => (i < from ? [] : series[key].map((each) => each[i])));
  const plain = await studio.frames.sheet(worst.time, false), painted = await studio.frames.sheet(worst.time, true);
  const shot = (source, text) => `<figure><img src="${source}" alt="${escape(text)}"><figcaption>${escape(text)}</figcaption></figure>`;
  return new Blob([`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Cutis: methods compared</title><style>${STYLE}</style>
<h1>${escape(studio.source.name)}</h1><p class="lead">${studio.info.vertexCount} vertices, clip ${escape(clip)}, ${made.frames} frames at ${made.fps} a second, measured against ${escape(made.reference)}.</p>
<h2>Figures</h2><table><thead><tr><th>method</th><th>position RMS, %</th><th>position max, %</th><th>normal RMS, rad</th><th>volume, least</th><th>volume, most</th><th>edge stretch</th><th>worst frame</th></tr></thead><tbody>${made.methods.map((each, i) => row(each, names[i])).join('')}</tbody></table>
<h2>The worst frame</h2>${shot(plain, `${worst.time.toFixed(2)} s: ${names.join(', ')}`)}${shot(painted, `The same, ${names[0]} painted with its distance to ${names[1]}`)}
<h2>Over time</h2><div class="grid">${plot('Distance from the first method', 'RMS, % of the diagonal', series.times, column('errors', 1), names)}${plot('Largest distance', '% of the diagonal', series.times, column('largest', 1), names)}${plot('Volume against rest', '%', series.times, column('volumes', 0), names)}</div>
<h2>Command</h2><p><code>cutis ${made.words.join(' ')}</code></p><p class="lead">Made by the studio of Cutis: figures by the command above, in the page; curves and pictures by the page. Errors: % of the diagonal of the rest bounding box; normals: radians RMS over welded area-weighted vertex normals; volume: signed, in % of the rest volume.</p></html>`], { type: 'text/html' });
}
