// packbits and reshape in zarrita.js: node codecs.mjs SUITE ARCHIVES. Reads each array of the conformance
// suite that has one of them and a regular grid, writes it again, and tries what must be refused.

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";

import * as zarr from "zarrita";
import { PackBits, Reshape } from "zarr-kit/codecs";

import { Folder } from "./folder.mjs";

zarr.registry.set("packbits", () => import("zarr-kit/codecs").then((codecs) => codecs.PackBits));
zarr.registry.set("reshape", () => import("zarr-kit/codecs").then((codecs) => codecs.Reshape));

const [suite, archives] = process.argv.slice(2).map((path) => resolve(path));
const sha256 = (bytes) => createHash("sha256").update(bytes).digest("hex");
const bytesOf = (data) => new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** The elements of a chunk in C order, as bytes. */
function inOrder({ data, shape, stride }) {
  const [size, from] = [data.BYTES_PER_ELEMENT, bytesOf(data)];
  const count = shape.reduce((product, length) => product * length, 1);
  const out = new Uint8Array(count * size);
  for (let n = 0; n < count; n++) {
    let [rest, at] = [n, 0];
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      at += (rest % shape[axis]) * stride[axis];
      rest = Math.floor(rest / shape[axis]);
    }
    out.set(from.subarray(at * size, (at + 1) * size), n * size);
  }
  return out;
}

// zarrita leaves the promises of a chain's other codecs alone once one is refused.
process.on("unhandledRejection", () => {});

/** Writes an array over a folder into memory; the objects that were written. */
async function write(array, folder, chunk) {
  const written = new Map();
  const get = (key) => (key.endsWith("zarr.json") ? folder.get(key) : written.get(key));
  const store = { get, set: (key, bytes) => void written.set(key, bytes) };
  await zarr.set(await zarr.open.v3(store, { kind: "array" }), null, chunk);
  return written;
}

