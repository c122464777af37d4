// How reads use a store: node driver.mjs PACKAGE. Fails if an assertion does.

import assert from "node:assert/strict";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const { get, open } = await import(pathToFileURL(join(resolve(process.argv[2]), "index.js")));

const document = (shape, edges) => new TextEncoder().encode(JSON.stringify({
  zarr_format: 3, node_type: "array", shape: [shape], data_type: "int16", fill_value: -1,
  chunk_grid: { name: "rectilinear", configuration: { kind: "inline", chunk_shapes: [edges] } },
  chunk_key_encoding: { name: "default" },
  codecs: [{ name: "bytes", configuration: { endian: "little" } }],
}));

/** Objects in memory, which answer later and count how many are asked at once. */
function memory(objects) {
  const store = {
    asked: [], now: 0, most: 0,
    async get(key, options) {
      options?.signal?.throwIfAborted();
      store.asked.push(key);
      store.most = Math.max(store.most, ++store.now);
      await new Promise((done) => setTimeout(done, 1));
      store.now -= 1;
      return objects[key];
    },
    async getRange(key, { offset, length, suffixLength }, options) {
      const all = await store.get(key, options);
      if (suffixLength !== undefined) return all?.slice(-suffixLength);
      return all?.slice(offset, offset + length);
    },
  };
  return store;
}

const numbers = (...values) => new Uint8Array(Int16Array.from(values).buffer);
const objects = { "/a/zarr.json": document(6, [1, 3, 2]), "/a/c/0": numbers(7), "/a/c/1": numbers(1, 2, 3) };
const store = memory(objects);
const array = await open(store, { path: "/a" });
assert.deepEqual([array.shape, array.dtype, array.elementSize], [[6], "int16", 2]);
const all = await get(array);
assert.deepEqual([all.data, all.shape, all.stride], [Int16Array.of(7, 1, 2, 3, -1, -1), [6], [1]]);
assert.equal(store.most, 3, "the chunks are asked for at once");

// Only what is selected.
store.asked.length = 0;
assert.deepEqual((await get(array, [{ start: 2, stop: 4 }])).data, Int16Array.of(2, 3));
assert.deepEqual(store.asked, ["/a/c/1"]);
assert.deepEqual((await get(array, "::-2")).data, Int16Array.of(-1, 3, 1));
assert.deepEqual((await get(array, [[5, 0, 0]])).data, Int16Array.of(-1, 7, 7));
const one = await get(array, [3]);
assert.deepEqual([one.data, one.shape], [Int16Array.of(3), []]);

// A store without ranges.
const whole = await open({ get: store.get }, { path: "a" });
assert.deepEqual((await get(whole, [{ start: 2, stop: 4 }])).data, Int16Array.of(2, 3));

// As many requests at once as of chunks, however many ranges a chunk needs.
objects["/m/zarr.json"] = new TextEncoder().encode(JSON.stringify({
  ...JSON.parse(new TextDecoder().decode(objects["/a/zarr.json"])), shape: [40, 50000],
  chunk_grid: { name: "regular", configuration: { chunk_shape: [40, 50000] } },
}));
objects["/m/c/0/0"] = new Uint8Array(40 * 50000 * 2).fill(1);
const matrix = await open(store, { path: "m" });
Object.assign(store, { most: 0, asked: [] });
const column = await get(matrix, [null, 30000]);
assert.deepEqual([column.shape, new Set(column.data)], [[40], new Set([0x0101])]);
assert.deepEqual([store.asked.length, store.most], [40, 16]);
// Ranges that are near to each other are one request, and each has its own bytes.
objects["/m/c/0/0"] = new Uint8Array(Int16Array.from({ length: 40 * 50000 }, (_, at) => at % 30011).buffer);
store.asked.length = 0;
const stepped = await get(matrix, [[1, 3], { start: 5, stop: 40000, step: 1000 }]);
assert.deepEqual(stepped.data, Int16Array.from({ length: 80 }, (_, at) => ((at < 40 ? 50000 : 150000) + 5 + (at % 40) * 1000) % 30011));
assert.equal(store.asked.length, 2);
// The second range is empty, and the first has its bytes too.
let calls = 0;
const shifted = { ...store, getRange: async (_, { length }) => new Uint8Array([2 * length, 0][calls++] ?? length) };
const lied = await open(shifted, { path: "m" });
await assert.rejects(get(lied, [[0, 39], 7]), /m\/c\/0\/0, 2 bytes from 14: the store gave 4/);

