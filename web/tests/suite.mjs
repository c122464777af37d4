// The conformance suite in JavaScript: node suite.mjs PACKAGE SUITE ARCHIVES, where ARCHIVES has a folder
// of each archive's stores. Prints what is wrong, and one line of counts; fails if anything is wrong.

import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

import { Folder } from "./folder.mjs";
import { run } from "./suite-core.mjs";

const [folder, suite, archives] = process.argv.slice(2).map((path) => resolve(path));
const { get, open } = await import(pathToFileURL(join(folder, "index.js")));

const sha256 = (data) =>
  createHash("sha256").update(new Uint8Array(data.buffer, data.byteOffset, data.byteLength)).digest("hex");

const { cases } = JSON.parse(await readFile(join(suite, "manifest.json")));
const storeOf = (one) => new Folder(join(archives, one.archive, one.path));
const { faults, read, regions, refused, unsupported } = await run({ get, open }, cases, storeOf, sha256);
for (const line of faults) console.log(line);
console.log(`${read} arrays and ${regions} regions read, ${refused} refused, ${unsupported} with a codec that is not built in`);
console.log(`${read + regions + refused} passed, ${faults.length} failed`);
if (faults.length > 0) process.exitCode = 1;
