// The Khronos validator over many files: one JSON line per file named on standard input,
// {"file": ..., "issues": [{"code", "severity", "pointer"}]}. Missing images are left out: they are no concern of Cutis.
import { createRequire } from 'node:module';
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

const require = createRequire(path.resolve(process.env.CUTIS_NODE_MODULES ?? import.meta.dirname, 'x.js'));
const validator = require('gltf-validator');

async function validate(file) {
    const folder = path.dirname(file);
    const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), {
        uri: path.basename(file),
        maxIssues: 0,
        externalResourceFunction: (uri) =>
            fs.promises.readFile(path.resolve(folder, decodeURIComponent(uri))).then((data) => new Uint8Array(data)),
    });
    return report.issues.messages
        .filter((m) => !(m.code === 'IO_ERROR' && (m.pointer ?? '').startsWith('/images')))
        .map(({ code, severity, pointer, message }) => ({ code, severity, pointer, message }));
}

// The validator stumbles over some files outside of what it promises; the file has no verdict then, the next ones have.
let stumble = () => {};
process.on('uncaughtException', (error) => stumble(error));

for await (const file of readline.createInterface({ input: process.stdin })) {
    let issues;
    try {
        issues = await Promise.race([validate(file), new Promise((_, reject) => (stumble = reject))]);
    } catch (error) {
        issues = [{ code: 'NOT_VALIDATED', severity: 0, pointer: '', message: String(error) }];
    }
    console.log(JSON.stringify({ file, issues }));
}
