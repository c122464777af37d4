// Zarr arrays in JavaScript: index.d.ts describes what this module exports.

import { source } from "./source.js";
import init, { Fetched } from "./zarr_wasm.js";

const REQUESTS = 16;
const MODULE = new URL("./zarr_wasm_bg.wasm", import.meta.url);
let started;
/** The fault that stopped the module, which is in an unknown state since. */
let fault;

/** Compiles the module, once. */
function ready() {
  started ??= source(MODULE).then((module) => init({ module_or_path: module }));
  started.catch(() => (started = undefined));
  return started;
}

/** Calls the module. A panic is a fault of this package; memory and stack may also come to an end. */
function call(work) {
  if (fault) throw new Error("zarr-kit has stopped at an earlier fault: load it anew", { cause: fault });
  try {
    return work();
  } catch (error) {
    if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) fault = error;
    throw error;
  }
}

function free(...objects) {
  if (!fault) for (const object of objects) object.free();
}

/** Fetches what a step needs until it needs nothing more; then its result or error counts. */
async function drive(fetched, store, options, step) {
  for (;;) {
    options?.signal?.throwIfAborted();
    let result, error;
    try {
      result = call(step);
    } catch (caught) {
      if (fault) throw caught;
      error = caught;
    }
    const waiting = call(() => fetched.needs().flatMap((need) => requests(fetched, store, options, need)));
    if (waiting.length === 0) {
      if (error) throw error;
      return result;
    }
    await fetchAll(waiting, options?.signal);
  }
}

/** Makes requests, as many as may run at once, until one fails or the signal is aborted. */
async function fetchAll(waiting, signal) {
  let next = 0, stop;
  const stopped = new Promise((_, reject) => {
    stop = () => reject(signal.reason);
    signal?.addEventListener("abort", stop);
  });
  const work = async () => {
    while (next < waiting.length) {
      try {
        const answered = await waiting[next++]();
        // Nobody waits for what comes after a failure.
        if (next < Infinity) answered();
      } catch (error) {
        next = Infinity;
        throw error;
      }
    }
  };
  try {
    await Promise.race([stopped, Promise.all(Array.from({ length: REQUESTS }, work))]);
  } finally {
    next = Infinity;
    signal?.removeEventListener("abort", stop);
  }
}

/** The requests of a need to a store of zarrita. Each gives what is to be done with its answer. */
function requests(fetched, store, options, need) {
  const { suffix, ranges } = need;
  const key = `/${need.key}`;
  const supply = (bytes, isWhole) => call(() => fetched.supply(need, bytes, isWhole));
  const ask = async (place, request) => {
    let bytes;
    try {
      bytes = await request();
    } catch (error) {
      options?.signal?.throwIfAborted();
      throw new Error(`${key}${place}: ${error?.message ?? error}`, { cause: error });
    }
    if (bytes == null) return undefined;
    if (Object.prototype.toString.call(bytes) !== "[object Uint8Array]") {
      throw new TypeError(`${key}${place}: the store gave no Uint8Array, but ${bytes}`);
    }
    return bytes;
  };
  if ((suffix === undefined && ranges.length === 0) || !store.getRange) {
    return [async () => {
      const bytes = await ask("", () => store.get(key, options));
      return () => supply(bytes, true);
    }];
  }
  if (suffix !== undefined) {
    const range = { suffixLength: Number(suffix) };
    return [async () => {
      const bytes = await ask(`, the last ${suffix} bytes`, () => store.getRange(key, range, options));
      return () => supply(bytes, false);
    }];
  }
  const parts = [];
  let count = ranges.length / 2;
  return Array.from({ length: count }, (_, at) => async () => {
    const [offset, length] = [Number(ranges[2 * at]), Number(ranges[2 * at + 1] - ranges[2 * at])];
    const place = `, ${length} bytes from ${offset}`;
    const part = await ask(place, () => store.getRange(key, { offset, length }, options));
    if (part && part.length !== length) throw new RangeError(`${key}${place}: the store gave ${part.length}`);
    return () => {
      parts[at] = part;
      if (--count === 0) supply(parts.includes(undefined) ? undefined : joined(parts), false);
    };
  });
}

function joined(parts) {
  if (parts.length === 1) return parts[0];
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  return bytes;
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
    const axes = text(selection, this.shape.length);
    const fetched = call(() => new Fetched());
    let reading;
    try {
      reading = call(() => this.#array.select(fetched, axes));
      await drive(fetched, this.#store, options, () => reading.plan());
      const isText = this.dtype === "string";
      const read = () => (isText ? reading.read_strings() : reading.read());
      const elements = await drive(fetched, this.#store, options, read);
      const shape = Array.from(reading.shape(), Number);
      return { data: isText ? elements : this.#typed(elements), shape, stride: strides(shape) };
    } finally {
      free(...(reading ? [reading] : []), fetched);
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
  if (selection == null) return Array(rank).fill(":").join(", ");
  if (!Array.isArray(selection)) {
    throw new TypeError(`a selection is null, a string or an array with an entry for each axis, not ${selection}`);
  }
  return selection.map(axisText).join(", ");
}

function axisText(axis) {
  if (axis == null) return ":";
  if (Array.isArray(axis) || (ArrayBuffer.isView(axis) && !(axis instanceof DataView))) return `[${Array.from(axis, index).join(", ")}]`;
  if (typeof axis !== "object") return index(axis);
  const names = Object.keys(axis);
  if (names.length === 0 || names.some((name) => !["start", "stop", "step"].includes(name))) {
    throw new TypeError(`a slice has start, stop and step, and this has [${names}]`);
  }
  return [axis.start, axis.stop, axis.step].map((end) => (end == null ? "" : index(end))).join(":");
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
  const fetched = call(() => new Fetched());
  try {
    const prefix = path.replace(/^\/+|\/+$/g, "");
    return new ZarrArray(await drive(fetched, store, options, () => fetched.open(prefix)), store);
  } finally {
    free(fetched);
  }
}

export const get = (array, selection, options) => array.get(selection, options);
