import type { Options, Selection, Store } from "./index.js";

/** What a report is about. A store of zarrita.js cannot be listed, so its keys are told. */
export interface ReportOptions extends Options {
  /** The path of the node. */
  path?: string;
  /** All keys of the store, with or without a slash before them. */
  keys?: Iterable<string>;
}

/**
 * A description as `zarr-kit info --json` prints it, and its text for people. Without keys it does not count chunks.
 * Of a group there are only `node_type` and `text`.
 */
export function info(store: Store, options?: ReportOptions): Promise<{
  shape: number[];
  readable: boolean;
  codecs: unknown[];
  chunk_grid: unknown;
  data_type: unknown;
  attributes: Record<string, unknown>;
  chunks: { declared: number[]; occupied: number[]; stored: number | null; [more: string]: unknown };
  text: string;
  [more: string]: unknown;
}>;

export interface Finding {
  id: string;
  severity: "error" | "warning" | "note";
  key: string | null;
  /** The place in the document. */
  path: string | null;
  message: string;
  rule: string;
}

/** Checks the documents and keys of a node and all below it, not the elements of chunks. */
export function check(store: Store, options: ReportOptions & { keys: Iterable<string> }): Promise<{
  findings: Finding[];
  groups: number;
  arrays: number;
  chunks: number;
  errors: number;
  warnings: number;
  notes: number;
}>;

/** The chunk grid of an array as SVG: which chunks are stored, and a selection. */
export function draw(store: Store, options: ReportOptions & { keys: Iterable<string>; selection?: Selection }): Promise<string>;

/**
 * The nodes of a store, at most `most` (10,000): by its keys, else by the consolidated metadata of the root. Without
 * either, the root is the only one. `node_type` is null if the document is wrong, and `about` says why.
 */
export function nodes(store: Store, options?: ReportOptions & { most?: number }): Promise<{
  nodes: { path: string; node_type: "array" | "group" | null; about: string }[];
  total: number;
}>;

/** The chunks of a selection: their number, and key and region of the first, at most `most` (10,000). */
export function chunks(store: Store, options?: ReportOptions & { selection?: Selection; most?: number }): Promise<{
  chunks: { key: string; region: [start: number, stop: number][] }[];
  total: number;
}>;
