// Colour maps in OKLab, the same paths as src/render/colormap.c: lightness is linear in the value.
const PATHS = { // lightness, chroma and hue (degrees) of knots
  heat: [[0.22, 0.07, 285], [0.4, 0.16, 310], [0.58, 0.19, 370], [0.76, 0.16, 415], [0.94, 0.1, 465]],
  weight: [[0.93, 0.01, 240], [0.72, 0.09, 238], [0.51, 0.15, 258], [0.3, 0.14, 268]],
};
const TO_CONES = [[0.3963377774, 0.2158037573], [-0.1055613458, -0.0638541728], [-0.0894841775, -1.291485548]];
const TO_LINEAR = [[4.0767416621, -3.3077115913, 0.2309699292], [-1.2684380046, 2.6097574011, -0.3413193965], [-0.0041960863, -0.7034186147, 1.707614701]];
const STEPS = 256, tables = new Map();

function oklabToLinear(l, a, b) {
  const cones = TO_CONES.map(([p, q]) => (l + p * a + q * b) ** 3);
  return TO_LINEAR.map((row) => row.reduce((sum, x, i) => sum + x * cones[i], 0));
}
/** As much chroma as the screen has. */
function linearColor([l, c, h]) {
  const radians = (h * Math.PI) / 180;
  for (let chroma = c; chroma > 0; chroma -= 0.005) {
    const rgb = oklabToLinear(l, chroma * Math.cos(radians), chroma * Math.sin(radians));
    if (rgb.every((x) => x >= -1e-6 && x <= 1 + 1e-6)) return rgb;
  }
  return oklabToLinear(l, 0, 0);
}
/** 256 linear colours, 3 floats each. */
function table(name) {
  if (!tables.has(name)) {
    const knots = PATHS[name];
    tables.set(name, new Float32Array(Array.from({ length: STEPS }, (_, i) => {
      const at = (i / (STEPS - 1)) * (knots.length - 1), k = Math.min(Math.floor(at), knots.length - 2);
      return linearColor([0, 1, 2].map((c) => knots[k][c] + (at - k) * (knots[k + 1][c] - knots[k][c])));
    }).flat()));
  }
  return tables.get(name);
}
/** Linear colours of values / top. */
export function paint(name, values, top, colors) {
  const map = table(name), scale = top > 0 ? (STEPS - 1) / top : 0;
  for (let v = 0; v < values.length; v++) {
    const at = 3 * Math.min(STEPS - 1, Math.max(0, Math.round(values[v] * scale)));
    for (let c = 0; c < 3; c++) colors[3 * v + c] = map[at + c];
  }
}
const PART_TURN = 137.508, PART_FIRST = 250; // the golden angle: colours of neighbours differ
const known = new Map();
const partColor = (part) => known.get(part) ?? known.set(part, linearColor(part < 0 ? [0.7, 0, 0] : [0.72 + 0.08 * (part % 2), 0.11, PART_FIRST + PART_TURN * part])).get(part);
const PATCH = linearColor([0.97, 0.02, 100]);
/** Linear colours of whole numbers: parts; below 0: grey. */
export function paintParts(values, colors) { values.forEach((part, v) => colors.set(partColor(part), 3 * v)); }
/** Adds a part's linear colour to each vertex, as much as its value says. */
export function mixPart(part, values, colors) {
  const color = partColor(part);
  for (let v = 0; v < values.length; v++) if (values[v]) for (let c = 0; c < 3; c++) colors[3 * v + c] += values[v] * color[c];
}
/** Triangles one by one, each in its part's colour, or in a light one where it is of a patch: { positions, normals, colors }. */
export function facets({ positions, indices, labels, parts }) {
  const out = { positions: new Float32Array(3 * indices.length), normals: new Float32Array(3 * indices.length), colors: new Float32Array(3 * indices.length) };
  labels.forEach((label, t) => {
    const p = [0, 1, 2].map((k) => positions.subarray(3 * indices[3 * t + k], 3 * indices[3 * t + k] + 3)), [e, f] = [1, 2].map((k) => [0, 1, 2].map((c) => p[k][c] - p[0][c]));
    const cross = [e[1] * f[2] - e[2] * f[1], e[2] * f[0] - e[0] * f[2], e[0] * f[1] - e[1] * f[0]], length = Math.hypot(...cross) || 1, color = label < parts ? partColor(label) : PATCH;
    for (let k = 0; k < 3; k++) { out.positions.set(p[k], 9 * t + 3 * k); out.normals.set(cross.map((x) => x / length), 9 * t + 3 * k); out.colors.set(color, 9 * t + 3 * k); }
  });
  return out;
}
/** The map as a row of pixels on a canvas, for legends. */
export function drawRamp(name, canvas) {
  const map = table(name), srgb = (x) => Math.round(255 * Math.min(1, Math.max(0, x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055)));
  Object.assign(canvas, { width: STEPS, height: 1 });
  const context = canvas.getContext('2d'), image = context.createImageData(STEPS, 1);
  for (let i = 0; i < STEPS; i++) image.data.set([srgb(map[3 * i]), srgb(map[3 * i + 1]), srgb(map[3 * i + 2]), 255], 4 * i);
  context.putImageData(image, 0, 0);
}
