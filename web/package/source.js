/** What a compiled module is made from: its bytes under node, which fetches no files, else its address. */
export async function source(url) {
  return url.protocol === "file:" ? (await import("node:fs/promises")).readFile(url) : url;
}
