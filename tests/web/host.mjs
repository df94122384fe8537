// A plain static host for tests: no types but by a list that does not know WebAssembly, no headers, any folder below its root.
import { createServer } from 'node:http';
import { readFile } from 'node:fs/promises';
import { extname, join, normalize } from 'node:path';

const TYPES = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

/** @returns { origin, start, stop }: the same port each time it starts */
export async function host(root) {
  const server = createServer(async (asked, answer) => {
    const path = normalize(decodeURIComponent(new URL(asked.url, 'http://x').pathname)), file = join(root, path.endsWith('/') ? `${path}index.html` : path);
    try {
      const bytes = await readFile(file);
      answer.writeHead(200, { 'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream' }).end(bytes);
    } catch { answer.writeHead(404).end(); }
  });
  const start = (port) => new Promise((done) => { server.listen(port, '127.0.0.1', done); });
  await start(0);
  const { port } = server.address();
  return { origin: `http://127.0.0.1:${port}`, start: () => start(port), stop: () => new Promise((done) => { server.close(done); server.closeAllConnections(); }) };
}
