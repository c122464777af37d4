// The page: what is chosen, and what the worker has found. Texts of a store become text and nothing else.

import { draw, legend } from "./picture.js";
import { DAMAGED, FILL, MISSING, NOTHING, textOf } from "./kinds.js";

const $ = (id) => document.getElementById(id);
/** An element with text and others in it. */
function make(name, properties, ...inside) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...inside);
  return element;
}
/** Text in which characters that show nothing, or turn others around, are numbers. */
const shown = (text) => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (one) => (one === "\n" ? one : `\\u{${one.codePointAt(0).toString(16)}}`));

/** What the address of the page says: a store and a path. */
const inAddress = () => new URLSearchParams(location.hash.slice(1));

let worker, place, latest, path, tasks = new Map(), last = 0;

/** Lets this page connect to its own server and to this one, from now on. The worker has the same limits. */
function narrow(origin) {
  const content = `connect-src 'self' ${origin}`;
  document.head.append(make("meta", { httpEquiv: "Content-Security-Policy", content }));
}

const policy = globalThis.trustedTypes?.createPolicy("worker", { createScriptURL: (url) => url }) ?? { createScriptURL: (url) => url };

/** A new worker. Its script is a blob, so that the limits of the page are its own. */
function start() {
  worker?.terminate();
  tasks = new Map();
  const script = new Blob([`import ${JSON.stringify(new URL("worker.js", import.meta.url))};`], { type: "text/javascript" });
  const url = URL.createObjectURL(script);
  const started = (worker = new Worker(policy.createScriptURL(url), { type: "module" }));
  let ready;
  const waiting = new Promise((done) => (ready = done));
  started.addEventListener("message", ({ data: { id, result, fault, view, ready: isReady } }) => {
    if (isReady) return ready();
    const { resolve, reject } = tasks.get(id);
    tasks.delete(id);
    if (fault === undefined) resolve(result);
    else reject(Object.assign(new Error(fault), { view }));
  });
  started.addEventListener("error", () => fail("the reader did not start: is the page whole?"));
  return waiting;
}

/** Asks the worker; `abort` ends what it does. */
function ask(task, given) {
  const id = ++last;
  const asked = new Promise((resolve, reject) => tasks.set(id, { resolve, reject }));
  const to = worker;
  to.postMessage({ id, task, ...given });
  return Object.assign(asked, { abort: () => to.postMessage({ abort: id }) });
}

function fail(text) {
  $("status").textContent = "";
  $("fault").textContent = shown(text);
}

/** Opens a store: { name, and url, files or zip }. */
async function open(chosen) {
  $("fault").textContent = "";
  $("store").hidden = $("node").hidden = true;
  $("status").textContent = "Opening ...";
  place = latest = chosen;
  running.clear();
  await start();
  try {
    const found = await ask("open", { place: chosen });
    if (place !== chosen) return;
    $("status").textContent = "";
    $("place").textContent = shown(chosen.name);
    const paths = new Set(found.nodes.map((node) => node.path));
    $("tree").replaceChildren(...found.nodes.map((node) => item(node, paths)));
    const notes = [];
    if (found.total > found.nodes.length) notes.push(`${found.total - found.nodes.length} more nodes are not listed here: type their paths.`);
    if (!found.listed && found.nodes.length < 2 && found.nodes[0].node_type === "group") notes.push("The server does not list, and the group has no consolidated metadata: type the path of a node.");
    if (found.skipped) notes.push(`${found.skipped} names are not keys, such as those with "..", and are left out.`);
    $("tree-note").textContent = notes.join(" ");
    $("store").hidden = false;
    if (found.nodes.length === 0) return fail("there is no Zarr array or group here: no object is called zarr.json, .zarray or .zgroup");
    const asked = inAddress().get("path");
    show(chosen.url && asked !== null ? asked : (found.nodes.find((node) => node.node_type === "array") ?? found.nodes[0]).path);
  } catch (error) {
    if (place === chosen) fail(error.message);
  }
}

