// Reads and decodes what the page shows. A message is { id, task, ...arguments }, or { abort: id }.

import { get, open } from "./zarr-kit/index.js";
import { check, chunks, draw, info, nodes } from "./zarr-kit/report.js";
import { ABOVE, BELOW, DAMAGED, FILL, MISSING, NOTHING, textOf, VALUE } from "./kinds.js";
import { isDocument, storeOf } from "./stores.js";

/** Elements along an axis of a picture, and along a line; others are left out by a step. */
const MOST = { 1: 4096, 2: 1024 };
/** What a look may read of chunks that must be decoded whole: at first, and if the user has chosen it. */
const FIRST = { chunks: 256, bytes: 64 << 20 };
const CHOSEN = { chunks: 4096, bytes: 1 << 30 };
/** Chunks that a server is asked for without being told to, and at most. */
const ASKED = 256;
const MOST_ASKED = 65_536;
/** Rules of `check` that an object breaks by not being there, which is not known without a list of the keys. */
const OF_ABSENCE = new Set(["missing-chunk", "few-missing-chunks", "stray-object", "zarr-v2-node", "convention", "unusable-member"]);

let store, keys, array;

/** The keys that are known: all, or those that a server has answered for. */
const known = () => keys ?? [...store.found].filter(([, there]) => there).map(([key]) => key);
const isMissing = (key) => (keys ? !keys.has(key) : store.found.get(`/${key}`) === false);

const tasks = {
  async open({ place }, options) {
    const { skipped, ...opened } = await storeOf(place);
    ({ store, keys } = opened);
    return { ...await nodes(store, { ...options, keys }), listed: keys !== undefined, skipped };
  },

  async about({ path }, options) {
    const found = await info(store, { ...options, path, keys });
    array = found.node_type === "array" && { path, about: found };
    return found;
  },

  /** The picture of the chunk grid; of a server's grid only if every chunk has been asked for. */
  async grid({ path, ask }, options) {
    if (!keys) {
      const { total, chunks: all } = await chunks(store, { ...options, path, most: MOST_ASKED });
      if (total > (ask ? MOST_ASKED : ASKED)) return { total, mayAsk: total <= MOST_ASKED };
      await eachOf(all, 16, (chunk) => store.has(`/${chunk.key}`, options));
    }
    const { chunks: counted } = await info(store, { ...options, path, keys: known() });
    return { stored: counted.stored, total: counted.occupied.reduce((all, one) => all * one, 1), svg: await draw(store, { ...options, path, keys: known() }) };
  },

  async check({ path }, options) {
    const { findings: all } = await check(store, { ...options, path, keys: known() });
    const findings = keys ? all : all.filter(({ id, message }) => !OF_ABSENCE.has(id) && message !== "there is no such node");
    const count = (kind) => findings.filter(({ severity }) => severity === kind).length;
    return { findings: findings.slice(0, 200), total: findings.length, errors: count("error"), warnings: count("warning"), notes: count("note") };
  },

  /** Elements of one axis or two, with an entry for each axis: an index, or a slice. */
  async look({ path, view }, options) {
    if (array?.path !== path) throw new Error("another node is shown");
    const { shape } = array.about;
    // Without a list of keys, a description has inner chunks only of those that it is told.
    const about = keys ? array.about : (array.told ??= await info(store, { ...options, path, keys: known().filter(isDocument) }));
    const inner = about.chunks?.inner?.shape;
    const opened = (array.opened ??= await open(store, { ...options, path }));
    const limit = view ? CHOSEN : FIRST;
    // The form is shown with it, even if nothing can be read.
    options.view = view ??= firstView(shape);
    const shown = view.flatMap((axis, at) => (typeof axis === "object" ? [at] : []));
    if (shape.includes(0)) return { view, kinds: [] };
    let planned;
    for (;;) {
      for (const axis of shown) view[axis].step = Math.max(1, Math.ceil((view[axis].stop - view[axis].start) / MOST[shown.length]));
      planned = await chunks(store, { ...options, path, keys, selection: view, most: limit.chunks });
      const sharded = inner && ofInner(view, shape, inner);
      const bytes = opened.elementSize * (sharded ?? planned.chunks.reduce((sum, { region }) => sum + volume(region), 0));
      const longest = shown.reduce((one, two) => (view[two].stop - view[two].start > view[one].stop - view[one].start ? two : one), shown[0]);
      // One chunk is read as it is; an inner one as far as a chosen look would.
      const isOne = planned.total <= 1 && (!inner || sharded <= inner.reduce((all, size) => all * size, 1));
      if (planned.total <= limit.chunks && (bytes <= limit.bytes || (isOne && (!inner || bytes <= CHOSEN.bytes)))) break;
      if (limit === CHOSEN || view[longest].stop <= 1) {
        throw new Error(`this lies in ${planned.total} chunks of ${Math.ceil(bytes / 2 ** 20)} MiB or more, and one look reads at most ${limit.chunks}, of ${limit.bytes >> 20} MiB: ${isOne ? "read them by the command zarr-kit read" : "choose fewer elements"}`);
      }
      view[longest].stop = Math.ceil(view[longest].stop / 2);
    }
    store.forget?.();
    const faults = [];
    let read;
    try {
      read = await get(opened, view, options);
    } catch (error) {
      options.signal.throwIfAborted();
      read = await inParts(opened, view, planned.chunks, options, faults);
      if (!read) throw error;
    }
    const kinds = new Uint8Array(read.shape.reduce((all, one) => all * one, 1));
    const values = numbers(read.data, opened.dtype, kinds.length);
    const fill = values && (array.fill ??= await fillOf(path, array.about, options));
    const isFill = (at) => fill.length > 0 && fill.every((part, of) => part === read.data[at * fill.length + of]);
    values?.forEach((value, at) => (kinds[at] = Number.isNaN(value) ? NOTHING : isFill(at) ? FILL : value === Infinity ? ABOVE : value === -Infinity ? BELOW : VALUE));
    const missing = planned.chunks.filter(({ key }) => isMissing(key));
    for (const { region } of missing) mark(kinds, MISSING, inView(view, region));
    for (const { region } of faults) mark(kinds, DAMAGED, inView(view, region));
    const texts = corner({ ...read, values, kinds }, opened.dtype);
    return {
      view, shape: read.shape, dtype: opened.dtype, data: values && read.data, values, kinds, texts, chunks: planned.total, missing: missing.length,
      edges: planned.chunks.map(({ region }) => inView(view, region)),
      states: planned.chunks.map((chunk) => (faults.some(({ region }) => region === chunk.region) ? DAMAGED : missing.includes(chunk) ? MISSING : VALUE)),
      faults: faults.slice(0, 10).map(({ error }) => error.message), damaged: faults.length,
    };
  },
};

