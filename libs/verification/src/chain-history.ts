/**
 * Reads the stake events of final blocks again, for a comparison with the index. Each range is read twice, the second
 * time from another provider if there is one, and counts only if both reads agree.
 */
import {
  ANSWER_BYTES,
  type BlockRange,
  type Comparison,
  countProviders,
  type LogSource,
  ownProvider,
  type ReadRange,
  RangeSizer,
  streamRanges,
} from '#libs/chain';
import {
  type Address,
  type BlockDeltas,
  type BlockRef,
  dayOf,
  RetryableError,
  rowsOf,
  type WalletRows,
  ZERO_ADDRESS,
} from '#libs/domain';

const INITIAL_BLOCKS = 100;
const CONCURRENCY = 4;
const ROUNDS = 5;

export interface HistoryQuestion {
  readonly source: LogSource;
  /** From the first block of the index to a final block. */
  readonly range: BlockRange;
  /** The wallets whose events are kept; absent: all. */
  readonly wallets?: ReadonlySet<Address> | undefined;
  readonly maxRangeBlocks: number;
  readonly onProgress: (said: string) => void;
}

/** Two reads of the same final blocks do not agree. */
export class EventsInDoubtError extends RetryableError {
  constructor({ from, to }: BlockRange, endpoints: readonly string[]) {
    super(
      'EVENTS_IN_DOUBT',
      `Two reads of the blocks ${from} to ${to} by ${[...new Set(endpoints)].join(' and ')} have different events. Nothing was changed. Run the command again, or replace the endpoint in RPC_URLS that loses logs.`,
    );
  }
}

/** The stake events of a range of blocks that begins with the first block of the index. */
export class ChainHistory {
  /** The sum of all balances at the end of the range. */
  total = 0n;
  /** The sum at the end of each day with a change of a balance, ascending. */
  readonly dayTotals = new Map<number, bigint>();
  /** The newest block of the range, with its hash. */
  head: BlockRef | undefined;
  private readonly blocks = new Map<Address, BlockDeltas[]>();

  constructor(private readonly wanted: ReadonlySet<Address> | undefined) {}

  /** The wallets that were asked for and have events. */
  get wallets(): Iterable<Address> {
    return this.blocks.keys();
  }

  /** @throws NegativeBalanceError */
  rowsOf(wallet: Address): WalletRows {
    return rowsOf(this.blocks.get(wallet) ?? []);
  }

  add({ blocks, head }: ReadRange): void {
    for (const { blockNumber, timestampSeconds, deltas } of blocks) {
      const net = new Map<Address, bigint>();
      for (const delta of deltas) {
        const { wallet, amount } = delta;
        if (wallet === ZERO_ADDRESS) continue;
        this.total += amount;
        net.set(wallet, (net.get(wallet) ?? 0n) + amount);
        if (this.wanted === undefined || this.wanted.has(wallet)) {
          const own = this.blocks.get(wallet) ?? [];
          const last = own.at(-1);
          if (last?.blockNumber === blockNumber) {
            own[own.length - 1] = { ...last, deltas: [...last.deltas, delta] };
          } else own.push({ blockNumber, timestampSeconds, deltas: [delta] });
          this.blocks.set(wallet, own);
        }
      }
      const isChange = [...net.values()].some((amount) => amount !== 0n);
      if (isChange) this.dayTotals.set(dayOf(timestampSeconds), this.total);
    }
    this.head = head;
  }
}

/** @throws EventsInDoubtError, AllEndpointsFailedError, EventMismatchError */
export async function readChainHistory(question: HistoryQuestion): Promise<ChainHistory> {
  const { source, range, wallets, maxRangeBlocks, onProgress } = question;
  const history = new ChainHistory(wallets);
  const answers = streamRanges<ReadRange>(range, {
    fetch: (part, signal) => readTwice(source, part, signal),
    sizer: new RangeSizer({
      targetBytes: ANSWER_BYTES,
      maxBlocks: maxRangeBlocks,
      initialBlocks: Math.min(INITIAL_BLOCKS, maxRangeBlocks),
    }),
    concurrency: () => CONCURRENCY,
    maxBufferedBytes: 4 * ANSWER_BYTES,
  });
  for await (const answer of answers) {
    history.add(answer);
    onProgress(`Chain read up to block ${answer.to} of ${range.to}`);
  }
  return history;
}

async function readTwice(
  source: LogSource,
  range: BlockRange,
  signal: AbortSignal,
): Promise<ReadRange> {
  const asked = { headers: 'events' as const, recheckEventBlocks: true, signal };
  let told: Comparison | undefined;
  let answer = await source.fetch(range, asked);
  for (let round = 1; round <= ROUNDS; round += 1) {
    if (round > 1) answer = await source.fetch(range, asked);
    told = await source.compare(answer, { signal, avoid: avoidedBy(answer, source) });
    if (told.differing.length === 0) return answer;
  }
  throw new EventsInDoubtError(range, [answer.endpoint, told?.endpoint ?? answer.endpoint]);
}

/** The endpoints of the provider that gave the answer; none if it is the only provider. */
function avoidedBy({ endpoint }: ReadRange, { endpoints }: LogSource): string[] {
  return countProviders(endpoints) > 1 ? ownProvider(endpoint, endpoints) : [];
}
