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

// Errors: of the store, of an object that is too short, of the caller, of an abort.
await assert.rejects(open(memory({}), { path: "b" }), /b\/zarr\.json|"b"|b:/);
objects["/a/c/1"] = numbers(1);
await assert.rejects(get(array), /c\/1/);
await assert.rejects(get(array, [{ start: 2, stop: 4 }]), /c\/1/);
await assert.rejects(get(array, [1.5]), /1\.5/);
await assert.rejects(get(array, [9]), /9/);
await assert.rejects(get(array, null, { signal: AbortSignal.abort() }), { name: "AbortError" });
const lying = await open({ get: async (key) => (key.endsWith("json") ? objects["/a/zarr.json"] : undefined), getRange: async () => { throw new Error("503"); } });
await assert.rejects(get(lying, [{ start: 2, stop: 4 }]), /503/);
console.log("driver: 1 passed, 0 failed");
