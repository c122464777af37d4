// The page in headless Chromium: node page.mjs CHROMIUM PAGE FIXTURES ARCHIVES, where ARCHIVES has a folder of each
// archive's stores. With SHOTS=FOLDER it writes pictures of the page.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

import { chromium } from "playwright-core";
import { get, open } from "zarr-kit";

import { Folder } from "./folder.mjs";
import { serve } from "./servers.mjs";

const [executablePath, folder, fixtures, archives] = process.argv.slice(2).map((path) => resolve(path));
const tests = dirname(fileURLToPath(import.meta.url));
const text = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));

// Three servers: of the page, of stores, and of what nobody may ask.
const site = await serve({ folders: { "": folder, tests }, objects: new Map([["/", await readFile(join(folder, "index.html"))], ["/tests/empty.html", text("<!doctype html>")]]) });
const elsewhere = await serve({ isForeign: true });
const objects = new Map();
const hold = { until: undefined };
const data = await serve({
  folders: { weather: join(fixtures, "seattle-weather.zarr"), suite: archives }, objects, isForeign: true,
  answer: async ({ path, method }, response, headers) => {
    if (path.startsWith("/gone/c/")) return response.writeHead(503, headers).end();
    if (path.startsWith("/broken/")) return response.writeHead(500, headers).end("no");
    if (path.startsWith("/denied/") && !objects.has(path)) return response.writeHead(403, headers).end();
    if (path.startsWith("/html/")) return response.writeHead(200, headers).end("<!doctype html><p>hello");
    if (path.startsWith("/moved/")) return response.writeHead(302, { ...headers, location: `${elsewhere.url}/x` }).end();
    if (method === "GET" && path.startsWith("/slow/c/") && hold.until) await hold.until;
    return false;
  },
});

const profile = await mkdtemp(join(tmpdir(), "zarr-page-"));
const flags = "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync";
const context = await chromium.launchPersistentContext(profile, { executablePath, args: flags.split(" "), viewport: { width: 1200, height: 1000 } });
const requests = [];
context.on("request", (request) => requests.push(request.url()));
const page = await context.newPage();
const errors = [];
page.on("pageerror", (error) => errors.push(`${error.stack}`));
page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
page.on("dialog", (dialog) => errors.push(`a dialog: ${dialog.message()}`));

const settled = () => page.waitForFunction(() => {
  const by = (id) => document.getElementById(id);
  return !by("status").textContent && !document.querySelector("[aria-busy]") && (!by("node").hidden || by("fault").textContent);
}, undefined, { timeout: 120_000 });
const visit = async (store, path) => {
  await page.goto("about:blank");
  await page.goto(`${site.url}/#${new URLSearchParams({ store, ...(path === undefined ? {} : { path }) })}`);
  await settled();
};
const textOf = (selector) => page.evaluate((one) => Array.from(document.querySelectorAll(one), (found) => found.textContent).join("\n"), selector);
const cells = () => page.evaluate(() => Array.from(document.querySelectorAll("#values tr"), (row) => Array.from(row.cells, (cell) => cell.textContent)));
const shot = async (name) => process.env.SHOTS && page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true });
let passed = 0;
const test = async (name, work) => {
  try {
    await work();
    assert.deepEqual(errors.splice(0).filter((error) => !/Failed to load resource/.test(error)), []);
    passed += 1;
  } catch (error) {
    await shot("failed");
    console.log(await page.evaluate(() => document.body.innerText));
    throw new Error(`${name}: ${error.message}`, { cause: error });
  }
};
const array = (shape, chunk, more) => text({
  zarr_format: 3, node_type: "array", shape, data_type: "int16", fill_value: -1, chunk_key_encoding: { name: "default" },
  chunk_grid: { name: "regular", configuration: { chunk_shape: chunk } }, codecs: [{ name: "bytes", configuration: { endian: "little" } }], ...more,
});
const numbers = (count, from = 0) => Buffer.from(Int16Array.from({ length: count }, (_, at) => from + at).buffer);

