// Servers of this machine for the tests of the page.

import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

const TYPES = { html: "text/html", js: "text/javascript", mjs: "text/javascript", css: "text/css", wasm: "application/wasm" };

/** Serves folders by the first name of a path, and objects, and remembers what it was asked. */
export async function serve({ folders = {}, objects = new Map(), answer, isForeign = false, ranges = true }) {
  const asked = [];
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(new URL(request.url, "http://localhost").pathname);
    const headers = {
      "content-type": path === "/" ? "text/html" : TYPES[path.split(".").pop()] ?? "application/octet-stream", "cache-control": "no-store",
      ...(isForeign ? { "access-control-allow-origin": "*", "access-control-allow-headers": "*" } : {}),
    };
    if (request.method === "OPTIONS") return response.writeHead(204, headers).end();
    const one = { path, url: request.url, method: request.method, range: request.headers.range, isClosed: false };
    asked.push(one);
    response.on("close", () => (one.isClosed = !response.writableFinished));
    if (await answer?.(one, response, headers)) return;
    let bytes = objects.get(path);
    const [, first, rest] = /^\/([^/]*)\/?(.*)$/s.exec(path) ?? [];
    const folder = folders[first] ?? folders[""];
    if (!bytes && folder) bytes = await readFile(join(folder, folders[first] ? rest : path)).catch(() => undefined);
    if (!bytes) return response.writeHead(404, headers).end();
    const [, start, end] = (ranges && /^bytes=(\d*)-(\d*)$/.exec(one.range ?? "")) || [];
    if (start === undefined) return response.writeHead(200, headers).end(request.method === "HEAD" ? undefined : bytes);
    const part = start ? bytes.subarray(Number(start), Number(end) + 1) : bytes.subarray(Math.max(bytes.length - Number(end), 0));
    response.writeHead(206, headers).end(part);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, asked, objects, close: () => server.close() };
}
