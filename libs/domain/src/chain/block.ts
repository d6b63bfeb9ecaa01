/** A block hash: `0x` and 64 lower-case hex digits. */
export type BlockHash = string & { readonly __brand: 'BlockHash' };

/** A block as the index remembers it. */
export interface BlockRef {
  readonly number: bigint;
  readonly hash: BlockHash;
  /** Unix time, whole seconds. */
  readonly timestampSeconds: number;
}

/** A block with the link to the one before it. */
export interface BlockHeader extends BlockRef {
  readonly parentHash: BlockHash;
}