await test("missing chunks of a line", async () => {
  await visit(`${data.url}/weather#part`, "rain");
  assert.match(await textOf("#values"), /62 in a chunk that is not stored[\s\S]*48 chunks, 2 not stored/);
  assert.match(await textOf("#values code"), /^zarr-kit read http:\S+\/weather\/rain --region 0:1461$/);
  assert.match(await textOf("#about"), /rectilinear[\s\S]*31, 29, 31/);
  assert.match(await textOf("#grid"), /46 of 48 chunks are stored/);
  assert.equal(await textOf("#tree [aria-current=true]"), "rain typed");
  assert.equal(await page.evaluate(() => document.querySelector("#grid img").naturalWidth > 300), true);
  await shot("line");
});

await test("a plane, by pointer and by keys", async () => {
  await visit(`${data.url}/weather`, "daily");
  assert.match(await textOf("#values"), /time downwards, variable to the right[\s\S]*-7.1 to 46.7[\s\S]*one of every 2 elements of time/);
  await page.focus("#values canvas");
  for (const key of ["ArrowDown", "ArrowRight", "ArrowRight", "ArrowUp", "ArrowDown"]) await page.keyboard.press(key);
  const store = new Folder(join(fixtures, "seattle-weather.zarr"));
  const one = await get(await open(store, { path: "daily" }), [2, 2]);
  assert.equal(await textOf("#values output"), `time 2, variable 2, value ${Number(one.data[0].toPrecision(3))}`);
  await page.hover("#values canvas", { position: { x: 1, y: 1 } });
  assert.match(await textOf("#values output"), /^time \d, variable 0, value /);
  await page.locator("[name=role-1]").selectOption("at");
  await settled();
  assert.match(await textOf("#values"), /a line along time/);
  await shot("plane");
});

await test("a choice of four axes reads its chunks alone", async () => {
  objects.set("/four/zarr.json", array([4, 3, 6, 5], [1, 1, 3, 5], { dimension_names: ["time", null, "y", "x"] }));
  for (let at = 0; at < 24; at++) objects.set(`/four/c/${Math.floor(at / 6)}/${Math.floor(at / 2) % 3}/${at % 2}/0`, numbers(15, at * 15));
  await visit(`${data.url}/four`);
  assert.deepEqual((await cells())[0], ["0", "1", "2", "3", "4"]);
  data.asked.length = 0;
  await page.fill("[name=at-0]", "2");
  await page.fill("[name=at-1]", "1");
  await page.fill("[name=from-2]", "3");
  await page.keyboard.press("Enter");
  await settled();
  assert.equal(await page.evaluate(() => document.activeElement.name), "from-2");
  assert.deepEqual(data.asked.map(({ path, method }) => [method, path]), [["GET", "/four/c/2/1/1/0"]]);
  assert.deepEqual(await cells(), [0, 1, 2].map((row) => [0, 1, 2, 3, 4].map((column) => String(225 + row * 5 + column))));
  assert.match(await textOf("#values code"), /four --region 2,1,3:6,0:5$/);
  // Another pair of axes.
  await page.locator("[name=role-0]").selectOption("shown");
  await settled();
  assert.match(await textOf("#values"), /time downwards, x to the right/);
  await page.fill("[name=to-0]", "9");
  assert.equal(await page.evaluate(() => document.getElementById("axes").checkValidity()), false);
});

await test("a damaged chunk", async () => {
  objects.set("/damaged/zarr.json", array([6, 4], [2, 4]));
  objects.set("/damaged/c/0/0", numbers(8));
  objects.set("/damaged/c/1/0", numbers(3));
  await visit(`${data.url}/damaged`);
  assert.match(await textOf("#values"), /a chunk cannot be read:[\s\S]*c\/1\/0[\s\S]*8 in a chunk that is not stored[\s\S]*8 in a chunk that cannot be read/);
  assert.deepEqual((await cells()).slice(1, 3), [["4", "5", "6", "7"], Array(4).fill("cannot be read")]);
  await page.focus("#values canvas");
  for (const [text, count] of [["axis 0 2, axis 1 0, cannot be read", 2], ["axis 0 4, axis 1 0, value -1 (the fill value: the chunk is not stored)", 2]]) {
    for (let at = 0; at < count; at++) await page.keyboard.press("ArrowDown");
    assert.equal(await textOf("#values output"), text);
  }
  await shot("damaged");
  // Damage is no fault of the server, which is asked on.
  objects.set("/bad/zarr.json", array([40, 4], [1, 4]));
  for (let at = 0; at < 40; at++) objects.set(`/bad/c/${at}/0`, numbers(at < 30 ? 1 : 4));
  await visit(`${data.url}/bad`);
  assert.match(await textOf("#values"), /30 chunks cannot be read:[\s\S]*120 in a chunk that cannot be read/);
  objects.set("/damaged/c/0/0", numbers(3)) && objects.set("/damaged/c/2/0", numbers(3));
  await visit(`${data.url}/damaged`);
  assert.match(await textOf("#values .fault"), /c\/0\/0|c\/1\/0|c\/2\/0/);
  assert.match(await textOf("#about"), /shape/);
});

