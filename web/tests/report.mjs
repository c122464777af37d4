// Descriptions, checks and pictures: node report.mjs STORE SUITE ARCHIVES, where STORE is a folder with a
// group of version 3, and ARCHIVES has a folder of each archive's stores.

import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";

import { check, chunks, draw, info, nodes } from "zarr-kit/report";

import { Folder } from "./folder.mjs";

const [path, suite, archives] = process.argv.slice(2).map((path) => resolve(path));

async function keysOf(folder) {
  const files = await readdir(folder, { recursive: true, withFileTypes: true });
  const paths = files.filter((file) => file.isFile()).map((file) => join(file.parentPath ?? file.path, file.name));
  return paths.map((file) => relative(folder, file));
}

const store = new Folder(path);
const keys = await keysOf(path);

// With keys, chunks are counted.
const rain = await info(store, { path: "/rain/", keys });
assert.equal(rain.readable, true);
assert.equal(rain.chunks.stored, keys.filter((key) => key.startsWith("rain/c/")).length);
assert.match(rain.text, /^shape +.*elements$/m);
const unlisted = await info(store, { path: "rain" });
assert.deepEqual([unlisted.chunks.stored, unlisted.shape], [null, rain.shape]);
await assert.rejects(info(store, { path: "snow" }), /snow/);
await assert.rejects(info({ get: async () => { throw new Error("503"); } }), /zarr\.json: 503/);

// A store without faults; then objects that belong nowhere, a missing document, a broken one.
const sound = await check(store, { keys });
assert.deepEqual([sound.errors, sound.warnings, sound.findings.filter((one) => one.severity !== "note")], [0, 0, []]);
assert.equal(sound.arrays, keys.filter((key) => key.endsWith("/zarr.json")).length);
const extra = await check(store, { keys: new Set([...keys, "/rain/c/99999", "rain/notes.txt"]) });
assert.deepEqual(extra.findings.map((one) => [one.key, one.id]).filter(([key]) => /99999|notes/.test(key)).sort(),
  [["rain/c/99999", "chunk-outside-grid"], ["rain/notes.txt", "stray-object"]]);
const broken = { get: async (key) => (key === "/rain/zarr.json" ? new TextEncoder().encode('{"zarr_format": 3') : store.get(key)) };
const found = await check(broken, { keys });
assert.ok(found.findings.some((one) => one.key === "rain/zarr.json" && one.severity === "error"));
await assert.rejects(check(store, {}), TypeError);
await assert.rejects(check(store, { keys: ["a//b"] }), /a\/\/b/);
await assert.rejects(check(store, { keys: [] }), /no array or group here/);

const svg = await draw(store, { path: "rain", keys, selection: [{ start: 0, stop: 31 }] });
assert.match(svg, /^<svg [\s\S]*rain[\s\S]*<\/svg>\s*$/);
const blank = await draw(store, { path: "rain", keys: keys.filter((key) => !key.includes("/c/")) });
assert.notEqual(svg, blank);
await assert.rejects(draw(store, { path: "rain" }), TypeError);
await assert.rejects(draw(store, { path: "rain", keys, selection: [1e9] }), /1000000000/);

// What there is to choose: nodes by keys, or by consolidated metadata; chunks of a selection.
const listed = await nodes(store, { keys });
assert.equal(listed.total, 1 + keys.filter((key) => key.endsWith("/zarr.json")).length);
assert.deepEqual(listed.nodes.find((node) => node.path === "rain"), { path: "rain", node_type: "array", about: "bool 1,461" });
assert.deepEqual((await nodes(store, { keys, most: 2 })).nodes.map((node) => node.path), ["", "daily"]);
assert.deepEqual(await nodes(store), { nodes: [{ path: "", node_type: "group", about: "" }], total: 1 });
assert.deepEqual((await nodes(store, { keys: ["x/y.txt"] })).nodes, []);
const text = new TextDecoder().decode(await store.get("/rain/zarr.json"));
const metadata = `{"a": ${text}, "../b": ${text}, "c": {"zarr_format": 3}}`;
const consolidated = { get: (key) => key === "/zarr.json" ? new TextEncoder().encode(
  `{"zarr_format": 3, "node_type": "group", "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": ${metadata}}}`) : undefined };
assert.deepEqual((await nodes(consolidated)).nodes.map((node) => [node.path, node.node_type]),
  [["", "group"], ["a", "array"], ["../b", null], ["c", null]]);
await assert.rejects(nodes({ get: () => undefined }), /no array or group here/);
const march = await chunks(store, { path: "rain", selection: [{ start: 60, stop: 92 }] });
assert.deepEqual(march, { total: 2, chunks: [{ key: "rain/c/2", region: [[60, 91]] }, { key: "rain/c/3", region: [[91, 121]] }] });
const first = await chunks(store, { path: "rain", most: 1 });
assert.deepEqual([first.total, first.chunks.length], [48, 1]);
await assert.rejects(chunks(store, { path: "" }), /is a group/);
assert.match((await info(store)).text, /title/);

// Each store of the suite whose document is wrong has an error; no sound store has one.
let checked = 0;
for (const one of JSON.parse(await readFile(join(suite, "manifest.json"))).cases) {
  if (one.archive === "zjoin") continue;
  const folder = join(archives, one.archive, one.path);
  const [node, all] = [new Folder(folder), await keysOf(folder)];
  const { errors, findings } = await check(node, { keys: all });
  if (one.fails === "open") assert.ok(errors > 0, one.id);
  if (one.fails) continue;
  assert.equal(errors, 0, `${one.id}: ${JSON.stringify(findings)}`);
  checked += 1;
  if (one.node_type === "group") continue;
  // Also without the codec.
  const { shape } = await info(node, { keys: all });
  assert.deepEqual(shape, one.shape, one.id);
  assert.match(await draw(node, { keys: all }), /^<svg /, one.id);
}
assert.ok(checked >= 1397, "less of the suite is checked");
console.log(`report: ${checked + 4} passed, 0 failed`);
