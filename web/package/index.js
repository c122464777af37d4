// Zarr arrays in JavaScript: index.d.ts describes what this module exports.

import { Module, pathOf, selectionText } from "./drive.js";
import init, { Fetched } from "./zarr_wasm.js";

const module = new Module(new URL("./zarr_wasm_bg.wasm", import.meta.url), init);

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
    const axes = selectionText(selection, this.shape.length);
    return module.withAnswers(Fetched, async (fetched) => {
      const reading = module.call(() => this.#array.select(fetched, axes));
      try {
        await module.drive(fetched, this.#store, options, () => reading.plan());
        const isText = this.dtype === "string";
        const read = () => (isText ? reading.read_strings() : reading.read());
        const elements = await module.drive(fetched, this.#store, options, read);
        const shape = Array.from(reading.shape(), Number);
        return { data: isText ? elements : this.#typed(elements), shape, stride: strides(shape) };
      } finally {
        module.free(reading);
      }
    });
  }

  #typed(bytes) {
    const Type = TYPES[this.dtype] ?? Uint8Array;
    return new Type(bytes.buffer, bytes.byteOffset, bytes.byteLength / Type.BYTES_PER_ELEMENT);
  }
}

function strides(shape) {
  const stride = Array(shape.length).fill(1);
  for (let axis = shape.length - 2; axis >= 0; axis--) {
    stride[axis] = stride[axis + 1] * shape[axis + 1];
  }
  return stride;
}

export async function open(store, { path, ...options } = {}) {
  return module.withAnswers(Fetched, async (fetched) => {
    const step = () => fetched.open(pathOf(path));
    return new ZarrArray(await module.drive(fetched, store, options, step), store);
  });
}

export const get = (array, selection, options) => array.get(selection, options);
