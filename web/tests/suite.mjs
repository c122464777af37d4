// The conformance suite in JavaScript: node suite.mjs PACKAGE SUITE ARCHIVES, where ARCHIVES has a folder
// of each archive's stores. Prints what is wrong, and one line of counts; fails if anything is wrong.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { Folder } from "./folder.mjs";

const [folder, suite, archives] = process.argv.slice(2).map((path) => resolve(path));
const { get, open } = await import(pathToFileURL(join(folder, "index.js")));

/** Stores that must be refused, and that the decoder in Rust alone reads. */
const LENIENT = new Set(["invalid/chunk-zstd-reserved-bit"]);

const faults = [];
const fault = (id, text) => faults.push(`${id}: ${text}`);
const sha256 = (data) =>
  createHash("sha256").update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)).digest("hex");

let read = 0, regions = 0, refused = 0, unsupported = 0;
const manifest = JSON.parse(await readFile(join(suite, "manifest.json")));
for (const one of manifest.cases) {
  if (one.archive === "zjoin" || one.node_type === "group") continue;
  const store = new Folder(join(archives, one.archive, one.path));
  let array, all;
  try {
    array = await open(store);
    all = await get(array);
  } catch (error) {
    if (!(error instanceof Error) || error instanceof WebAssembly.RuntimeError || /has stopped|while it was borrowed/.test(error.message)) {
      fault(one.id, `panics: ${error}`);
      process.exitCode = 1;
      break;
    }
    if (/this build is without it|are not read here|not supported here/.test(error.message)) unsupported += 1;
    else if (one.fails) refused += 1;
    // A billion elements: refused, because they do not fit in memory.
    else if (/read it in parts/.test(error.message) && one.shape.some((size) => size > 1e6)) refused += 1;
    else fault(one.id, error.message);
    continue;
  }
  if (LENIENT.has(one.id)) continue;
  if (one.fails) {
    fault(one.id, `is read, though ${one.reason}`);
    continue;
  }
  read += 1;
  if (String(all.shape) !== String(one.shape)) fault(one.id, `shape ${all.shape}`);
  if (one.values && Array.isArray(all.data)) {
    if (JSON.stringify(all.data) !== JSON.stringify(one.values.flat(Infinity))) fault(one.id, "other strings");
    continue;
  }
  if (!one.expected) continue;
  if (sha256(all.data) !== one.sha256) fault(one.id, "other elements");
  for (const { start, stop, sha256: expected } of one.regions ?? []) {
    const slices = start.map((from, axis) => ({ start: from, stop: stop[axis] }));
    const part = await get(array, slices);
    regions += 1;
    if (sha256(part.data) !== expected) fault(one.id, `other elements in ${JSON.stringify(slices)}`);
  }
}
for (const line of faults) console.log(line);
console.log(`${read} arrays and ${regions} regions read, ${refused} refused, ${unsupported} with a codec that is not built in`);
console.log(`${read + regions + refused} passed, ${faults.length} failed`);
if (faults.length > 0) process.exitCode = 1;
if (read < 1186 || regions < 1061 || refused < 566 || unsupported > 254) {
  console.log("less of the suite is read or refused than before");
  process.exitCode = 1;
}
