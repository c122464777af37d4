// The codecs packbits and reshape for zarrita.js: codecs.d.ts describes what this module exports.

import { BoolArray } from "zarrita";
import init, { Packed, reshaped } from "./zarr_wasm_codecs.js";
import { source } from "./source.js";

// zarrita asks a class for codecs and shapes without waiting.
const MODULE = new URL("./zarr_wasm_codecs_bg.wasm", import.meta.url);
await init({ module_or_path: await source(MODULE) });

const BIG_ENDIAN = new Uint8Array(Uint16Array.of(1).buffer)[0] === 0;

/** The array of each data type of zarrita that has a fixed size. */
const TYPES = {
  bool: BoolArray,
  int8: Int8Array, int16: Int16Array, int32: Int32Array, int64: BigInt64Array,
  uint8: Uint8Array, uint16: Uint16Array, uint32: Uint32Array, uint64: BigUint64Array,
  float16: globalThis.Float16Array, float32: Float32Array, float64: Float64Array,
};

const lengths = (shape) => BigUint64Array.from(shape, BigInt);
const document = (name, configuration) => JSON.stringify({ name, configuration });
const elements = (shape) => shape.reduce((product, length) => product * length, 1);

/**
 * The order in which the axes of a chunk lie in memory before the codec of this name and configuration.
 *
 * zarrita's transpose changes the strides of a chunk but not its shape, and tells the next codec nothing.
 */
function orderBefore(name, configuration, { codecs = [], shape }) {
  const isThis = (codec) => codec.configuration === configuration && codec.name === name;
  const at = codecs.findIndex(isThis);
  if (at !== codecs.findLastIndex(isThis)) {
    throw new TypeError(`two codecs ${name} share one configuration object: give each its own`);
  }
  const before = codecs.slice(0, Math.max(at, 0));
  const since = before.slice(before.findLastIndex((codec) => codec.name === "reshape") + 1);
  const orders = since.filter((codec) => codec.name === "transpose");
  if (orders.length > 1) {
    throw new TypeError(`${name}: zarrita.js reads wrong elements if two transposes follow each other`);
  }
  const axes = Array.from(shape, (_, axis) => axis);
  const order = orders[0]?.configuration?.order ?? axes;
  return order === "F" ? axes.reverse() : order === "C" ? axes : order;
}

function strides(shape, order = shape.map((_, axis) => axis)) {
  const stride = Array(shape.length).fill(0);
  order.reduceRight((step, axis) => ((stride[axis] = step), step * shape[axis]), 1);
  return stride;
}

/** The elements of a chunk, with its axes in this order in memory. */
function inOrder({ data, shape, stride }, order) {
  const [wanted, count, rank] = [strides(shape, order), elements(shape), shape.length];
  const isSame = shape.every((length, axis) => length === 1 || stride[axis] === wanted[axis]);
  if (isSame && data.length === count) return data;
  const last = shape.reduce((at, length, axis) => at + (length - 1) * stride[axis], 0);
  if (!(last < data.length) || stride.some((step) => !(step >= 0))) {
    const place = `a chunk of shape [${shape}] and strides [${stride}]`;
    throw new RangeError(`${place} does not lie in ${data.length} elements`);
  }
  if ("chars" in data) throw new TypeError("strings of a fixed length cannot be put into another order");
  // A BoolArray is not indexed by brackets.
  const isBool = data instanceof BoolArray;
  const from = isBool ? new Uint8Array(data.buffer, data.byteOffset, data.length) : data;
  const to = new from.constructor(count);
  const lengths = [...order.map((axis) => shape[axis]), 1];
  const steps = [...order.map((axis) => stride[axis]), 0];
  // The last axis that is added makes a chunk without axes a run of one element.
  let out = 0;
  const copy = (depth, at) => {
    const [length, step] = [lengths[depth], steps[depth]];
    if (depth >= rank - 1) for (let i = 0; i < length; i++) to[out++] = from[at + i * step];
    else for (let i = 0; i < length; i++) copy(depth + 1, at + i * step);
  };
  copy(0, 0);
  return isBool ? new BoolArray(to.buffer, 0, count) : to;
}

function checkShape(found, allowed) {
  if (String(found) !== String(allowed)) {
    throw new RangeError(`the chunk has shape [${found}], and the codec is for [${allowed}]`);
  }
}

export class PackBits {
  kind = "array_to_bytes";
  #packed;
  #order;
  #shape;
  #Type;

  static fromConfig(configuration, meta) {
    return new PackBits(configuration, meta);
  }

  constructor(configuration, meta) {
    const { dataType, shape } = meta;
    const json = document("packbits", configuration);
    this.#packed = new Packed(json, JSON.stringify(dataType), lengths(shape), BIG_ENDIAN);
    this.#Type = TYPES[dataType];
    if (!this.#Type) throw new TypeError(`packbits: zarrita.js has no elements of type ${dataType}`);
    this.#shape = shape;
    this.#order = orderBefore("packbits", configuration, meta);
  }

  encode(chunk) {
    checkShape(chunk.shape, this.#shape);
    const data = inOrder(chunk, this.#order);
    if (!(data instanceof this.#Type)) {
      throw new TypeError(`the chunk is a ${data.constructor.name}, and must be a ${this.#Type.name}`);
    }
    return this.#packed.encode(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
  }

  decode(bytes) {
    const { buffer } = this.#packed.decode(bytes);
    const data = new this.#Type(buffer, 0, elements(this.#shape));
    return { data, shape: this.#shape, stride: strides(this.#shape) };
  }

  computeEncodedSize() {
    return this.#packed.encoded_length();
  }
}

export class Reshape {
  kind = "array_to_array";
  #order;
  #shape;
  #reshaped;

  static fromConfig(configuration, meta) {
    return new Reshape(configuration, meta);
  }

  constructor(configuration, meta) {
    this.#shape = meta.shape;
    this.#order = orderBefore("reshape", configuration, meta);
    const transposed = lengths(this.#order.map((axis) => meta.shape[axis]));
    this.#reshaped = Array.from(reshaped(document("reshape", configuration), transposed), Number);
  }

  getEncodedMeta(meta) {
    return { ...meta, shape: this.#reshaped };
  }

  encode(chunk) {
    checkShape(chunk.shape, this.#shape);
    const shape = this.#reshaped;
    return { data: inOrder(chunk, this.#order), shape, stride: strides(shape) };
  }

  decode(chunk) {
    checkShape(chunk.shape, this.#reshaped);
    const data = inOrder(chunk, strides(chunk.shape).map((_, axis) => axis));
    return { data, shape: this.#shape, stride: strides(this.#shape, this.#order) };
  }
}
