// Stores of zarrita.js: objects below a URL, and files that a user has chosen. Each tells which keys it has.

import ZipFileStore from "./zarrita/zip.js";

export const isDocument = (key) => /\/(zarr\.json|\.z\w+)$/.test(key);

/** Objects below a URL. It goes to no other server: names are parts of a path, and redirects are errors. */
export class UrlStore {
  /** Whether an object is there, for each key that was asked for. */
  found = new Map();
  #base;
  #documents = new Map();
  /** Objects that were sent whole though a part was asked for, until `forget`. */
  #whole = new Map();

  constructor(url) {
    this.#base = new URL(url);
    if (!/^https?:$/.test(this.#base.protocol)) throw new Error(`${url}: an address begins with https: or http:`);
    if (this.#base.username || this.#base.password) throw new Error("an address must not have a name and a password");
  }

  forget() {
    this.#whole.clear();
  }

  async #answer(key, { signal }, init) {
    const names = key.slice(1).split("/");
    if (names.some((name) => /^\.{0,2}$/.test(name))) throw new Error(`${key} is not a key`);
    const url = new URL(this.#base);
    url.pathname = `${url.pathname.replace(/\/+$/, "")}/${names.map(encodeURIComponent).join("/")}`;
    url.hash = "";
    try {
      return await fetch(url, { ...init, signal, credentials: "omit", redirect: "error", referrerPolicy: "no-referrer" });
    } catch (error) {
      signal?.throwIfAborted();
      throw new Error(`no answer from ${url.origin} that this page may read: the server is not there, sends elsewhere, ` +
        `or does not allow requests of pages (CORS) [${error.message}]`);
    }
  }

  async #request(key, options, init) {
    const response = await this.#answer(key, options, init);
    const isAbsent = response.status === 404 || (response.status === 403 && await this.#mayBeAbsent(key, options));
    if (response.ok || isAbsent) this.found.set(key, response.ok);
    if (isAbsent) return undefined;
    // A range of an object that is too short: an answer, of no bytes.
    if (!response.ok && !(response.status === 416 && init.headers)) throw new Error(`the server answers ${response.status} ${response.statusText}`);
    return response;
  }

  /** S3 denies what is absent to those who may not list: beside a document, other documents. A denied chunk is an error. */
  async #mayBeAbsent(key, options) {
    if (!isDocument(key) && !key.endsWith("/zarr-kit-copy.json")) return false;
    const folder = key.slice(0, key.lastIndexOf("/"));
    const others = ["zarr.json", ".zarray", ".zgroup"].map((name) => `${folder}/${name}`).filter((other) => other !== key);
    return (await Promise.all(others.map((other) => this.#answer(other, options, { method: "HEAD" })))).some(({ ok }) => ok);
  }

  async get(key, options = {}) {
    if (this.#documents.has(key)) return this.#documents.get(key);
    const response = await this.#request(key, options, {});
    const bytes = response && await bytesOf(response);
    if (isDocument(key)) this.#documents.set(key, bytes);
    return bytes;
  }

  async getRange(key, range, options = {}) {
    const { offset, length, suffixLength } = range;
    if (length === 0) return new Uint8Array();
    if (!this.#whole.has(key)) {
      const Range = suffixLength === undefined ? `bytes=${offset}-${offset + length - 1}` : `bytes=-${suffixLength}`;
      const response = await this.#request(key, options, { headers: { Range } });
      if (response === undefined) return undefined;
      if (response.status === 206) return bytesOf(response);
      if (response.status === 416) return new Uint8Array();
      if (!this.#whole.has(key)) this.#whole.set(key, bytesOf(response));
    }
    const all = await this.#whole.get(key);
    return suffixLength === undefined ? all.slice(offset, offset + length) : all.slice(-suffixLength);
  }

  /** Asks whether an object is there. */
  async has(key, options = {}) {
    if (!this.found.has(key)) await this.#request(key, options, { method: "HEAD" });
    return this.found.get(key);
  }
}

const bytesOf = async (response) => new Uint8Array(await response.arrayBuffer());

/** Files by their keys. */
class FileStore {
  #files;

  constructor(files) {
    this.#files = files;
  }

  async get(key) {
    const file = this.#files.get(key.slice(1));
    return file && bytesOf(file);
  }

  async getRange(key, { offset, length, suffixLength }) {
    const file = this.#files.get(key.slice(1));
    const start = suffixLength === undefined ? offset : Math.max(file?.size - suffixLength, 0);
    return file && bytesOf(file.slice(start, start + (suffixLength ?? length)));
  }
}

/** Objects of a zip file. Zarrita.js reads past the end of one into the next. */
class ZipStore {
  #zip;

  constructor(blob) {
    this.#zip = ZipFileStore.fromBlob(blob);
  }

  async entries() {
    return new Map(Object.entries((await this.#zip.info).entries).filter(([, entry]) => !entry.isDirectory));
  }

  get(key) {
    return this.#zip.get(key);
  }

  async getRange(key, { offset, length, suffixLength }) {
    const entry = (await this.#zip.info).entries[key.slice(1)];
    if (!entry) return undefined;
    const start = suffixLength === undefined ? Math.min(offset, entry.size) : Math.max(entry.size - suffixLength, 0);
    const end = Math.min(start + (suffixLength ?? length), entry.size);
    return start === end ? new Uint8Array() : this.#zip.getRange(key, { offset: start, length: end - start });
  }
}

/** What a user has chosen: the store, its keys unless it cannot list them, and the number of names that are no keys. */
export async function storeOf({ url, files, zip }) {
  if (url) return { store: new UrlStore(url), skipped: 0 };
  const store = zip ? new ZipStore(zip) : new FileStore(files);
  const names = [...(zip ? await store.entries() : files).keys()];
  const isKey = (name) => name.length <= 1024 && !/[\0\\]/.test(name) && !name.split("/").some((part) => /^\.{0,2}$/.test(part));
  const keys = new Set(names.filter(isKey));
  return { store, keys, skipped: names.length - keys.size };
}
