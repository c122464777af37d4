// The examples of a page, run against a server of this machine: node example.mjs PAGE.

import assert from "node:assert/strict";
import { readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";

const page = await readFile(process.argv[2], "utf8");
const [reading, reports, codecs, ...rest] = [...page.matchAll(/^```javascript\n(.*?)^```$/gms)].map((block) => block[1]);
assert.equal(rest.length, 0, "each example of the page is run here");

const json = (value) => Buffer.from(JSON.stringify(value));
const array = (shape, grid, codecs) => json({
  zarr_format: 3, node_type: "array", shape, data_type: "uint16", fill_value: 9,
  chunk_grid: grid, chunk_key_encoding: { name: "default" }, codecs,
});
const months = [31, 29, 1];
const days = (count) => Uint16Array.from({ length: count * 10 }, (_, at) => at);
const objects = new Map([
  ["/weather.zarr/rain/zarr.json", array([61, 2, 5],
    { name: "rectilinear", configuration: { kind: "inline", chunk_shapes: [months, [2], [5]] } },
    [{ name: "bytes", configuration: { endian: "little" } }])],
  ...months.map((count, month) => [`/weather.zarr/rain/c/${month}/0/0`, Buffer.from(days(count).buffer)]),
  // Ten bits each: 1, 2, 1023, with the number of padding bits at the end, as in the codec's text.
  ["/scan.zarr/zarr.json", array([3, 1], { name: "regular", configuration: { chunk_shape: [3, 1] } }, [
    { name: "reshape", configuration: { shape: [[0, 1]] } },
    { name: "packbits", configuration: { last_bit: 9, padding_encoding: "last_byte" } },
  ])],
  ["/scan.zarr/c/0/0", Buffer.of(0x01, 0x08, 0xf0, 0x3f, 2)],
]);
const asked = [];
const server = createServer((request, response) => {
  asked.push(`${request.url} ${request.headers.range ?? ""}`);
  const found = objects.get(request.url);
  const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? "");
  if (!found) response.writeHead(404).end();
  else if (!range) response.writeHead(200).end(found);
  else response.writeHead(206).end(found.subarray(Number(range[1]), Number(range[2]) + 1));
});
await new Promise((done) => server.listen(0, "127.0.0.1", done));

/** Runs an example beside this file, where packages are found by their names. */
async function run(example, names) {
  const file = new URL(`./example-${process.pid}-${asked.length}.mjs`, import.meta.url);
  const local = example.replaceAll("https://example.com", `http://127.0.0.1:${server.address().port}`);
  await writeFile(file, `${local}\nexport { ${names} };\n`);
  try {
    return await import(file);
  } finally {
    await rm(file);
  }
}

try {
  const { data, shape, stride } = await run(reading, "data, shape, stride");
  assert.deepEqual([shape, stride, data.length], [[31, 2], [2, 1], 62]);
  assert.deepEqual(data.slice(0, 3), Uint16Array.of(4, 9, 14));
  assert.deepEqual(asked.filter((url) => url.includes("/c/")).map((url) => url.split(" ")[0]),
    ["/weather.zarr/rain/c/0/0/0"], "one month was selected");
  const { lengths, text, findings, svg } = await run(reports, "lengths, text, findings, svg");
  assert.deepEqual([lengths, /rectilinear/.test(text)], [[61, 2, 5], true]);
  assert.deepEqual(findings.map((finding) => [finding.key, finding.id]), [["rain/note", "stray-object"]]);
  assert.match(svg, /^<svg /);
  const { scan } = await run(codecs, "scan");
  assert.deepEqual([scan.data, scan.shape], [Uint16Array.of(1, 2, 1023), [3, 1]]);
} finally {
  server.close();
}
console.log("examples: 3 passed, 0 failed");
