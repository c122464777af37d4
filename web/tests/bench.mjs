// Reads beside zarrita.js, in turns, from memory: node bench.mjs. Prints the table of docs/javascript.md.

import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";

import * as zarrita from "zarrita";
import { get, open } from "zarr-kit";

const TURNS = 9;
const bytes = { name: "bytes", configuration: { endian: "little" } };
const chains = {
  "uncompressed": [bytes],
  "gzip": [bytes, { name: "gzip", configuration: { level: 5 } }],
  "zstd": [bytes, { name: "zstd", configuration: { level: 3, checksum: false } }],
  "transpose, zstd": [{ name: "transpose", configuration: { order: [1, 0] } }, bytes, { name: "zstd", configuration: { level: 3, checksum: false } }],
};
const [side, all] = [2048, [null, null]];
const cases = [
  ...Object.keys(chains).map((chain) => [chain, 512, "all, 8 MiB", all]),
  ["uncompressed", 512, "10 x 10", [[700, 710], [1500, 1510]]],
  ["zstd", 512, "10 x 10", [[700, 710], [1500, 1510]]],
  ["uncompressed", 512, "a column", [[0, side], [7, 8]]],
  ["zstd", 32, "all, 4,096 chunks", all],
  ["shards of 512 x 512, zstd", 64, "all, 8 MiB", all],
  ["shards of 512 x 512, zstd", 64, "10 x 10", [[700, 710], [1500, 1510]]],
];

/** Smooth values with noise in the low bits, as of an instrument. */
const data = Uint16Array.from({ length: side * side }, (_, at) =>
  2000 + 1000 * Math.sin((at % side) / 90) * Math.cos(at / side / 70) + ((at * 2654435761) >>> 28));

async function written(chain, chunk) {
  const store = new Map();
  const create = (codecs, size) => zarrita.create(store, { shape: [side, side], chunkShape: [size, size], dtype: "uint16", codecs, fillValue: 0 });
  const inner = chains[chain.replace(/^shards of 512 x 512, /, "")];
  const isGzip = chain === "gzip";
  const target = await create(isGzip ? [bytes] : inner, chunk);
  await zarrita.set(target, null, { data, shape: [side, side], stride: [side, 1] });
  if (isGzip) {
    // Zarrita.js does not write gzip.
    for (const [key, found] of store) store.set(key, new Uint8Array(gzipSync(found, { level: 5 })));
    await create(inner, chunk);
  }
  if (inner === chains[chain]) return store;
  // Zarrita.js does not write shards: they are joined from chunks.
  const shards = new Map();
  for (let at = 0; at < 16; at++) {
    const parts = [], index = new BigUint64Array(2 * 64);
    let offset = 0;
    for (let part = 0; part < 64; part++) {
      const found = store.get(`/c/${Math.floor(at / 4) * 8 + Math.floor(part / 8)}/${(at % 4) * 8 + (part % 8)}`);
      index.set([BigInt(offset), BigInt(found.length)], 2 * part);
      parts.push(found);
      offset += found.length;
    }
    shards.set(`/c/${Math.floor(at / 4)}/${at % 4}`, new Uint8Array(Buffer.concat([...parts, new Uint8Array(index.buffer)])));
  }
  const document = JSON.parse(new TextDecoder().decode(store.get("/zarr.json")));
  document.chunk_grid.configuration.chunk_shape = [512, 512];
  document.codecs = [{ name: "sharding_indexed", configuration: { chunk_shape: [chunk, chunk], codecs: inner, index_codecs: [bytes], index_location: "end" } }];
  shards.set("/zarr.json", new TextEncoder().encode(JSON.stringify(document)));
  return shards;
}

/** A store of a map that gives ranges, and counts requests. */
class Memory {
  requests = 0;
  constructor(map) {
    this.map = map;
  }
  async get(key) {
    this.requests += 1;
    return this.map.get(key);
  }
  async getRange(key, { offset, length, suffixLength }) {
    this.requests += 1;
    const found = this.map.get(key);
    return suffixLength === undefined ? found?.slice(offset, offset + length) : found?.slice(-suffixLength);
  }
}

console.log("| array | read | ours, ms | zarrita.js | requests, ours | zarrita.js |\n| --- | --- | ---: | ---: | ---: | ---: |");
for (const [chain, chunk, name, selection] of cases) {
  const map = await written(chain, chunk);
  const [ours, theirs] = [new Memory(map), new Memory(map)];
  const programs = [
    [ours, await open(ours), (array) => get(array, selection.map((axis) => axis && { start: axis[0], stop: axis[1] }))],
    [theirs, await zarrita.open(theirs, { kind: "array" }), (array) => zarrita.get(array, selection.map((axis) => axis && zarrita.slice(...axis)))],
  ];
  const times = [[], []];
  let results, requests;
  for (let turn = 0; turn <= TURNS; turn++) {
    [results, requests] = [[], []];
    for (const [which, [store, array, read]] of programs.entries()) {
      store.requests = 0;
      const begun = performance.now();
      results.push(await read(array));
      // The first turn compiles.
      if (turn > 0) times[which].push(performance.now() - begun);
      requests.push(store.requests);
    }
  }
  const [mine, found] = results;
  // Zarrita.js gives a transposed array in its own order.
  const inOrder = mine.data.map((_, at) => found.data[Math.floor(at / mine.shape[1]) * found.stride[0] + (at % mine.shape[1]) * found.stride[1]]);
  assert.deepEqual(mine.data, inOrder);
  const [one, other] = times.map((all) => all.sort((a, b) => a - b)[TURNS >> 1]);
  console.log(`| ${chain}${chunk === 32 ? ", tiny chunks" : ""} | ${name} | ${one.toFixed(1)} | ${(other / one).toFixed(2)} | ${requests.join(" | ")} |`);
}
