// The declarations of the package, as the compiler of TypeScript reads them beside those of zarrita.js.

import { FetchStore, registry } from "zarrita";
import { get, open } from "zarr-kit";
import { PackBits, Reshape } from "zarr-kit/codecs";
import { check, chunks, draw, info, nodes } from "zarr-kit/report";

registry.set("packbits", () => import("zarr-kit/codecs").then((codecs) => codecs.PackBits));
registry.set("reshape", async () => Reshape);

const store = new FetchStore("https://example.com/weather.zarr");
const array = await open(store, { path: "rain", signal: AbortSignal.timeout(1000) });
const { data, shape } = await get(array, [{ start: 0, stop: 31 }, null, [4, 5], 6n]);
const length: number = data.length + shape.length;

const meta = { dataType: "int8" as const, shape: [2, 3], codecs: [], fillValue: null };
const reshape: Reshape = Reshape.fromConfig({ shape: [-1] }, meta);
const encoded: number[] = reshape.getEncodedMeta(meta).shape;
const packed: Uint8Array = PackBits.fromConfig({}, meta).encode({ data: new Int8Array(6), shape: [2, 3], stride: [3, 1] });
// @ts-expect-error: codecs are made from configurations.
new PackBits({}, meta);
const { shape: lengths } = await info(store, { path: "rain" });
const { findings } = await check(store, { keys: new Set(["zarr.json"]) });
const keys: (string | null)[] = findings.map((finding) => finding.key);
const svg: string = await draw(store, { path: "rain", keys: ["rain/zarr.json"], selection: "::2" });
// @ts-expect-error: a store cannot be listed.
await check(store, { path: "rain" });
const paths: string[] = (await nodes(store)).nodes.map((node) => node.path);
const [{ key, region: [[start]] }] = (await chunks(store, { path: "rain", selection: [{ stop: 31 }], most: 1 })).chunks;
export { key, keys, lengths, paths, start, svg };
export { encoded, length, packed };