await test("values and fill values as the data type stores them", async () => {
  const show = async (name, data_type, fill_value, elements, shape = [elements.length / (/complex/.test(data_type) ? 2 : 1)]) => {
    // A number of 64 bits is not one of JSON.stringify.
    objects.set(`/${name}/zarr.json`, text(String(array(shape, shape, { data_type, fill_value: "FILL" })).replace('"FILL"', fill_value)));
    objects.set(`/${name}/c/${shape.map(() => 0).join("/")}`, Buffer.from(elements.buffer));
    await visit(`${data.url}/${name}`);
    await page.focus("#values canvas");
    for (const key of ["ArrowRight", "ArrowLeft"]) await page.keyboard.press(key);
    return textOf("#values .legend");
  };
  assert.match(await show("float32", "float32", "0.1", Float32Array.of(0.1, 0.2)), /^all 0.21 the fill value$/);
  assert.match(await show("float16", "float16", "0.1", Uint16Array.of(0x2e66, 0x2e67)), /1 the fill value$/);
  assert.match(await show("bfloat16", "bfloat16", "0.1", Uint16Array.of(0x3dcd, 0x3dce)), /1 the fill value$/);
  assert.match(await show("complex", "complex64", "[0.1, 2]", Float32Array.of(0.1, 2, 2, 0.1)), /1 the fill value$/);
  assert.equal(await textOf("#values output"), `axis 0 0, value ${Math.fround(0.1)} + 2i (the fill value)`);
  assert.match(await show("int64", "int64", "9007199254740993", BigInt64Array.of(9007199254740993n, 9007199254740992n)), /1 the fill value$/);
  assert.equal(await textOf("#values output"), "axis 0 0, value 9007199254740993 (the fill value)");
  assert.match(await show("zero", "int64", "0", BigInt64Array.of(0n, 0n)), /^all 0$/);
  const ends = Float64Array.of(-1.7e308, 1.7e308, Infinity, -Infinity);
  assert.equal(await show("ends", "float64", "0", ends, [2, 2]), "-1.7e+308 to 1.7e+3081 Infinity1 -Infinity");
  const colors = await page.evaluate(() => {
    const canvas = document.querySelector("#values canvas");
    return [[1, 1], [3, 1], [1, 3], [3, 3]].map(([x, y]) => canvas.getContext("2d").getImageData(x * canvas.width / 4, y * canvas.height / 4, 1, 1).data.join());
  });
  assert.equal(colors[0], "68,1,84,255");
  assert.equal(colors[1], "253,231,37,255");
  assert.equal(new Set(colors).size, 4);
  assert.match(await show("line-ends", "float64", "0", ends), /^from -1.7e\+308 at the bottom to 1.7e\+308 at the top1 Infinity1 -Infinity$/);
});

