/** What a synthetic staking chain looks like. The same shape gives the same chain, to the last bit. */
export interface ReplayShape {
  readonly seed: number;
  /** The number of the newest block; block 0 has no events. */
  readonly blocks: number;
  readonly events: number;
  /** Blocks that hold the events. */
  readonly eventBlocks: number;
  readonly wallets: number;
  /**
   * `simple`: Staked and Withdrawn, a balance for each wallet and a total. `masterchef`: UserStaked and UserUnstaked of several
   * pools, userInfo(pool, wallet), no total.
   */
  readonly contract: 'simple' | 'masterchef';
  /** 1 for `simple`. */
  readonly pools: number;
  /** On average; the time grows with every block. */
  readonly blockSeconds: number;
  /** When block 0 was made, Unix seconds; default: a day in the past. */
  readonly genesisSeconds?: number;
  /** Logs carry `blockTimestamp`, as geth sends them since 1.16. */
  readonly logTimestamps: boolean;
  /** Multicall3 is deployed at its usual address. */
  readonly multicall: boolean;
  /** `finalized` is so many blocks behind the newest; `safe` half as many. */
  readonly finalityDepth: number;
}

const COMMON = { seed: 11, multicall: true, logTimestamps: false, finalityDepth: 64 } as const;

/** The chains of the benchmark. */
export const REPLAY_SHAPES = {
  sparse: {
    ...COMMON,
    contract: 'simple',
    pools: 1,
    blocks: 1_000_000,
    events: 15_000,
    eventBlocks: 11_000,
    wallets: 2_500,
    blockSeconds: 12,
  },
  dense: {
    ...COMMON,
    contract: 'simple',
    pools: 1,
    blocks: 10_000,
    events: 1_000_000,
    eventBlocks: 10_000,
    wallets: 20_000,
    blockSeconds: 240,
  },
  issue: {
    ...COMMON,
    contract: 'masterchef',
    pools: 3,
    blocks: 778_000,
    events: 13_336,
    eventBlocks: 9_950,
    wallets: 2_000,
    blockSeconds: 12,
  },
} as const satisfies Record<string, ReplayShape>;

/** A part of a chain with the same density: its blocks, events, wallets and what is not final, divided by `by`. */
export function slicedShape(shape: ReplayShape, by: number): ReplayShape {
  const part = (value: number): number => Math.max(1, Math.ceil(value / by));
  return {
    ...shape,
    blocks: part(shape.blocks),
    events: part(shape.events),
    eventBlocks: part(shape.eventBlocks),
    wallets: part(shape.wallets),
    finalityDepth: part(shape.finalityDepth),
  };
}
