// Steps of a compiled module over a store of zarrita.js, which fetches what they need.

import { source } from "./source.js";

const REQUESTS = 16;

/** Bytes between two ranges that cost less than a request. */
const GAP = 1 << 15;

/** A compiled module, whose steps are repeated until they need nothing more. */
export class Module {
  #url;
  #init;
  #started;
  /** The fault that stopped the module, which is in an unknown state since. */
  #fault;

  constructor(url, init) {
    this.#url = url;
    this.#init = init;
  }

  /** Compiles the module, once. */
  ready() {
    this.#started ??= source(this.#url).then((module) => this.#init({ module_or_path: module }));
    this.#started.catch(() => (this.#started = undefined));
    return this.#started;
  }

  /** Calls the module. A panic is a fault of this package; memory and stack may also come to an end. */
  call(work) {
    if (this.#fault) throw new Error("zarr-kit has stopped at an earlier fault: load it anew", { cause: this.#fault });
    try {
      return work();
    } catch (error) {
      if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) this.#fault = error;
      throw error;
    }
  }

  free(object) {
    if (!this.#fault) object?.free();
  }

  /** Does work with an object that holds the answers of a store. */
  async withAnswers(Fetched, work) {
    await this.ready();
    const fetched = this.call(() => new Fetched());
    try {
      return await work(fetched);
    } finally {
      this.free(fetched);
    }
  }

  /** Fetches what a step needs until it needs nothing more; then its result or error counts. */
  async drive(fetched, store, options, step) {
    const call = this.call.bind(this);
    const request = (need) => requests(call, fetched, store, options, need);
    for (;;) {
      options?.signal?.throwIfAborted();
      let result, error;
      try {
        result = call(step);
      } catch (caught) {
        if (this.#fault) throw caught;
        error = caught;
      }
      const waiting = call(() => fetched.needs().flatMap(request));
      if (waiting.length === 0) {
        if (error) throw error;
        return result;
      }
      await fetchAll(waiting, options?.signal);
    }
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
function requests(call, fetched, store, options, need) {
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
  const groups = near(ranges);
  const parts = [];
  let count = groups.length;
  return groups.map((group, at) => async () => {
    const offset = group[0].start, length = group.at(-1).end - offset;
    const place = `, ${length} bytes from ${offset}`;
    const part = await ask(place, () => store.getRange(key, { offset, length }, options));
    if (part && part.length !== length) throw new RangeError(`${key}${place}: the store gave ${part.length}`);
    return () => {
      parts[at] = part && group.map(({ start, end }) => part.subarray(start - offset, end - offset));
      if (--count === 0) supply(parts.includes(undefined) ? undefined : joined(parts.flat()), false);
    };
  });
}

/** Ranges that are near to each other, in groups: one request each. */
function near(ranges) {
  const groups = [];
  for (let at = 0; at < ranges.length; at += 2) {
    const [start, end] = [Number(ranges[at]), Number(ranges[at + 1])];
    const last = groups.at(-1)?.at(-1);
    if (last && start >= last.end && start - last.end <= GAP) groups.at(-1).push({ start, end });
    else groups.push([{ start, end }]);
  }
  return groups;
}

function joined(parts) {
  if (parts.length === 1) return parts[0];
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  parts.reduce((at, part) => (bytes.set(part, at), at + part.length), 0);
  return bytes;
}

/** A selection in numpy's notation. */
export function selectionText(selection, rank) {
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

/** The path of a node without slashes at its ends. */
export const pathOf = (path = "") => path.replace(/^\/+|\/+$/g, "");
