/** The shape of a synthetic staking chain. The same shape gives exactly the same chain. */
export interface ReplayShape {
  readonly seed: number;
  /** The number of the newest block. Block 0 has no events. */
  readonly blocks: number;
  readonly events: number;
  /** Number of blocks that hold the events. */
  readonly eventBlocks: number;
  readonly wallets: number;
  /**
   * `random` (default): a few wallets are busy, and the events are scattered over the blocks; kept in memory. `turns`:
   * computed on request (`TurnHistory`), for long histories; every block has events, of a `simple` contract.
   */
  readonly history?: 'random' | 'turns';
  /**
   * `simple`: events Staked and Withdrawn, a balance per wallet and a total. `masterchef`: events UserStaked and
   * UserUnstaked of several pools, the view userInfo(pool, wallet), no total.
   */
  readonly contract: 'simple' | 'masterchef';
  /** 1 for `simple`. */
  readonly pools: number;
  /** Average time between blocks. */
  readonly blockSeconds: number;
  /** Unix time of block 0 in seconds; a fixed time in the past by default. */
  readonly genesisSeconds?: number;
  /** Whether logs carry `blockTimestamp`, which geth sends since 1.16. */
  readonly logTimestamps: boolean;
  /** Whether Multicall3 is deployed at its usual address. */
  readonly multicall: boolean;
  /** Blocks between `finalized` and the newest block; `safe` is half as far away. */
  readonly finalityDepth: number;
}

const COMMON = { seed: 11, multicall: true, logTimestamps: false, finalityDepth: 64 } as const;

/** The chains of the benchmarks. */
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

/** A smaller chain with the same density: blocks, events, wallets and the finality depth are divided by `by`. */
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