// Lists and slices; nothing else selects an axis.
assert.deepEqual((await get(array, [Int32Array.of(5, 0)])).data, Int16Array.of(-1, 7));
assert.deepEqual((await get(array, [BigInt64Array.of(5n)])).data, Int16Array.of(-1));
assert.deepEqual((await get(array, [{ start: 4n, stop: null, step: null }])).data, Int16Array.of(-1, -1));
for (const selection of [{ start: 0 }, 3, true, new Map(), [{}], [new Map()], [{ from: 0 }], [new DataView(new ArrayBuffer(8))]]) {
  await assert.rejects(get(array, selection), TypeError);
}
await assert.rejects(get(array, [Float64Array.of(1.5)]), RangeError);

// Errors: of the store, of an object that is too short, of the caller, of an abort.
await assert.rejects(open(memory({}), { path: "b" }), /b\/zarr\.json|"b"|b:/);
objects["/a/c/1"] = numbers(1);
await assert.rejects(get(array), /c\/1/);
await assert.rejects(get(array, [{ start: 2, stop: 4 }]), /c\/1/);
await assert.rejects(get(array, [1.5]), /1\.5/);
await assert.rejects(get(array, [9]), /9/);
await assert.rejects(get(array, null, { signal: AbortSignal.abort() }), { name: "AbortError" });
const lying = await open({ get: async (key) => (key.endsWith("json") ? objects["/a/zarr.json"] : undefined), getRange: async () => { throw new Error("503"); } });
await assert.rejects(get(lying, [{ start: 2, stop: 4 }]), (error) =>
  error.message === "/c/1, 4 bytes from 2: 503" && error.cause.message === "503");
for (const answer of ["text", new ArrayBuffer(4), [1, 2], new Uint16Array(2), new Response("")]) {
  const other = { get: store.get, getRange: async () => answer };
  await assert.rejects(get(await open(other, { path: "a" }), [{ start: 2, stop: 4 }]), /a\/c\/1, 4 bytes from 2: .* no Uint8Array/);
}
const missing = { get: store.get, getRange: async () => null };
assert.deepEqual((await get(await open(missing, { path: "a" }), [{ start: 2, stop: 4 }])).data, Int16Array.of(-1, -1));

// An abort ends a read at once, whatever the store does; a failure ends all requests.
const controller = new AbortController();
const silent = { get: store.get, getRange: () => new Promise(() => {}) };
const endless = get(await open(silent, { path: "a" }), [{ start: 2, stop: 4 }], { signal: controller.signal });
setTimeout(() => controller.abort(), 5);
await assert.rejects(endless, { name: "AbortError" });
calls = 0;
const failing = { get: store.get, getRange: async () => { if (++calls === 20) throw new Error("503"); return new Uint8Array(2); } };
await assert.rejects(get(await open(failing, { path: "m" }), [null, 30000]), /503/);
await new Promise((done) => setTimeout(done, 20));
assert.ok(calls < 36, `${calls} requests, although the 20th failed`);

// More strings than fit in memory.
objects["/s/zarr.json"] = new TextEncoder().encode(JSON.stringify({
  zarr_format: 3, node_type: "array", shape: [3e7], data_type: "string", fill_value: "",
  chunk_grid: { name: "regular", configuration: { chunk_shape: [1e6] } },
  chunk_key_encoding: { name: "default" }, codecs: [{ name: "vlen-utf8" }],
}));
const strings = await open(store, { path: "s" });
await assert.rejects(get(strings), /read it in parts/);
assert.deepEqual((await get(strings, [{ stop: 2 }])).data, ["", ""]);
console.log("driver: 1 passed, 0 failed");
