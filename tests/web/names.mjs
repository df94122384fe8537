// Every name that the page's modules use is one that they declare, import, or that browsers have: node --expose-internals names.mjs
// FILE... A bundler does not look; a wrong name in a path that is seldom taken is found by a user. The parser is the one node carries.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename } from 'node:path';
import { claims } from './say.mjs';

const { say, end } = claims(), { parse } = createRequire(import.meta.url)('internal/deps/acorn/acorn/dist/acorn');
const KNOWN = new Set([...Object.getOwnPropertyNames(globalThis), ...'arguments undefined addEventListener alert caches clients createImageBitmap CSS devicePixelRatio document DragEvent DataTransfer FileReader File getComputedStyle history Image ImageData indexedDB innerHeight innerWidth KeyboardEvent localStorage location matchMedia navigator OffscreenCanvas open Option PointerEvent postMessage removeEventListener requestAnimationFrame ResizeObserver self skipWaiting window Worker BUILD FILES'.split(' ')]); // the last two: build.mjs puts them before service.js

/** What a pattern declares. */
function declare(pattern, names) {
  if (pattern?.type === 'Identifier') names.add(pattern.name);
  else if (pattern?.type === 'ObjectPattern') for (const each of pattern.properties) declare(each.argument ?? each.value, names);
  else if (pattern?.type === 'ArrayPattern') for (const each of pattern.elements) declare(each, names);
  else if (pattern) declare(pattern.left ?? pattern.argument, names);
}
/** What statements declare for their block. */
function declared(statements, names = new Set()) {
  for (const each of statements) {
    const statement = each.type.startsWith('Export') ? each.declaration ?? each : each;
    if (statement.type === 'VariableDeclaration') for (const { id } of statement.declarations) declare(id, names);
    else if (statement.type === 'ImportDeclaration') for (const { local } of statement.specifiers) names.add(local.name);
    else if (statement.id) names.add(statement.id.name);
  }
  return names;
}
/** Names in a tree that no scope around them has: [name, line]. */
function unknown(node, scopes, found) {
  if (!node || typeof node.type !== 'string') return found;
  const inside = (names, list) => { for (const each of list) unknown(each, names ? [names, ...scopes] : scopes, found); };
  const children = Object.entries(node).flatMap(([key, value]) => (key === 'type' || (['key', 'property'].includes(key) && !node.computed) ? [] : value));
  if (node.type === 'Identifier') { if (!scopes.some((names) => names.has(node.name)) && !KNOWN.has(node.name)) found.push([node.name, node.loc.start.line]); }
  else if (/^(Import|MetaProperty|Break|Continue|ExportAll)/.test(node.type)) return found;
  else if (node.type === 'ExportSpecifier') inside(null, [node.local]);
  else if (/Function/.test(node.type)) { const names = new Set(node.id ? [node.id.name] : []); for (const each of node.params) declare(each, names); inside(names, [...node.params, node.body]); }
  else if (/^(Program|BlockStatement|StaticBlock)$/.test(node.type)) inside(declared(node.body), children);
  else if (node.type === 'SwitchStatement') inside(declared(node.cases.flatMap(({ consequent }) => consequent)), children);
  else if (/^For/.test(node.type)) inside(declared([node.init ?? node.left].filter((each) => each?.type === 'VariableDeclaration')), children);
  else if (node.type === 'CatchClause') { const names = new Set(); declare(node.param, names); inside(names, children); }
  else if (node.type === 'ClassExpression' && node.id) inside(new Set([node.id.name]), children);
  else if (node.type === 'LabeledStatement') inside(null, [node.body]);
  else inside(null, children);
  return found;
}
const wrong = (text) => unknown(parse(text, { ecmaVersion: 'latest', sourceType: 'module', locations: true }), [], []);

say('a name that is declared elsewhere alone is seen', JSON.stringify(wrong('function a() { const x = 1; return x; }\nexport const b = (y) => ({ y, x });')) === '[["x",2]]' ? '' : JSON.stringify(wrong('function a() { const x = 1; return x; }\nexport const b = (y) => ({ y, x });')));
const all = process.argv.slice(2).flatMap((path) => wrong(readFileSync(path, 'utf8')).map(([name, line]) => `${basename(path)}:${line} ${name}`));
say(`every name in ${process.argv.length - 2} modules of the page is declared`, process.argv.length > 30 ? all.join(', ') : 'no modules were given');
end();
