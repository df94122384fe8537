// The calls of WASI (preview 1) that the engine makes, over files in memory. Paths are relative to "/", without a slash in front.
//
// A folder is there when it was made, or when a file lies below it. There are no links, owners or modes. Invariant: a call that
// fails changes nothing and answers as a POSIX system does, so that the command says the same line.
const OK = 0, BADF = 8, EXIST = 20, INVAL = 28, ISDIR = 31, NOENT = 44, NOTDIR = 54, NOTEMPTY = 55;
const CHARACTERS = 0, FOLDER = 3, FILE = 4; // kinds of files; a standard stream is of no known kind, so not a terminal
const CREATE = 1, IS_FOLDER = 2, EXCLUSIVE = 4, TRUNCATE = 8, APPEND = 1;
const FIRST = 3, ROOTS = ['/', '.'];

/** Leaves proc_exit, through the engine, to whoever called it. */
export class Exit extends Error {
  constructor(status) { super(`exit ${status}`); this.status = status; }
}

const clean = (path) => path.split('/').reduce((steps, step) => {
  if (step === '..') steps.pop(); else if (step && step !== '.') steps.push(step);
  return steps;
}, []).join('/');
const parentOf = (path) => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** Files by path; like a Map of Uint8Arrays, but that one may grow while the engine writes it. */
export class Files {
  #files = new Map();   // path -> { bytes, size }
  #folders = new Set(); // made by mkdir
  #numbers = new Map(); // path -> number, for who compares files
  constructor(files = []) { for (const [path, bytes] of files) this.set(path, bytes); }
  has(path) { return this.#files.has(clean(path)); }
  get(path) { const file = this.#files.get(clean(path)); return file?.bytes.subarray(0, file.size); }
  set(path, bytes) { this.#files.set(clean(path), { bytes, size: bytes.length }); return this; }
  delete(path) { return this.#files.delete(clean(path)); }
  clear() { this.#files.clear(); this.#folders.clear(); }
  keys() { return this.#files.keys(); }
  *[Symbol.iterator]() { for (const path of this.keys()) yield [path, this.get(path)]; }

  // What the engine asks for; paths are clean.
  node(path) { return this.#files.get(path); }
  isFolder(path) { return path === '' || this.#folders.has(path) || [...this.#files.keys(), ...this.#folders].some((other) => other.startsWith(path + '/')); }
  number(path) { if (!this.#numbers.has(path)) this.#numbers.set(path, this.#numbers.size + 1); return this.#numbers.get(path); }
  makeFolder(path) { this.#folders.add(path); }
  removeFolder(path) { this.#folders.delete(path); }
  rename(from, to) { this.#files.set(to, this.#files.get(from)); this.#files.delete(from); }
  /** Names in a folder, sorted. */
  list(folder) {
    const start = folder ? folder + '/' : '', below = [...this.#files.keys(), ...this.#folders].filter((path) => path.startsWith(start) && path !== folder);
    return [...new Set(below.map((path) => path.slice(start.length).split('/')[0]))].sort();
  }
}

const write = (file, at, from) => {
  const end = at + from.length;
  if (end > file.bytes.length) {
    const grown = new Uint8Array(Math.max(end, 2 * file.bytes.length, 1024));
    grown.set(file.bytes.subarray(0, file.size));
    file.bytes = grown;
  }
  file.bytes.set(from, at);
  file.size = Math.max(file.size, end);
};

/** The imports of one instance. `memory()` is its memory; `print(stream, bytes)` gets what it writes to 1 and 2. */
export function wasi(files, memory, print) {
  const open = new Map([[0, {}], [1, {}], [2, {}], ...ROOTS.map((_, i) => [FIRST + i, { path: '', folder: true }])]);
  const view = () => new DataView(memory().buffer), bytes = (at, length) => new Uint8Array(memory().buffer, at, length);
  const text = (at, length) => new TextDecoder().decode(bytes(at, length).slice());
  const pathOf = (fd, at, length) => clean(`${open.get(fd)?.path ?? ''}/${text(at, length)}`);
  const kindOf = (path) => (files.node(path) ? FILE : files.isFolder(path) ? FOLDER : -1);
  const missing = (path) => { // of a path that should be there: which step is not, or is no folder
    for (let folder = parentOf(path); folder; folder = parentOf(folder)) if (files.node(folder)) return NOTDIR;
    return NOENT;
  };
  const tell = (at, path, kind, size) => {
    bytes(at, 64).fill(0);
    view().setBigUint64(at + 8, BigInt(files.number(path)), true);
    view().setUint8(at + 16, kind);
    view().setBigUint64(at + 24, 1n, true);
    view().setBigUint64(at + 32, BigInt(size), true);
    return OK;
  };
  const pieces = (at, count) => Array.from({ length: count }, (_, i) => bytes(view().getUint32(at + 8 * i, true), view().getUint32(at + 8 * i + 4, true)));
  const words = (at, ...values) => { values.forEach((value, i) => view().setUint32(at + 4 * i, value, true)); return OK; };

  return {
    environ_get: () => OK,
    environ_sizes_get: (count, size) => { words(count, 0); return words(size, 0); },
    clock_time_get(id, precision, at) {
      view().setBigUint64(at, BigInt(Math.round((id === 0 ? Date.now() : performance.now()) * 1e6)), true);
      return OK;
    },
    proc_exit(status) { throw new Exit(status); },

    fd_prestat_get: (fd, at) => (ROOTS[fd - FIRST] && open.has(fd) ? words(at, 0, ROOTS[fd - FIRST].length) : BADF),
    fd_prestat_dir_name(fd, at, length) { bytes(at, length).set(new TextEncoder().encode(ROOTS[fd - FIRST])); return OK; },
    fd_fdstat_get(fd, at) {
      const file = open.get(fd);
      if (!file) return BADF;
      bytes(at, 24).fill(0);
      view().setUint8(at, file.node ? FILE : file.folder ? FOLDER : CHARACTERS);
      bytes(at + 8, 16).fill(255); // every right
      return OK;
    },
    fd_fdstat_set_flags: () => OK,
    fd_filestat_get(fd, at) {
      const file = open.get(fd);
      if (!file) return BADF;
      return tell(at, file.path ?? `:${fd}`, file.node ? FILE : file.folder ? FOLDER : CHARACTERS, file.node?.size ?? 0);
    },
    fd_close: (fd) => (open.delete(fd) ? OK : BADF),
    fd_renumber(from, to) {
      if (!open.has(from)) return BADF;
      open.set(to, open.get(from));
      open.delete(from);
      return OK;
    },
    fd_sync: (fd) => (open.has(fd) ? OK : BADF),
    fd_read(fd, at, count, out) {
      const file = open.get(fd);
      if (!file || file.folder) return file ? ISDIR : BADF;
      let done = 0;
      for (const piece of file.node ? pieces(at, count) : []) { // standard input is at its end
        const some = file.node.bytes.subarray(file.at, Math.min(file.node.size, file.at + piece.length));
        piece.set(some);
        file.at += some.length;
        done += some.length;
      }
      return words(out, done);
    },
    fd_write(fd, at, count, out) {
      const file = open.get(fd);
      if (!file || file.folder) return BADF;
      let done = 0;
      for (const piece of pieces(at, count)) {
        if (file.node) write(file.node, file.append ? file.node.size : file.at, piece); else print(fd, piece.slice());
        file.at = file.append ? file.node.size : file.at + piece.length;
        done += piece.length;
      }
      return words(out, done);
    },
    fd_seek(fd, offset, from, out) {
      const file = open.get(fd);
      if (!file?.node) return file ? INVAL : BADF;
      const at = Number(offset) + [0, file.at, file.node.size][from];
      if (at < 0) return INVAL;
      file.at = at;
      view().setBigUint64(out, BigInt(at), true);
      return OK;
    },
    fd_readdir(fd, at, length, cookie, out) {
      const folder = open.get(fd), end = at + length;
      if (!folder?.folder) return BADF;
      let here = at;
      folder.names ??= files.list(folder.path);
      for (let i = Number(cookie); i < folder.names.length && here < end; i++) {
        const name = new TextEncoder().encode(folder.names[i]), entry = new Uint8Array(24 + name.length), path = clean(`${folder.path}/${folder.names[i]}`);
        const head = new DataView(entry.buffer);
        head.setBigUint64(0, BigInt(i + 1), true);
        head.setBigUint64(8, BigInt(files.number(path)), true);
        head.setUint32(16, name.length, true);
        head.setUint8(20, kindOf(path));
        entry.set(name, 24);
        bytes(here, Math.min(entry.length, end - here)).set(entry.subarray(0, end - here));
        here += Math.min(entry.length, end - here);
      }
      return words(out, here - at);
    },

    path_open(fd, look, at, length, how, rights, inherited, flags, out) {
      const path = pathOf(fd, at, length), kind = kindOf(path);
      if (kind >= 0 && (how & CREATE) && (how & EXCLUSIVE)) return EXIST;
      if (kind < 0 && !(how & CREATE)) return missing(path);
      if (kind < 0 && kindOf(parentOf(path)) !== FOLDER) return missing(path);
      if (kind === FILE && (how & IS_FOLDER)) return NOTDIR;
      if (kind === FOLDER && (how & (CREATE | TRUNCATE))) return ISDIR;
      if (kind < 0 || (how & TRUNCATE)) files.set(path, new Uint8Array(0));
      let next = FIRST;
      while (open.has(next)) next++;
      open.set(next, { path, at: 0, node: files.node(path), folder: kind === FOLDER, append: (flags & APPEND) !== 0 });
      return words(out, next);
    },
    path_filestat_get(fd, look, at, length, out) {
      const path = pathOf(fd, at, length), kind = kindOf(path);
      return kind < 0 ? missing(path) : tell(out, path, kind, files.node(path)?.size ?? 0);
    },
    path_create_directory(fd, at, length) {
      const path = pathOf(fd, at, length);
      if (kindOf(path) >= 0) return EXIST;
      if (kindOf(parentOf(path)) !== FOLDER) return missing(path);
      files.makeFolder(path);
      return OK;
    },
    path_remove_directory(fd, at, length) {
      const path = pathOf(fd, at, length), kind = kindOf(path);
      if (kind !== FOLDER) return kind === FILE ? NOTDIR : missing(path);
      if (files.list(path).length) return NOTEMPTY;
      files.removeFolder(path);
      return OK;
    },
    path_unlink_file(fd, at, length) {
      const path = pathOf(fd, at, length), kind = kindOf(path);
      if (kind !== FILE) return kind === FOLDER ? ISDIR : missing(path);
      files.delete(path);
      return OK;
    },
    path_rename(fd, at, length, newFd, newAt, newLength) {
      const from = pathOf(fd, at, length), to = pathOf(newFd, newAt, newLength);
      if (kindOf(from) !== FILE) return kindOf(from) < 0 ? missing(from) : INVAL;
      if (kindOf(to) === FOLDER) return ISDIR;
      if (kindOf(parentOf(to)) !== FOLDER) return missing(to);
      if (from !== to) files.rename(from, to);
      return OK;
    },
    path_readlink: (fd, at, length) => { const path = pathOf(fd, at, length); return kindOf(path) < 0 ? missing(path) : INVAL; },
  };
}