await test("hostile names, attributes and documents", async () => {
  const evil = "<img src=x onerror=window.hacked=1>";
  const script = "</pre><script>window.hacked=1</script>";
  const node = JSON.parse(array([3], [3], { dimension_names: [evil], attributes: { [evil]: script, note: `${script}\u202e\u0007` } }));
  const names = [evil, "a b?c#d%2e", "'; touch x; '", "-r", "\u202egpj.exe\u0007", "https:/127.0.0.1/x", `https:/${elsewhere.url.slice(7)}/x`,
    "../../x", "a/../../x", `//${elsewhere.url.slice(7)}/x`, "javascript:alert(1)"];
  const metadata = Object.fromEntries(names.map((name) => [name, node]));
  objects.set("/hostile/zarr.json", text({ zarr_format: 3, node_type: "group", attributes: { [evil]: evil }, consolidated_metadata: { kind: "inline", must_understand: false, metadata } }));
  for (const name of names) {
    objects.set(`/hostile/${name}/zarr.json`, text(node));
    objects.set(`/hostile/${name}/c/0`, numbers(3));
  }
  await visit(`${data.url}/hostile`, "");
  const listed = await page.evaluate(() => Array.from(document.querySelectorAll("#tree button"), (one) => one.dataset.path));
  assert.deepEqual(new Set(listed), new Set(["", ...names]));
  assert.match(await textOf("#check"), /^Check0 errors, 3 warnings(?!.*there is no such node)/s);
  for (const name of names) {
    await page.evaluate((name) => [...document.querySelectorAll("#tree button")].find((one) => one.dataset.path === name).click(), name);
    await settled();
    const mayBeRead = !/(^|\/)\.{0,2}(\/|$)/.test(name) && !name.startsWith("//");
    if (mayBeRead) assert.deepEqual(await cells(), [["0"], ["1"], ["2"]], name);
    else assert.match(await textOf("#about .fault"), /segment|no array or group here/, name);
    const command = await textOf("#values code");
    if (mayBeRead) assert.doesNotMatch(command, /[ <>;'#?%](?=.*--region).*[<>;]/, command);
    await shot(`hostile-${names.indexOf(name)}`);
  }
  assert.doesNotMatch(await textOf("body"), /[\u0007\u202e]/);
  assert.equal(await page.evaluate(() => [window.hacked, document.querySelectorAll("img[src=x], pre script").length].join()), ",0");
  // The same names in a picture, which is an image and runs nothing.
  assert.match(await page.evaluate(() => document.querySelector("#grid img")?.src ?? "blob:"), /^blob:/);
  // What the browser enforces, had the page a fault.
  await assert.rejects(page.evaluate(() => (document.getElementById("tree").innerHTML = "<b>x</b>")), /TrustedHTML/);
  const [worker] = page.workers();
  for (const target of [`${elsewhere.url}/x`, `${elsewhere.url}/x?${Math.random()}`]) {
    assert.match(await worker.evaluate((url) => fetch(url).then(() => "sent", (error) => error.name), target), /TypeError/);
    assert.match(await page.evaluate((url) => fetch(url).then(() => "sent", (error) => error.name), target), /TypeError/);
  }
  errors.splice(0, errors.length, ...errors.filter((error) => !/Content Security Policy|TrustedHTML|Fetch API cannot load/.test(error)));
});

await test("servers that fail, lie or send elsewhere", async () => {
  objects.set("/gone/zarr.json", array([200, 4], [1, 4]));
  data.asked.length = 0;
  await visit(`${data.url}/gone`);
  assert.match(await textOf("#values .fault"), /gone\/c\/\d+\/0|c\/\d+\/0/);
  assert.match(await textOf("#grid .fault"), /503/);
  assert.ok(data.asked.filter(({ path }) => path.startsWith("/gone/c/")).length < 80, "the server is asked on");
  for (const [path, message] of [["broken", /500/], ["html", /html\/zarr\.json|zarr\.json/], ["moved", /sends elsewhere/], ["nothing", /no array or group|not found|no node/]]) {
    await visit(`${data.url}/${path}`);
    assert.match(await textOf("#fault, .fault"), message, path);
  }
  // A server that denies what is absent: documents of the other version, and no chunks.
  objects.set("/denied/new/zarr.json", array([2, 4], [1, 4]));
  objects.set("/denied/new/c/0/0", numbers(4));
  objects.set("/denied/old/.zarray", text({ zarr_format: 2, shape: [4], chunks: [4], dtype: "<i2", compressor: null, fill_value: 0, order: "C", filters: null }));
  objects.set("/denied/old/0", numbers(4));
  for (const [name, fault, row] of [["new", /a chunk cannot be read:[^]*403/, ["0", "1", "2", "3"]], ["old", /^\s*$/, ["0"]]]) {
    await visit(`${data.url}/denied/${name}`);
    assert.match(await textOf("#values .fault, #about .fault, #fault"), fault, name);
    assert.deepEqual((await cells())[0], row);
  }
  await visit(`${data.url}/denied/none`);
  assert.match(await textOf("#fault"), /403/);
  await shot("fault");
  await visit("ftp://example.com/x");
  assert.match(await textOf("#fault"), /https: or http:/);
  await visit("http://name:word@127.0.0.1/x");
  assert.match(await textOf("#fault"), /name and a password/);
  for (const host of ["*", "127.0.0.1;x", "a,connect-src"]) {
    await visit(`http://${host}/x`);
    assert.match(await textOf("#fault"), /not the name of a server|Invalid URL/, host);
  }
  // By the form, as people do; the address of the store is not sent to the page's server.
  site.asked.length = 0;
  await page.fill("#url", `${data.url}/weather?token=a`);
  await page.click("#open button");
  await page.waitForFunction(() => document.getElementById("place").textContent);
  await settled();
  await page.fill("#path", "/wind/");
  await page.click("#go button");
  await settled();
  assert.match(await textOf("#values code"), /^zarr-kit read 'http:\S+\/weather\/wind\?token=a' --region 0:1461$/);
  assert.ok(site.asked.length > 0 && site.asked.every(({ url }) => !url.includes("token")));
});

await test("a server without ranges, and version 2", async () => {
  objects.set("/old/.zgroup", text({ zarr_format: 2 }));
  const zarray = { zarr_format: 2, shape: [4, 3], chunks: [2, 3], dtype: "<i2", compressor: null, fill_value: 0, order: "C", filters: null };
  objects.set("/old/.zmetadata", text({ zarr_consolidated_format: 1, metadata: { ".zgroup": { zarr_format: 2 }, "a/.zarray": zarray } }));
  objects.set("/old/a/.zarray", text(zarray));
  objects.set("/old/a/0.0", numbers(6));
  const plain = await serve({ objects, isForeign: true, ranges: false });
  await visit(`${plain.url}/old`);
  assert.equal(await textOf("#name"), "/a");
  assert.deepEqual(await cells(), [["0", "1", "2"], ["3", "4", "5"], ["0", "0", "0"], ["0", "0", "0"]]);
  assert.match(await textOf("#grid"), /1 of 2 chunks are stored/);
  plain.close();
});

await test("shards of a gigabyte, and an axis longer than numbers", async () => {
  const inner = { chunk_shape: [1, 1024], codecs: [{ name: "bytes", configuration: { endian: "little" } }], index_codecs: [{ name: "bytes", configuration: { endian: "little" } }] };
  const index = Buffer.alloc(16 * 64 * 1024, 255);
  objects.set("/shards/zarr.json", array([1024, 65536], [1024, 65536], { codecs: [{ name: "sharding_indexed", configuration: { ...inner, chunk_shape: [16, 1024] } }] }));
  objects.set("/shards/c/0/0", Buffer.concat([numbers(16 * 1024), Buffer.from(new BigUint64Array([0n, 32768n]).buffer), index.subarray(0, 16 * (64 * 64 - 1))]));
  await visit(`${data.url}/shards`);
  assert.equal(await textOf(".fault"), "");
  assert.match(await textOf("#values"), /1 chunk, 0 not stored/);
  assert.equal(await page.inputValue("[name=to-1]"), "32768", "the first look is cut to 64 MiB");
  assert.deepEqual((await cells())[0].slice(0, 1), ["0"]);
  objects.set("/long/zarr.json", array([2 ** 60], [1]));
  await visit(`${data.url}/long`);
  assert.equal(await textOf("#values .fault"), "");
  assert.match(await textOf("#values"), /256 chunks|128 chunks/);
  await page.locator("[name=role-0]").selectOption("at");
  await settled();
  await page.locator("[name=role-0]").selectOption("shown");
  await settled();
  assert.equal(await page.inputValue("[name=to-0]"), String(Number.MAX_SAFE_INTEGER));
  // An inner chunk of more than the first look reads, and of more than any.
  for (const [edge, message] of [[8192, /^$/], [24576, /of 1152 MiB or more, .*: read them by the command zarr-kit read/]]) {
    objects.set("/inner/zarr.json", array([edge, edge], [edge, edge], { codecs: [{ name: "sharding_indexed", configuration: { ...inner, chunk_shape: [edge, edge] } }] }));
    objects.set("/inner/c/0/0", index.subarray(0, 16));
    await visit(`${data.url}/inner`);
    assert.match(await textOf("#values .fault"), message);
  }
  objects.set("/empty/zarr.json", array([0, 5], [1, 5]));
  await visit(`${data.url}/empty`);
  for (const press of [undefined, () => page.click("#axes button"), () => page.locator("[name=role-0]").selectOption("shown")]) {
    await press?.();
    await settled();
    assert.equal(await textOf("#values .out"), "There are no elements.");
  }
});

await test("large grids are not read whole, and are asked for only by a button", async () => {
  objects.set("/large/zarr.json", array([40000, 25000], [1000, 1000]));
  data.asked.length = 0;
  await visit(`${data.url}/large`);
  const chunks = data.asked.filter(({ path }) => path.includes("/c/"));
  assert.ok(chunks.length > 0 && chunks.length <= 64, `${chunks.length} chunks`);
  assert.match(await textOf("#grid"), /1,000 chunks, and the server does not list them/);
  await page.click("#grid button");
  await settled();
  assert.match(await textOf("#grid"), /0 of 1,000 chunks are stored/);
  await page.fill("[name=to-0]", "40000");
  await page.fill("[name=to-1]", "25000");
  data.asked.length = 0;
  await page.click("#axes button");
  await settled();
  assert.match(await textOf("#values .fault"), /1000 chunks of 1908 MiB or more, and one look reads at most 4096, of 1024 MiB/);
  assert.deepEqual(data.asked, []);
  // The form is still there.
  await page.fill("[name=to-0]", "10");
  await page.click("#axes button");
  await settled();
  assert.match(await textOf("#values"), /25 chunks, 25 not stored/);
});

await test("another choice ends the read before it", async () => {
  objects.set("/slow/zarr.json", array([40, 10], [1, 10]));
  let go;
  hold.until = new Promise((done) => (go = done));
  await page.goto("about:blank");
  await page.goto(`${site.url}/#store=${encodeURIComponent(`${data.url}/slow`)}`);
  await page.waitForFunction(() => document.querySelector("#values [name=to-0], #values[aria-busy]"));
  await page.waitForTimeout(1500);
  const held = data.asked.filter(({ path, method }) => method === "GET" && path.startsWith("/slow/c/"));
  assert.ok(held.length > 0);
  await page.evaluate(() => document.querySelector("#tree button").click());
  await page.waitForTimeout(300);
  assert.ok(held.every(({ isClosed }) => isClosed), "requests go on");
  go();
  hold.until = undefined;
  await settled();
  assert.match(await textOf("#values"), /40 not stored/);
});

await test("zip files and folders, chosen and dropped", async () => {
  const raw = await readFile(join(fixtures, "zip/plain.raw"));
  const expected = Array.from(new Int32Array(raw.buffer.slice(raw.byteOffset, raw.byteOffset + 40)), String);
  const isZip = async (name) => {
    await settled();
    assert.equal(await textOf("#place"), name);
    await page.click('#tree button[data-path="plain"]');
    await settled();
    assert.deepEqual((await cells())[0], expected);
    assert.match(await textOf("#values code"), new RegExp(`^zarr-kit read ${name}/plain`));
    await page.click('#tree button[data-path="inner/sharded"]');
    await settled();
    assert.equal(await textOf("#values .fault"), "");
    assert.match(await textOf("#check"), /0 errors/);
  };
  await page.goto(site.url);
  const drop = async (path) => {
    const session = await context.newCDPSession(page);
    const drag = { items: [], files: [path], dragOperationsMask: 1 };
    for (const type of ["dragEnter", "dragOver", "drop"]) await session.send("Input.dispatchDragEvent", { type, x: 300, y: 300, data: drag });
    await page.waitForFunction(() => document.getElementById("status").textContent);
  };
  for (const name of ["stored.zip", "deflated.zip"]) {
    await page.setInputFiles("#zip", join(fixtures, "zip", name));
    await isZip(name);
    await drop(join(fixtures, "zip", name));
    await isZip(name);
  }
  const weather = join(fixtures, "seattle-weather.zarr");
  for (const bring of [() => page.setInputFiles("#folder", weather), () => drop(weather)]) {
    await bring();
    await settled();
    assert.equal(await textOf("#place"), "seattle-weather.zarr");
    await page.click('#tree button[data-path="rain"]');
    await settled();
    assert.match(await textOf("#values"), /48 chunks, 2 not stored/);
    assert.match(await textOf("#grid"), /46 of 48/);
  }
  await shot("folder");
  // What ends late gives way to a newer choice, the same files may be chosen again, and of several things a folder counts.
  const dropped = (names) => page.evaluate((all) => {
    const entry = (name) => ({ name, isDirectory: name.endsWith(".zarr"), createReader: () => ({ readEntries: (done) => (globalThis.finish = () => done([])) }) });
    const dataTransfer = { items: all.map((name) => ({ webkitGetAsEntry: () => entry(name) })), files: all.map((name) => new File(["x"], name)) };
    dispatchEvent(Object.assign(new Event("drop"), { dataTransfer }));
  }, names);
  await dropped(["zarr.json", "c"]);
  assert.equal(await textOf("#fault"), "drop the folder that has zarr.json, not the files in it");
  for (let at = 0; at < 2; at++) {
    await dropped(["notes.txt", "late.zarr"]);
    assert.match(await textOf("#status"), /Reading the names/);
    await page.setInputFiles("#zip", join(fixtures, "zip/stored.zip"));
    await isZip("stored.zip");
    await page.evaluate(() => globalThis.finish());
    assert.equal(await textOf("#place"), "stored.zip");
  }
  await dropped(["notes.txt", "late.zarr"]);
  await page.evaluate(() => globalThis.finish());
  await settled();
  assert.match(await textOf("#fault"), /no Zarr array or group here/);
  await page.setInputFiles("#zip", join(fixtures, "seattle-weather.csv"));
  await page.waitForFunction(() => document.getElementById("fault").textContent);
  assert.match(await textOf("#fault"), /zip/i);
  assert.deepEqual(requests.filter((url) => /seattle-weather\.zarr|\.zip/.test(url)), [], "files are not requested");
});

/** A zip file of objects that are not compressed. */
function zipped(files) {
  const [heads, directory] = [[], []];
  let at = 0;
  for (const [name, bytes] of files) {
    const [head, entry] = [Buffer.alloc(30), Buffer.alloc(46)];
    head.writeUInt32LE(0x04034b50, 0);
    entry.writeUInt32LE(0x02014b50, 0);
    for (const [record, sizes, length] of [[head, 18, 26], [entry, 20, 28]]) {
      record.writeUInt32LE(bytes.length, sizes);
      record.writeUInt32LE(bytes.length, sizes + 4);
      record.writeUInt16LE(Buffer.byteLength(name), length);
    }
    entry.writeUInt32LE(at, 42);
    heads.push(head, Buffer.from(name), bytes);
    directory.push(entry, Buffer.from(name));
    at += 30 + Buffer.byteLength(name) + bytes.length;
  }
  const [end, all] = [Buffer.alloc(22), Buffer.concat(directory)];
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(all.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...heads, all, end]);
}

await test("a zip file with hostile names, and an object that is too short", async () => {
  const files = [["a/zarr.json", array([4, 2], [4, 2])], ["a/c/0/0", numbers(5)], ["a/next", numbers(50, 7)], ["../x/zarr.json", array([1], [1])],
    ["<b>/zarr.json", array([1], [1])], ["<b>/c/0", numbers(1, 5)], ["__proto__/zarr.json", array([1], [1])], ["/top/zarr.json", array([1], [1])], ["e\u202e%'!\n/zarr.json", array([1], [1])]];
  await page.goto(site.url);
  await page.setInputFiles("#zip", { name: "-x'y.zip", mimeType: "application/zip", buffer: zipped(files) });
  await page.waitForFunction(() => document.getElementById("place").textContent);
  await settled();
  assert.match(await textOf("#tree-note"), /^2 names are not keys/);
  assert.equal(await textOf("#name"), "/<b>");
  assert.deepEqual(await cells(), [["5"]]);
  assert.equal(await textOf("#values code"), "zarr-kit read './-x'\\''y.zip/<b>' --region 0:1");
  await page.click("#tree li:last-child button");
  await settled();
  const [, quoted] = /^zarr-kit read (.*) --region 0:1$/.exec(await textOf("#values code"));
  assert.equal(execFileSync("sh", ["-c", `printf %s ${quoted}`]).toString(), "./-x'y.zip/e\u202e%'!\n/");
  await page.click('#tree button[data-path="a"]');
  await settled();
  // A part of the chunk, which a store reads by a range.
  assert.match(await textOf("#values .fault"), /c\/0\/0/);
  await page.fill("[name=from-0]", "3");
  await page.click("#axes button");
  await settled();
  assert.match(await textOf("#values .fault"), /c\/0\/0/);
  await page.click('#tree button[data-path="__proto__"]');
  await settled();
  assert.match(await textOf("#values"), /1 chunk, 1 not stored/);
});

// One array of each data type, grid and chain of the suite, in a folder of all of an archive, beside what node reads.
await test("each kind of array", async () => {
  const kinds = new Map();
  for (const one of JSON.parse(await readFile(join(fixtures, "conformance/manifest.json"))).cases) {
    if (one.archive === "zjoin" || one.node_type === "group" || one.fails) continue;
    const kind = JSON.stringify([one.data_type, one.chunk_grid, one.codecs.at(-1)]);
    if (!kinds.has(kind)) kinds.set(kind, one);
  }
  let shown = 0, pictures = 0, archive;
  await page.goto(site.url);
  for (const one of [...kinds.values()].sort((one, other) => one.archive.localeCompare(other.archive))) {
    let all;
    try {
      const array = await open(new Folder(join(archives, one.archive, one.path)));
      const axes = one.shape.flatMap((size, axis) => (size > 1 ? [axis] : [])), shownAxes = (axes.length ? axes : one.shape.map((_, axis) => axis)).slice(-2);
      all = await get(array, one.shape.map((_, axis) => (shownAxes.includes(axis) ? null : 0)));
    } catch (error) {
      all = error;
    }
    if (archive !== one.archive) await page.setInputFiles("#folder", join(archives, one.archive));
    archive = one.archive;
    await page.waitForFunction((name) => document.getElementById("place").textContent === name && !document.getElementById("store").hidden, archive);
    await page.evaluate((path) => document.querySelector(`#tree button[data-path="${path}"]`).click(), one.path);
    await settled();
    const fault = await textOf("#fault, #values .fault");
    if (all instanceof Error) {
      if (one.shape.reduce((product, size) => product * size, 1) < 1e9) assert.notEqual(fault, "", one.id);
      continue;
    }
    assert.equal(fault, "", one.id);
    shown += 1;
    if (all.data.length === 0) continue;
    const first = await cells();
    const each = all.data.length / all.shape.reduce((product, size) => product * size, 1);
    if (each === 1 && !/bool|float16/.test(one.data_type)) assert.equal(one.data_type === "float32" ? String(Math.fround(first[0][0])) : first[0][0], String(all.data[0]).replace(/[\p{Cc}\p{Cf}]/gu, (c) => `\\u{${c.codePointAt(0).toString(16)}}`).slice(0, 200), one.id);
    pictures += await page.locator("#values > .out > canvas").count();
  }
  console.log(`${kinds.size} kinds of arrays, ${shown} shown, ${pictures} with pictures`);
  assert.ok(shown >= 150 && pictures >= 80);
});

// The conformance suite by `get`, in Chromium.
await test("the conformance suite", async () => {
  await page.goto(`${site.url}/tests/empty.html`);
  const { cases } = JSON.parse(await readFile(join(fixtures, "conformance/manifest.json")));
  const { faults, ...counts } = await page.evaluate(async ({ cases, url }) => {
    const [{ run }, zarr, { UrlStore }] = await Promise.all(["/tests/suite-core.mjs", "/zarr-kit/index.js", "/stores.js"].map((path) => import(path)));
    const hex = (bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, "0")).join("");
    const sha256 = async (data) => hex(await crypto.subtle.digest("SHA-256", data.slice()));
    return run(zarr, cases, (one) => new UrlStore(`${url}/suite/${one.archive}/${one.path}`), sha256);
  }, { cases, url: data.url });
  assert.deepEqual(faults, []);
  console.log("in Chromium:", JSON.stringify(counts));
});

const allowed = new RegExp(`^(${site.url}|${data.url}|http://127\\.0\\.0\\.1:\\d+/old/|blob:|data:|about:)`);
assert.deepEqual(requests.filter((url) => !allowed.test(url) && !url.startsWith(elsewhere.url)), []);
assert.deepEqual(elsewhere.asked, [], "a request went elsewhere");
await context.close();
for (const server of [site, data, elsewhere]) server.close();
await rm(profile, { recursive: true });
console.log(`page: ${passed} passed, 0 failed`);
process.exit(0);
