import { open, readFile } from "node:fs/promises";
import { join } from "node:path";

/** A store of zarrita over a folder, which counts what it is asked. */
export class Folder {
  requests = 0;
  bytes = 0;
  atOnce = 0;
  most = 0;

  constructor(path) {
    this.path = path;
  }

  async #answer(work) {
    this.requests += 1;
    this.most = Math.max(this.most, ++this.atOnce);
    try {
      const found = await work();
      this.bytes += found.length;
      return new Uint8Array(found);
    } catch (error) {
      if (["ENOENT", "ENOTDIR", "EISDIR"].includes(error.code)) return undefined;
      throw error;
    } finally {
      this.atOnce -= 1;
    }
  }

  get(key) {
    return this.#answer(() => readFile(join(this.path, key)));
  }

  getRange(key, range) {
    return this.#answer(async () => {
      const file = await open(join(this.path, key));
      try {
        const { size } = await file.stat();
        const start = range.suffixLength === undefined ? range.offset : size - range.suffixLength;
        const length = range.suffixLength ?? range.length;
        const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, start);
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    });
  }
}