/** The last two axes that have more than one element. */
function firstView(shape) {
  const long = shape.flatMap((size, axis) => (size > 1 ? [axis] : []));
  const shown = new Set((long.length ? long : shape.map((_, axis) => axis)).slice(-2));
  return shape.map((size, axis) => (shown.has(axis) ? { start: 0, stop: Math.min(size, Number.MAX_SAFE_INTEGER) } : 0));
}

const volume = (region) => region.reduce((size, [start, stop]) => size * (stop - start), 1);

/** The number of elements of the inner chunks of shards in which a view lies. */
const ofInner = (view, shape, inner) => volume(view.map((axis, at) => {
  const [start, stop] = typeof axis === "object" ? [axis.start, axis.stop] : [axis, axis + 1];
  return [Math.floor(start / inner[at]) * inner[at], Math.min(Math.ceil(stop / inner[at]) * inner[at], shape[at])];
}));

/** The axes that are shown, each a slice with the number of its elements. */
const shownAxes = (view) => view.flatMap((axis, at) =>
  (typeof axis === "object" ? [{ ...axis, at, count: Math.ceil((axis.stop - axis.start) / axis.step) }] : []));

/** Where a region of the array is in what is shown, on each axis that is shown. */
function inView(view, region) {
  return shownAxes(view).map(({ at, start, step, count }) => {
    const [from, to] = region[at].map((end) => Math.min(Math.max(Math.ceil((end - start) / step), 0), count));
    return { from, to, count };
  });
}