/** A node of the tree, below the nearest node above it. */
function item({ path, node_type, about }, paths = new Set()) {
  const ends = [...path.matchAll(/\//g)].map(({ index }) => index);
  const above = ["", ...ends.map((end) => path.slice(0, end))].filter((other) => path && paths.has(other));
  const name = path.slice(above.at(-1)?.length ?? 0).replace(/^\//, "");
  const button = make("button", { type: "button", onclick: () => show(path) },
    shown(name || "/"), " ", make("small", { className: node_type ? "" : "fault" }, shown(about || "group")));
  button.dataset.path = path;
  button.style.paddingInlineStart = `${above.length * 0.9 + 0.4}rem`;
  return make("li", {}, button);
}

/** Tasks that are running for a section. A new one ends the one before. */
const running = new Map();

/** Shows in a section what a task finds, or its error. */
async function fill(section, task, given, render, failed) {
  running.get(section)?.abort();
  const out = $(section).querySelector(".out");
  $(section).setAttribute("aria-busy", "true");
  out.classList.add("note");
  if (!out.hasChildNodes()) out.replaceChildren("Reading ...");
  const asked = ask(task, given);
  running.set(section, asked);
  let content;
  try {
    content = render(await asked);
  } catch (error) {
    if (running.get(section) === asked) failed?.(error);
    content = [make("p", { className: "fault", role: "alert" }, shown(error.message))];
  }
  if (running.get(section) !== asked) return;
  out.classList.remove("note");
  out.replaceChildren(...content);
  $(section).removeAttribute("aria-busy");
}

/** Shows a node. */
async function show(chosen) {
  path = chosen.replace(/^\/+|\/+$/g, "");
  $("path").value = path;
  const buttons = () => [...$("tree").querySelectorAll("button")];
  if (!buttons().some((one) => one.dataset.path === path)) $("tree").append(item({ path, about: "typed", node_type: "typed" }));
  for (const one of buttons()) one.ariaCurrent = one.dataset.path === path ? "true" : null;
  $("name").textContent = shown(`/${path}`);
  $("node").hidden = false;
  if (place.url) history.replaceState(null, "", `#${new URLSearchParams({ store: place.url, path })}`);
  for (const section of ["values", "grid"]) {
    running.get(section)?.abort();
    running.delete(section);
    $(section).hidden = true;
  }
  for (const out of $("node").querySelectorAll(".out")) out.replaceChildren();
  $("axes").replaceChildren();
  const at = path;
  await fill("about", "about", { path }, (about) => {
    if (about.node_type === "array" && path === at) queueMicrotask(() => showArray(about));
    return about.text ? [make("pre", {}, shown(about.text))] : [about.node_type];
  });
  if (path === at) fill("check", "check", { path }, findings);
}

function showArray(about) {
  $("values").hidden = $("grid").hidden = false;
  look(about);
  grid(false);
}

const grid = (asked) => fill("grid", "grid", { path, ask: asked }, (found) => {
  if (!found.svg) {
    const text = `The grid has ${found.total.toLocaleString("en")} chunks, and the server does not list them.`;
    return [make("p", {}, text), ...(found.mayAsk ? [make("button", { type: "button", onclick: () => grid(true) }, "Ask for each")] : [])];
  }
  const src = URL.createObjectURL(new Blob([found.svg], { type: "image/svg+xml" }));
  const text = `${found.stored.toLocaleString("en")} of ${found.total.toLocaleString("en")} chunks are stored`;
  return [make("p", {}, text), make("img", { src, alt: `The chunk grid: ${text}`, onload: () => URL.revokeObjectURL(src) })];
});

function findings(found) {
  const lines = found.findings.map((one) => make("li", {},
    make("strong", {}, one.severity), shown(` ${one.key ?? ""} ${one.path ?? ""}: ${one.message} `), make("small", {}, shown(one.rule))));
  const more = found.total > lines.length ? [make("p", {}, `and ${found.total - lines.length} more`)] : [];
  const scope = place.url ? " Only objects that the page has asked for are known." : "";
  return [make("p", {}, `${found.errors} errors, ${found.warnings} warnings, ${found.notes} notes in documents and names of objects.${scope}`), make("ul", {}, ...lines), ...more];
}

/** Reads and shows what the form has chosen; at first, what the worker proposes. */
function look(about, view) {
  return fill("values", "look", { path, view }, (found) => {
    axesForm(about, found.view);
    const out = [];
    if (found.kinds.length === 0) return [make("p", {}, "There are no elements.")];
    const steps = found.view.flatMap((axis, at) => (axis.step > 1 ? [`one of every ${axis.step} elements of ${axisName(about, at)}`] : []));
    const text = [`${found.chunks} ${found.chunks === 1 ? "chunk" : "chunks"}, ${found.missing} not stored`, ...steps].join("; ");
    if (found.damaged) out.push(make("p", { className: "fault", role: "alert" }, shown([found.damaged === 1 ? "a chunk cannot be read:" : `${found.damaged} chunks cannot be read:`, ...found.faults].join("\n"))));
    if (found.values) out.push(...picture(about, found));
    out.push(make("p", { className: "note" }, text), make("p", {}, "Read by ", make("code", {}, command(about, found.view))));
    const rows = found.texts.map((row) => make("tr", {}, ...row.map((one) => make("td", {}, shown(one)))));
    const title = found.kinds.length > found.texts.flat().length ? "The first elements" : "All elements";
    out.push(make("details", { open: !found.values }, make("summary", {}, title), make("div", { className: "table" }, make("table", {}, ...rows))));
    return out;
  }, ({ view: tried }) => tried && axesForm(about, tried));
}

const axisName = (about, at) => shown(about.dimension_names?.[at] ?? `axis ${at}`);

function picture(about, found) {
  const { canvas, at } = draw(found);
  const readout = make("output", { id: "readout", className: "note" }, "Point at the picture, or move in it by arrow keys.");
  const shownAxes = found.view.flatMap((axis, at) => (typeof axis === "object" ? [{ ...axis, name: axisName(about, at) }] : []));
  let cursor = found.shape.map(() => 0);
  const tell = () => {
    const place = cursor.map((index, axis) => `${shownAxes[axis].name} ${shownAxes[axis].start + index * shownAxes[axis].step}`);
    const number = cursor.reduce((all, index, axis) => all * found.shape[axis] + index, 0);
    const kind = found.kinds[number];
    const text = kind === NOTHING ? "NaN or NaT" : textOf(found, found.dtype, number);
    const state = { [FILL]: " (the fill value)", [MISSING]: " (the fill value: the chunk is not stored)" }[kind] ?? "";
    readout.textContent = [...place, kind === DAMAGED ? text : `value ${text}${state}`].join(", ");
  };
  const names = shownAxes.map(({ name }) => name);
  Object.assign(canvas, { tabIndex: 0, role: "application", ariaLabel: names.length === 2 ? `${names[0]} downwards, ${names[1]} to the right` : `a line along ${names}` });
  canvas.setAttribute("aria-describedby", readout.id);
  canvas.onpointermove = ({ offsetX, offsetY }) => {
    cursor = at(offsetX / canvas.clientWidth, offsetY / canvas.clientHeight).slice(0, found.shape.length)
      .map((index, axis) => Math.min(Math.max(index, 0), found.shape[axis] - 1));
    tell();
  };
  canvas.onkeydown = (event) => {
    const [axis, by] = { ArrowUp: [-2, -1], ArrowDown: [-2, 1], ArrowLeft: [-1, -1], ArrowRight: [-1, 1] }[event.key] ?? [];
    if (axis === undefined || cursor.at(axis) === undefined) return;
    event.preventDefault();
    const number = cursor.length + axis;
    cursor[number] = Math.min(Math.max(cursor[number] + by, 0), found.shape[number] - 1);
    tell();
  };
  const samples = legend(found).map(([sample, text]) => make("span", {}, ...(sample ? [sample, text] : [text])));
  return [make("p", { className: "note" }, canvas.ariaLabel), canvas, make("p", {}, readout), make("p", { className: "legend" }, ...samples)];
}

/** The form that chooses which axes are shown, and where. */
function axesForm(about, view) {
  const limited = (size) => Math.min(Math.max(size, 0), Number.MAX_SAFE_INTEGER);
  const field = (name, label, value, most) => make("label", {}, `${label} `, make("input", { type: "number", name, value, min: 0, max: limited(most), required: true }));
  const fields = about.shape.map((size, at) => {
    const axis = view[at];
    const isShown = typeof axis === "object";
    const choice = make("select", { name: `role-${at}`, ariaLabel: `How ${axisName(about, at)} is shown` },
      ...[["shown", "shown"], ["at", "at one index"]].map(([value, text]) => make("option", { value, selected: (value === "shown") === isShown }, text)));
    const inputs = isShown ? [field(`from-${at}`, "from", axis.start, size), field(`to-${at}`, "to", axis.stop, size)] : [field(`at-${at}`, "at", axis, size - 1)];
    choice.onchange = () => {
      const changed = [...view];
      changed[at] = choice.value === "at" ? 0 : { start: 0, stop: limited(size) };
      // Two axes are shown at most: the first of the others gives way.
      const others = changed.flatMap((one, other) => (typeof one === "object" && other !== at ? [other] : []));
      if (choice.value === "shown" && others.length > 1) changed[others[0]] = 0;
      look(about, changed);
    };
    return make("fieldset", {}, make("legend", {}, `${axisName(about, at)} (${size.toLocaleString("en")})`), choice, ...inputs);
  });
  const focused = $("axes").contains(document.activeElement) && document.activeElement.name;
  $("axes").replaceChildren(...fields, ...(fields.length ? [make("button", { name: "show" }, "Show")] : []));
  if (focused) $("axes").elements[focused]?.focus();
  $("axes").onsubmit = (event) => {
    event.preventDefault();
    const given = (name) => Number($("axes").elements[name].value);
    look(about, view.map((axis, at) => (typeof axis === "object" ? { start: given(`from-${at}`), stop: Math.max(given(`to-${at}`), given(`from-${at}`)) } : given(`at-${at}`))));
  };
}

/** The command that reads what is shown, for a POSIX shell. */
function command(about, view) {
  const region = view.map((axis) => (typeof axis === "object" ? `${axis.start}:${axis.stop}${axis.step > 1 ? `:${axis.step}` : ""}` : axis)).join(",");
  let address = path ? `${place.name}/${path}` : place.name;
  if (place.url) {
    const url = new URL(place.url);
    if (path) url.pathname = `${url.pathname.replace(/\/+$/, "")}/${path.split("/").map(encodeURIComponent).join("/")}`;
    url.hash = "";
    address = url.href;
  }
  return `zarr-kit read ${quoted(address.replace(/^-/, "./-"))}${region ? ` --region ${quoted(region)}` : ""}`;
}

function quoted(text) {
  if (/^[\w./:,@-]+$/.test(text)) return text;
  if (!/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(text)) return `'${text.replaceAll("'", "'\\''")}'`;
  // POSIX has no $'': printf writes the bytes. $() drops a newline at the end, so a slash comes after it, which a path may have.
  const bytes = Array.from(new TextEncoder().encode(text.replace(/\n$/, "\n/")), (byte) => [String.fromCharCode(byte), byte]);
  return `"$(printf '${bytes.map(([one, byte]) => (/[\w./:,@-]/.test(one) ? one : `\\${byte.toString(8).padStart(3, "0")}`)).join("")}')"`;
}

/** All files of what was dropped, by their paths in it. */
async function filesOf(entry, prefix, files) {
  if (entry.isFile) return files.set(prefix, await new Promise((resolve, reject) => entry.file(resolve, reject)));
  const reader = entry.createReader();
  for (;;) {
    // A reader gives some hundred entries at a time.
    const some = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (some.length === 0) return files;
    for (const one of some) await filesOf(one, prefix ? `${prefix}/${one.name}` : one.name, files);
  }
}

function openFiles(name, given) {
  history.replaceState(null, "", location.pathname);
  return open({ name, ...given });
}

addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", async (event) => {
  event.preventDefault();
  const folder = Array.from(event.dataTransfer.items, (item) => item.webkitGetAsEntry?.()).find((entry) => entry?.isDirectory);
  const loose = [...event.dataTransfer.files];
  if (!folder) {
    const document = loose.find(({ name }) => /^(zarr\.json|\.z\w+)$/.test(name));
    if (document) return fail(`drop the folder that has ${document.name}, not the files in it`);
    const zip = loose.find(({ name }) => /\.zip$/i.test(name)) ?? loose[0];
    return zip ? openFiles(zip.name, { zip }) : fail("what was dropped is not a folder or a file");
  }
  // Another store may be chosen while a large folder is read.
  const mine = (latest = {});
  $("status").textContent = "Reading the names of files ...";
  try {
    const files = await filesOf(folder, "", new Map());
    if (latest === mine) openFiles(folder.name, { files });
  } catch (error) {
    if (latest === mine) fail(error.message);
  }
});
// A field is emptied, so that the same files can be chosen again.
$("folder").onchange = ({ target }) => {
  const files = [...target.files];
  target.value = "";
  if (files.length === 0) return;
  const [name] = files[0].webkitRelativePath.split("/");
  openFiles(name, { files: new Map(files.map((file) => [file.webkitRelativePath.slice(name.length + 1), file])) });
};
$("zip").onchange = ({ target }) => {
  const [zip] = target.files;
  target.value = "";
  if (zip) openFiles(zip.name, { zip });
};
// Another server needs a page with other limits. The part after # is not sent to the page's own server.
$("open").onsubmit = (event) => {
  event.preventDefault();
  history.replaceState(null, "", `#${new URLSearchParams({ store: $("url").value })}`);
  location.reload();
};
addEventListener("hashchange", () => location.reload());
$("go").onsubmit = (event) => {
  event.preventDefault();
  show($("path").value);
};

const asked = inAddress().get("store");
if (asked === null) narrow("");
else {
  $("url").value = asked;
  try {
    const { origin, protocol, hostname } = new URL(asked);
    if (!/^https?:$/.test(protocol)) throw new Error(`${asked}: an address begins with https: or http:`);
    // A policy would read other characters as its own: * is every server.
    if (!/^[\w.-]+$/.test(hostname)) throw new Error(`${asked}: ${hostname} is not the name of a server, or an address of version 4`);
    narrow(origin);
    open({ name: asked, url: asked });
  } catch (error) {
    narrow("");
    fail(error.message);
  }
}
