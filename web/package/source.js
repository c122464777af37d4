/** What a module is compiled from: its bytes where files are read, since node fetches none; else its address. */
export async function source(url) {
  // An import would be refused by programs that bundle for browsers.
  const files = globalThis.process?.getBuiltinModule?.("node:fs/promises");
  return files && url.protocol === "file:" ? files.readFile(url) : url;
}
