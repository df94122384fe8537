// Starts `cutis view` for tests.
import { spawn } from 'node:child_process';

/** @returns { address, ended, stop }: promises of the printed address and of { code, errors, out } */
export function view(command, words) {
  const child = spawn(command, ['view', '--no-browser', ...words]);
  let out = '', errors = '';
  child.stderr.on('data', (data) => { errors += data; });
  const ended = new Promise((resolve) => { child.on('exit', (code) => resolve({ code, errors, out })); });
  const address = new Promise((resolve, reject) => {
    child.stdout.on('data', (data) => { out += data; const found = out.match(/http:\S+?(?=["\s])/); if (found) resolve(found[0]); });
    ended.then(({ errors: why }) => reject(new Error(why)));
  });
  address.catch(() => {}); // who waits for the end may not ask for the address
  return { address, ended, stop: () => { child.kill('SIGINT'); return ended; } };
}