function mark(kinds, kind, [rows = { from: 0, to: 1 }, columns = { from: 0, to: 1, count: 1 }]) {
  for (let row = rows.from; row < rows.to; row++) kinds.fill(kind, row * columns.count + columns.from, row * columns.count + columns.to);
}

/** What can be read of a selection with damaged chunks: each chunk alone. Nothing if none can be read. */
async function inParts(array, view, planned, options, faults) {
  let all;
  const shape = shownAxes(view).map(({ count }) => count);
  await eachOf(planned, 4, async ({ region }) => {
    const ends = inView(view, region);
    const part = [...view];
    shownAxes(view).forEach(({ at, start, stop, step }, axis) => {
      part[at] = { start: start + ends[axis].from * step, stop: Math.min(start + ends[axis].to * step, stop), step };
    });
    try {
      const { data } = await get(array, part, options);
      const [rows = { from: 0, to: 1 }, columns = { from: 0, to: 1, count: 1 }] = ends;
      const each = data.length / ((rows.to - rows.from) * (columns.to - columns.from));
      const width = (columns.to - columns.from) * each;
      all ??= new data.constructor(shape.reduce((product, size) => product * size, each));
      for (let row = rows.from; row < rows.to; row++) {
        const to = (row * columns.count + columns.from) * each;
        for (let at = 0; at < width; at++) all[to + at] = data[(row - rows.from) * width + at];
      }
    } catch (error) {
      options.signal.throwIfAborted();
      faults.push({ region, error });
      // A server that is gone is not asked for each chunk. An error of a store is the cause of another.
      if (!all && faults.filter((one) => one.error.cause).length > 8) throw error;
    }
  });
  return all && { data: all, shape };
}

/** Elements as numbers; nothing for those that are not numbers. NaN and NaT are NaN; a complex number is its size. */
function numbers(data, dtype, count) {
  if (dtype === "bfloat16") return Float64Array.from(data, (bits) => new Float32Array(Uint32Array.of(bits << 16).buffer)[0]);
  if (dtype === "float16" && data instanceof Uint16Array) return Float64Array.from(data, half);
  if (/^complex(64|128)$/.test(dtype)) return Float64Array.from({ length: count }, (_, at) => Math.hypot(data[2 * at], data[2 * at + 1]));
  if (/^numpy\./.test(dtype)) return Float64Array.from(data, (time) => (time === -(2n ** 63n) ? NaN : Number(time)));
  if (/^(bool|u?int\d+|float\d+)$/.test(dtype) && data.length === count) return Float64Array.from(data, Number);
  return undefined;
}

function half(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? 2 ** (exponent - 15) * (1 + fraction / 1024) : 2 ** -24 * fraction);
}

/** The fill value as the data type stores it: an element of the array without its chunks. Nothing if it is not shown apart. */
async function fillOf(path, { fill_value: fill, shape, data_type: type }, options) {
  if (fill === null || typeof fill === "boolean" || (fill === 0 && /int/.test(type))) return [];
  const documents = { get: (key, given) => (isDocument(key) ? store.get(key, given) : undefined) };
  return Array.from((await get(await open(documents, { ...options, path }), shape.map(() => 0), options)).data);
}

/** The first elements as text, row by row. */
function corner(read, dtype) {
  const { shape } = read;
  const [rows, columns] = shape.length === 2 ? shape : [shape[0] ?? 1, 1];
  return Array.from({ length: Math.min(rows, 12) }, (_, row) =>
    Array.from({ length: Math.min(columns, 12) }, (_, column) => textOf(read, dtype, row * columns + column).slice(0, 200)));
}

/** Works on all, some at once, until one fails. */
async function eachOf(all, atOnce, work) {
  let next = 0;
  const worker = async () => {
    while (next < all.length) await work(all[next++]).catch((error) => ((next = Infinity), Promise.reject(error)));
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

const running = new Map();
addEventListener("message", async ({ data: { id, abort, task, ...given } }) => {
  if (abort !== undefined) return running.get(abort)?.abort();
  const controller = new AbortController();
  const options = { signal: controller.signal };
  running.set(id, controller);
  try {
    postMessage({ id, result: await tasks[task](given, options) });
  } catch (error) {
    postMessage({ id, fault: String(error?.message ?? error), view: options.view });
  } finally {
    running.delete(id);
  }
});
postMessage({ ready: true });
