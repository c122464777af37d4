// Runs a program for WASI under node: `node xtask/wasi.mjs PROGRAM [ARGUMENT...]`, for the tests of
// `cargo xtask targets`. The program sees all files.
import { readFile } from 'node:fs/promises';
import { WASI } from 'node:wasi';

const [path, ...rest] = process.argv.slice(2);
const wasi = new WASI({
  version: 'preview1',
  args: [path, ...rest],
  env: process.env,
  preopens: { '/': '/' },
  returnOnExit: true,
});
const program = await WebAssembly.compile(await readFile(path));
process.exitCode = wasi.start(await WebAssembly.instantiate(program, wasi.getImportObject()));