/** Why zarrita.js 0.7.5 itself cannot read a chain, whatever the codecs are. */
function lack({ codecs, data_type }) {
  const names = codecs.map((codec) => codec.name);
  const inner = codecs.find((codec) => codec.name === "sharding_indexed");
  if (names.includes(undefined)) return "a codec that is a string";
  if (names.some((name, at) => name === "transpose" && names[at + 1] === name)) return "transposes in a row";
  if (data_type === "bool" && codecs.some((codec) => codec.configuration?.endian === "big")) return "a big-endian bool";
  // The order of the first transpose is taken for that of the whole array.
  if (names.indexOf("reshape") >= 0 && names.indexOf("reshape") < names.indexOf("transpose")) return "a transpose after a reshape";
  if (!inner) return undefined;
  if (names.length > 1) return "a codec beside shards";
  if (inner.configuration.index_location === "start") return "an index at the start of shards";
  return lack({ codecs: inner.configuration.codecs, data_type }) ?? (/"sharding/.test(JSON.stringify(inner.configuration.codecs)) ? "shards in shards" : undefined);
}

/** What zarrita.js does not pass on: what follows `bytes`, members beside a configuration, 1.0 for 1. */
const LENIENT = new Set([
  "chain-packbits-bytes", "chain-reshape-last", "codec-packbits-beside", "codec-reshape-beside",
  "packbits-bit-1-0", "reshape-dimension-fraction", "reshape-size-2-0",
].map((name) => `invalid/${name}`));

// zarrita leaves the promises of a chain's other codecs alone once one is refused.
process.on("unhandledRejection", () => {});

const faults = [], counts = {};
const count = (what) => (counts[what] = (counts[what] ?? 0) + 1);
const isOurs = (document) => /"(packbits|reshape)"/.test(JSON.stringify(document.codecs ?? null));

const manifest = JSON.parse(await readFile(join(suite, "manifest.json")));
for (const one of manifest.cases) {
  if (one.archive === "zjoin" || one.node_type === "group") continue;
  const folder = new Folder(join(archives, one.archive, one.path));
  let document;
  try {
    document = JSON.parse(await readFile(join(folder.path, "zarr.json")));
  } catch {
    continue;
  }
  if (!isOurs(document) || document.chunk_grid?.name !== "regular") continue;
  let array, chunk;
  try {
    array = await zarr.open.v3(folder, { kind: "array" });
    chunk = array.shape.length === 0 ? await array.getChunk([]) : await zarr.get(array);
    // A chunk that does not exist is read without codecs.
    if (one.fails) await write(array, folder, chunk);
  } catch (error) {
    const text = `${error.message}: ${error.cause?.message ?? ""}`;
    if ([error, error.cause].some((it) => it instanceof WebAssembly.RuntimeError)) throw error;
    if (one.fails) count("refused");
    else if (/Unknown or unsupported dataType|dataType.match/.test(text)) count("of a type that zarrita lacks");
    else if (lack(document)) count(`with ${lack(document)}`);
    else faults.push(`${one.id} ${JSON.stringify(one.codecs)}: ${text}`);
    continue;
  }
  if (one.fails) {
    if (!LENIENT.has(one.id)) faults.push(`${one.id}: is read, though ${one.reason}`);
    continue;
  }
  if (sha256(inOrder(chunk)) !== one.sha256) {
    if (lack(document)) count(`with ${lack(document)}`);
    else faults.push(`${one.id} ${JSON.stringify(one.codecs)}: other elements`);
    continue;
  }
  count("read");
  // Padding bits that are set, which readers ignore.
  if (one.id === "reference/packbits-padding-bits") continue;
  // Written again, chunks have the bytes that they had, unless zarrita lacks the encoder.
  const isWritable = ({ name }) => ["packbits", "reshape", "transpose", "bytes"].includes(name);
  if (!document.codecs.every(isWritable) || array.shape.length === 0) continue;
  let written;
  try {
    written = await write(array, folder, chunk);
  } catch (error) {
    // zarrita fills up a chunk at the edge with the fill value.
    if (/does not fit bits/.test(error.cause?.message)) count("with a fill value that does not fit");
    else faults.push(`${one.id} ${JSON.stringify(one.codecs)}: ${error.message}: ${error.cause?.message}`);
    continue;
  }
  for (const [key, bytes] of written) {
    const stored = await folder.get(key);
    if (stored === undefined) continue;
    if (Buffer.compare(stored, bytes) !== 0) faults.push(`${one.id} ${JSON.stringify(one.codecs)} ${key}: other bytes`);
    count("chunks written");
  }
}

// The bytes of the codec's text: 1, 2 and 1023 in ten bits each, then six bits of padding.
const meta = (dataType, shape, codecs = []) => ({ dataType, shape, codecs, fillValue: null });
const ten = PackBits.fromConfig({ last_bit: 9, padding_encoding: "last_byte" }, meta("uint16", [3]));
const three = { data: Uint16Array.of(1, 2, 1023), shape: [3], stride: [1] };
const golden = Uint8Array.of(0x01, 0x08, 0xf0, 0x3f, 2);
assert.deepEqual(ten.encode(three), golden);
assert.deepEqual(ten.decode(golden), three);
assert.equal(ten.computeEncodedSize(6), 5);
// A view of a larger buffer, a column of a matrix.
assert.deepEqual(ten.encode({ ...three, data: Uint16Array.of(9, 1, 2, 1023, 9).subarray(1, 4) }), golden);
assert.deepEqual(ten.encode({ data: Uint16Array.of(1, 9, 2, 9, 1023), shape: [3], stride: [2] }), golden);
const bits = PackBits.fromConfig({}, meta("bool", [2, 3]));
const flags = { data: new zarr.BoolArray([true, false, true, true, true, false]), shape: [2, 3], stride: [1, 2] };
// In columns 1 0, 1 1, 1 0: the rows are 1 1 1 and 0 1 0.
assert.deepEqual(bits.encode(flags), Uint8Array.of(0b010_111));
assert.deepEqual([...bits.decode(Uint8Array.of(0b011_011)).data], [true, true, false, true, true, false]);
const signed = PackBits.fromConfig({ last_bit: 6 }, meta("int64", [2]));
assert.deepEqual(signed.decode(signed.encode({ data: BigInt64Array.of(-64n, 63n), shape: [2], stride: [1] })).data, BigInt64Array.of(-64n, 63n));

// Chunks of a wrong length, shape or type; elements that do not fit.
assert.throws(() => ten.decode(golden.subarray(1)), /encoded chunk of 4 bytes: 3 elements of 10 bits .* take exactly 5/);
assert.throws(() => ten.decode(new Uint8Array(0)), /encoded chunk of 0 bytes/);
assert.throws(() => ten.decode(Uint8Array.of(1, 8, 0xf0, 0x3f, 3)), /padding byte at 4 is 3/);
assert.throws(() => ten.encode({ data: Uint16Array.of(1), shape: [1], stride: [1] }), /shape \[1\].*\[3\]/);
assert.throws(() => ten.encode({ ...three, data: Uint16Array.of(1) }), /does not lie in 1 elements/);
assert.throws(() => ten.encode({ ...three, stride: [-1] }), /does not lie/);
assert.throws(() => ten.encode({ ...three, data: Int32Array.of(1, 2, 3) }), /Int32Array.*Uint16Array/);
assert.throws(() => ten.encode({ ...three, data: Uint16Array.of(1, 2, 1024) }), /element 2 does not fit bits 0 to 9/);
for (const [dataType, shape, message] of [
  ["string", [2], /string.*not a bool, integer, float or complex type/], ["v2:U4", [2], /v2:U4/], ["int4", [2], /zarrita\.js has no elements of type int4/],
  ["uint8", [2 ** 40, 2 ** 40], /too large for memory/], ["uint8", [-1], /too large for memory/], ["uint8", [1.5], /1\.5/],
]) assert.throws(() => PackBits.fromConfig({}, meta(dataType, shape)), message);
assert.throws(() => PackBits.fromConfig({ last_bit: 16 }, meta("uint16", [2])), /last_bit is 16: a component of 16 bits allows 0 to 15/);
assert.throws(() => PackBits.fromConfig({ last_byte: 1 }, meta("uint16", [2])), /last_byte/);
assert.throws(() => PackBits.fromConfig(7, meta("uint16", [2])), /configuration/);
const large = PackBits.fromConfig({}, meta("float64", [2 ** 28]));
assert.throws(() => large.decode(golden), /encoded chunk of 5 bytes/, "no memory is taken first");

// Reshapes, before and after a transpose.
const rows = Reshape.fromConfig({ shape: [[0], -1] }, meta("int8", [2, 3, 2]));
assert.deepEqual(rows.getEncodedMeta(meta("int8", [2, 3, 2])).shape, [2, 6]);
const matrix = { data: Int8Array.of(0, 1, 2, 3), shape: [2, 2], stride: [1, 2] };
const flat = Reshape.fromConfig({ shape: [-1] }, meta("int8", [2, 2]));
assert.deepEqual(flat.encode(matrix), { data: Int8Array.of(0, 2, 1, 3), shape: [4], stride: [1] });
assert.deepEqual(flat.encode({ ...matrix, data: ["a", "b", "c", "d"] }).data, ["a", "c", "b", "d"]);
assert.throws(() => flat.decode(matrix), /shape \[2,2\].*\[4\]/);
assert.throws(() => Reshape.fromConfig({ shape: [5] }, meta("int8", [2, 2])), /5 elements.*4/);
assert.throws(() => Reshape.fromConfig(undefined, meta("int8", [2, 2])), /configuration/);
const configuration = { shape: [[0, 1]] };
const reshape = { name: "reshape", configuration };
const turn = { name: "transpose", configuration: { order: [1, 0] } };
const turned = Reshape.fromConfig(configuration, meta("int8", [2, 3], [turn, reshape]));
assert.deepEqual(turned.decode({ data: Int8Array.of(0, 1, 2, 3, 4, 5), shape: [6], stride: [1] }).stride, [1, 2]);
for (const codecs of [[turn, turn, reshape], [reshape, turn, reshape]]) {
  assert.throws(() => Reshape.fromConfig(configuration, meta("int8", [2, 3], codecs)), TypeError);
}

for (const line of faults) console.log(line);
for (const [what, found] of Object.entries(counts)) console.log(`${found} ${what}`);
// With Float16Array, which node has from version 24 on, more is read.
assert.ok(counts.read >= 262 && counts["chunks written"] >= 434 && counts.refused === 83, "less of the suite is read");
console.log(`codecs in zarrita.js: ${counts.read + counts.refused} passed, ${faults.length} failed`);
if (faults.length > 0) process.exitCode = 1;
