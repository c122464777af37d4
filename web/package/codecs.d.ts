import type { Chunk, CodecMetadata, DataType } from "zarrita";

/** What zarrita.js tells a codec: the chunks that it encodes, and all codecs of the array. */
export interface ChunkMetadata {
  dataType: DataType;
  shape: number[];
  codecs: CodecMetadata[];
  fillValue: unknown;
}

/**
 * The codec `packbits`:
 * `registry.set("packbits", () => import("zarr-kit/codecs").then((codecs) => codecs.PackBits))`.
 */
export class PackBits {
  private constructor();
  /** `any`, because zarrita.js declares each codec as one of bytes. Throws if the configuration is wrong. */
  static fromConfig(configuration: unknown, meta: ChunkMetadata): any;
  readonly kind: "array_to_bytes";
  /** Throws if an element would not read back unchanged. */
  encode(chunk: Chunk<DataType>): Uint8Array;
  /** Throws if the bytes are not as many as the elements take, or the padding byte is wrong. */
  decode(bytes: Uint8Array): Chunk<DataType>;
  computeEncodedSize(decodedSize: number): number;
}

/** The codec `reshape`, which is registered as `PackBits` is. */
export class Reshape {
  private constructor();
  /** Throws if chunks of this shape cannot be reshaped so. */
  static fromConfig(configuration: unknown, meta: ChunkMetadata): any;
  readonly kind: "array_to_array";
  getEncodedMeta<M extends ChunkMetadata>(meta: M): M;
  encode(chunk: Chunk<DataType>): Chunk<DataType>;
  decode(chunk: Chunk<DataType>): Chunk<DataType>;
}
