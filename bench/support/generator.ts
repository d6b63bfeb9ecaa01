/** A process that serves a long, dense, computed history by JSON-RPC, faster than any program here reads it. */
import { ReplayChain, type ReplayShape } from '../replay/index.js';
import { ProviderProcess } from '../providers/provider-process.js';
import { type Program } from './program.js';

export interface HistorySize {
  readonly events: number;
  readonly wallets: number;
  readonly eventsPerBlock: number;
  /** The least length of the history. Blocks are some whole seconds apart, so it may be longer. */
  readonly days: number;
}

export interface Generator {
  /** The same chain in this process. */
  readonly chain: ReplayChain;
  readonly urls: readonly string[];
  readonly program: Program;
  stop(): Promise<void>;
}

export async function startGenerator(size: HistorySize, logFile: string): Promise<Generator> {
  const shape = shapeOf(size);
  const provider = await ProviderProcess.start(shape, { logFile });
  const urls = await provider.behave([{}]);
  const stop = (): Promise<void> => provider.stop();
  return { chain: new ReplayChain(shape), urls, program: provider.program, stop };
}

export function shapeOf({ events, wallets, eventsPerBlock, days }: HistorySize): ReplayShape {
  const blocks = Math.ceil(events / eventsPerBlock);
  return {
    seed: 11,
    history: 'turns',
    contract: 'simple',
    pools: 1,
    ...{ blocks, events, eventBlocks: blocks, wallets },
    blockSeconds: Math.ceil((days * 86_400) / blocks),
    logTimestamps: true,
    multicall: true,
    finalityDepth: Math.min(64, Math.floor(blocks / 2)),
  };
}
