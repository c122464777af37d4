/** A range of bytes of an object. */
export type Range = { offset: number; length: number } | { suffixLength: number };

/** What is passed on to the store with each request. */
export interface Options {
  signal?: AbortSignal;
  [other: string]: unknown;
}

/** A store as zarrita.js has it: keys begin with a slash; a missing object is `undefined`. */
export interface Store {
  get(key: string, options?: any): Promise<Uint8Array | undefined> | Uint8Array | undefined;
  getRange?(key: string, range: Range, options?: any): Promise<Uint8Array | undefined>;
}

/** What is selected on an axis: all, an index (the axis is dropped), a slice, or a list of indices. */
export type Axis =
  | null
  | number
  | bigint
  | (number | bigint)[]
  | ArrayBufferView
  | { start?: number | null; stop?: number | null; step?: number | null };

/** One entry for each axis, or numpy's notation, such as `"::-2, [0, 3]"`. */
export type Selection = Axis[] | string | null;

/** Elements in C order. Two numbers are one complex element; other types are bytes. */
export interface Region {
  data: ArrayLike<number> | ArrayLike<bigint> | string[];
  shape: number[];
  stride: number[];
}

/** An open array. */
export class ZarrArray {
  private constructor();
  readonly shape: number[];
  /** The name of the data type. */
  readonly dtype: string;
  /** The text of `zarr.json`, in which numbers may be NaN; for version 2, as version 3 would have it. */
  readonly document: string;
  /** The bytes of an element in memory. */
  readonly elementSize: number;
  get(selection?: Selection, options?: Options): Promise<Region>;
}

/** Opens the array at `path` of a store. Errors name the key and what is wrong there. */
export function open(store: Store, options?: Options & { path?: string }): Promise<ZarrArray>;

/** Reads a selection: only the bytes that it needs, with up to 16 requests at once. */
export function get(array: ZarrArray, selection?: Selection, options?: Options): Promise<Region>;
