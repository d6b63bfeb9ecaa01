import { type ReplayShape } from '../replay-shape.js';

export function aShape(changes: Partial<ReplayShape> = {}): ReplayShape {
  return {
    seed: 3,
    blocks: 300,
    events: 400,
    eventBlocks: 90,
    wallets: 40,
    contract: 'simple',
    pools: 1,
    blockSeconds: 12,
    logTimestamps: false,
    multicall: true,
    finalityDepth: 64,
    ...changes,
  };
}
