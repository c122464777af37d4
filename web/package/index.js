// Zarr arrays in JavaScript: index.d.ts describes what this module exports.

import { source } from "./source.js";
import init, { Fetched } from "./zarr_wasm.js";

const REQUESTS = 16;
const MODULE = new URL("./zarr_wasm_bg.wasm", import.meta.url);
let started;

function ready() {
  return (started ??= (async () => init({ module_or_path: await source(MODULE) }))());
}

/** Fetches what a step needs until it needs nothing more; then its result or error counts. */
async function drive(fetched, store, options, step) {
  for (;;) {
    options?.signal?.throwIfAborted();
    let result, error;
    try {
      result = step();
    } catch (caught) {
      // A panic is a fault of this package, and leaves the module in an unknown state.
      if (caught instanceof WebAssembly.RuntimeError) throw caught;
      error = caught;
    }
    const needs = fetched.needs();
    if (needs.length === 0) {
      if (error) throw error;
      return result;
    }
    let next = 0;
    const work = async () => {
      while (next < needs.length) await supply(fetched, store, options, needs[next++]);
    };
    await Promise.all(Array.from({ length: Math.min(REQUESTS, needs.length) }, work));
  }
}

/** Fetches the bytes of one need from a store of zarrita. */
async function supply(fetched, store, options, need) {
  options?.signal?.throwIfAborted();
  const key = `/${need.key}`;
  const { suffix, ranges } = need;
  if ((suffix === undefined && ranges.length === 0) || !store.getRange) {
    return fetched.supply(need, await store.get(key, options), true);
  }
  const get = (range) => store.getRange(key, range, options);
  if (suffix !== undefined) {
    return fetched.supply(need, await get({ suffixLength: Number(suffix) }), false);
  }
  const parts = [];
  for (let at = 0; at < ranges.length; at += 2) {
    const offset = Number(ranges[at]);
    parts.push(get({ offset, length: Number(ranges[at + 1]) - offset }));
  }
  const found = await Promise.all(parts);
  if (found.includes(undefined)) return fetched.supply(need, undefined, false);
  const bytes = new Uint8Array(found.reduce((sum, part) => sum + part.length, 0));
  found.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  fetched.supply(need, bytes, false);
}

/** The typed array of each data type; elements of others are bytes. */
const TYPES = {
  bool: Uint8Array,
  int2: Int8Array, int4: Int8Array, int8: Int8Array, int16: Int16Array, int32: Int32Array,
  int64: BigInt64Array,
  uint1: Uint8Array, uint2: Uint8Array, uint4: Uint8Array, uint8: Uint8Array, uint16: Uint16Array,
  uint32: Uint32Array, uint64: BigUint64Array,
  float16: globalThis.Float16Array ?? Uint16Array, bfloat16: Uint16Array,
  float32: Float32Array, float64: Float64Array,
  complex64: Float32Array, complex128: Float64Array,
  "numpy.datetime64": BigInt64Array, "numpy.timedelta64": BigInt64Array,
};

export class ZarrArray {
  #array;
  #store;

  constructor(array, store) {
    this.#array = array;
    this.#store = store;
    this.shape = Array.from(array.shape(), Number);
    const type = JSON.parse(array.data_type());
    this.dtype = typeof type === "string" ? type : type.name;
    this.document = array.metadata();
    this.elementSize = array.element_size();
  }

  async get(selection = null, options) {
    if (["bytes", "variable_length_bytes"].includes(this.dtype)) {
      throw new TypeError(`elements of data type ${this.dtype} are not read here`);
    }
    const fetched = new Fetched();
    const reading = this.#array.select(fetched, text(selection, this.shape.length));
    try {
      await drive(fetched, this.#store, options, () => reading.plan());
      const isText = this.dtype === "string";
      const read = () => (isText ? reading.read_strings() : reading.read());
      const elements = await drive(fetched, this.#store, options, read);
      const shape = Array.from(reading.shape(), Number);
      return { data: isText ? elements : this.#typed(elements), shape, stride: strides(shape) };
    } finally {
      reading.free();
      fetched.free();
    }
  }

  #typed(bytes) {
    const Type = TYPES[this.dtype] ?? Uint8Array;
    return new Type(bytes.buffer, bytes.byteOffset, bytes.byteLength / Type.BYTES_PER_ELEMENT);
  }
}

/** A selection in numpy's notation. */
function text(selection, rank) {
  if (typeof selection === "string") return selection;
  const part = (axis) => {
    if (axis === null || axis === undefined) return ":";
    if (Array.isArray(axis)) return `[${axis.map(index).join(", ")}]`;
    if (typeof axis !== "object") return index(axis);
    const { start, stop, step } = axis;
    return [start, stop, step].map((end) => (end == null ? "" : index(end))).join(":");
  };
  const axes = Array.isArray(selection) ? selection : Array(rank).fill(selection);
  return axes.map(part).join(", ");
}

function index(number) {
  if (typeof number === "bigint" || Number.isSafeInteger(number)) return String(number);
  throw new RangeError(`an index must be an integer, and is ${String(number)}`);
}

function strides(shape) {
  const stride = Array(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) {
    stride[axis] = stride[axis + 1] * shape[axis + 1];
  }
  return stride;
}

export async function open(store, { path = "", ...options } = {}) {
  await ready();
  const fetched = new Fetched();
  try {
    const prefix = path.replace(/^\/+|\/+$/g, "");
    return new ZarrArray(await drive(fetched, store, options, () => fetched.open(prefix)), store);
  } finally {
    fetched.free();
  }
}

export const get = (array, selection, options) => array.get(selection, options);
