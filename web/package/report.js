// Descriptions, checks and pictures of nodes: report.d.ts describes what this module exports.

import { Module, pathOf, selectionText } from "./drive.js";
import init, * as steps from "./zarr_wasm_report.js";

const module = new Module(new URL("./zarr_wasm_report_bg.wasm", import.meta.url), init);

async function report(store, { path, keys, ...options } = {}, step) {
  return module.withAnswers(steps.Fetched, (fetched) => {
    if (keys !== undefined) {
      const all = Array.from(keys, (key) => String(key).replace(/^\//, ""));
      module.call(() => fetched.tell_keys(all));
    }
    return module.drive(fetched, store, options, () => step(fetched, pathOf(path)));
  });
}

export async function info(store, options) {
  return JSON.parse(await report(store, options, steps.info));
}

export async function check(store, options) {
  if (options?.keys === undefined) throw new TypeError("check needs the keys of the store, which cannot be listed");
  return JSON.parse(await report(store, options, steps.check));
}

export async function draw(store, { selection, ...options } = {}) {
  if (options.keys === undefined) throw new TypeError("draw needs the keys of the store, which cannot be listed");
  const rank = Array.isArray(selection) ? selection.length : 0;
  const region = selection == null ? undefined : selectionText(selection, rank);
  return report(store, options, (fetched, path) => steps.draw(fetched, path, region));
}

export async function nodes(store, { most = 10_000, ...options } = {}) {
  return JSON.parse(await report(store, options, (fetched) => steps.nodes(fetched, most)));
}

export async function chunks(store, { selection = "...", most = 10_000, ...options } = {}) {
  const region = selectionText(selection, 0);
  return JSON.parse(await report(store, options, (fetched, path) => steps.chunks(fetched, path, region, most)));
}
