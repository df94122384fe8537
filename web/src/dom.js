// Small helpers for the page's elements, and numbers as the page writes them.

export const $ = (id) => document.getElementById(id);
/** An element with properties and children. */
export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
/** Text that may be what stands there already: writing it again would be painted again. */
export function put(element, text) { if (element.textContent !== text) element.textContent = text; }
/** The filled part of a slider's track follows its value. */
export function fill(slider) {
  const low = Number(slider.min), high = Number(slider.max);
  const percent = (value) => (100 * (value - low)) / (high - low || 1), start = percent(Math.max(low, Math.min(0, high))), at = percent(Number(slider.value));
  slider.style.setProperty('--from', `${low < 0 ? Math.min(start, at) : 0}%`); // from zero, which may be in the middle
  slider.style.setProperty('--fill', `${low < 0 ? Math.max(start, at) : at}%`);
}
export const setSlider = (slider, value) => fill(Object.assign(slider, { value: String(value) }));
/** Sliders X, Y and Z. */
export const axes = (place, range) => place.replaceChildren(...['X', 'Y', 'Z'].map((axis) => make('label', {}, `${axis} `, make('input', { type: 'range', ...range }), make('output', { textContent: '0' }))));
export function options(select, entries, selected) {
  select.replaceChildren(); // and one by one: of many, a call has no room for all
  for (const [value, text] of entries) select.append(make('option', { value, textContent: text, selected: String(value) === String(selected) }));
}
export function checkRadio(name, value) {
  const input = document.querySelector(`input[name="${name}"][value="${value}"]`);
  if (input) input.checked = true;
}
/** A word as a shell reads it. */
export const quoted = (word) => (/^[\w./:,=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);
export function download(blob, name) {
  const link = make('a', { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** 0.0123 with three figures and no exponent; enough for errors in percent. */
export const figure = (value) => (value === 0 ? '0' : value.toFixed(Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value)))))));
/** The same without zeros at the end: for scales. */
export const short = (value) => String(Number(figure(value)));
export function large(value) {
  if (value >= 1e9) return `${(value / 1e9).toFixed(2)} G`;
  if (value >= 1e6) return `${(value / 1e6).toFixed(value >= 1e8 ? 0 : 1)} M`;
  return value >= 1e3 ? `${(value / 1e3).toFixed(0)} k` : value.toFixed(0);
}
/** A round number just above. */
export function roundUp(value) {
  if (!(value > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10].find((step) => step * power >= value * 0.999999);
}
