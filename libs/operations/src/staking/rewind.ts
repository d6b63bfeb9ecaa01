/** Takes the index back to a block, be it final, because an operator decided so. The indexer reads on from there. */
import { type ChainReader } from '#libs/chain';
import {
  type Database,
  IndexMissingError,
  type IndexState,
  IndexStore,
  type KnownBlock,
  type LeaderLock,
  RedemptionViews,
  type RewindEffect,
  RewindReader,
} from '#libs/db';
import { type BlockRef, DEFAULT_STAKE_SET, PermanentError } from '#libs/domain';
import { indexedContracts } from '#libs/verification';
import { type Operator } from '../audit/audited.js';

/** Balance changes that one transaction takes back. */
const STEP_CHANGES = 200_000;
const HEADERS_AT_ONCE = 50;

interface RewindContext {
  /** The database of the stake set, as its owner. */
  readonly database: Database;
  readonly stakeSet: string;
  readonly reader: ChainReader;
}

export interface RewindPlan extends RewindEffect {
  readonly state: IndexState;
  /** The block that the index is taken back to, as the chain has it. */
  readonly to: BlockRef;
  /** The newest block that index and chain are known to share. */
  readonly common: BlockRef;
}

class RewindRefusedError extends PermanentError {
  constructor(message: string) {
    super('REWIND_REFUSED', message);
  }
}

/**
 * What a rewind would take back.
 * @param asked number of the block. Default: the newest one that index and chain are known to share
 * @throws RewindRefusedError where the index cannot be taken back to this block
 */
export async function planRewind(
  { database, stakeSet, reader }: RewindContext,
  state: IndexState,
  asked?: bigint,
): Promise<RewindPlan> {
  const rewinds = new RewindReader(database, stakeSet);
  const beforeFirst = (indexedContracts(state).startBlock ?? 1n) - 1n;
  const common = await newestCommon(await rewinds.knownBlocks(), beforeFirst, reader);
  const number = asked ?? common.number;
  if (number >= state.head.number) {
    throw new RewindRefusedError(
      asked === undefined
        ? `The chain has block ${state.head.number}, the newest of the index: nothing has to be taken back. To take it back all the same, name a block (--to).`
        : `The index ends at block ${state.head.number}: --to takes a lower one.`,
    );
  }
  if (number < beforeFirst) {
    throw new RewindRefusedError(
      `The index begins at block ${beforeFirst + 1n}: --to takes ${beforeFirst} or a higher one.`,
    );
  }
  if (number > common.number) {
    throw new RewindRefusedError(
      `Block ${number} may be of another fork: the newest block that index and chain are known to share is ${common.number}. ` +
        `Take the index back to that one or a lower one: --to ${common.number}`,
    );
  }
  const to = number === common.number ? common : await headerOf(reader, number);
  return { state, to, common, ...(await rewinds.effect(number)) };
}

export interface RewindResult {
  readonly changes: number;
  readonly head: BlockRef;
}

interface RewindWork {
  readonly lock: LeaderLock;
  readonly operator: Operator;
  readonly onProgress: (said: string) => void;
  /** Default: STEP_CHANGES. */
  readonly stepChanges?: number;
}

/**
 * Takes the lead from the running indexer and takes the index back, from the newest block down, in transactions that
 * each leave a whole index. The indexer stands by meanwhile and goes on from the block afterwards. A rewind that ended
 * early can be run again.
 */
export async function rewindIndex(
  { database, stakeSet, reader }: RewindContext,
  plan: RewindPlan,
  { lock, operator, onProgress, stepChanges = STEP_CHANGES }: RewindWork,
): Promise<RewindResult> {
  onProgress('Taking the lead from the indexer');
  await lock.seize();
  try {
    const store = new IndexStore(database);
    const fence = await store.takeLead();
    const state = await store.state();
    if (state === undefined) throw new IndexMissingError();
    let { head } = state;
    let changes = 0;
    onProgress('Adding up all balances');
    await store.recountTotal({ fence, head });
    const range = { above: plan.to.number, upTo: plan.common.number };
    const steps = Math.ceil(plan.changes / stepChanges);
    const between = await new RewindReader(database, stakeSet).steps({ ...range, steps });
    // Above the newest common block there is no step: the index would stand on blocks of another fork.
    const numbers = between.filter((one) => one < plan.common.number && one > plan.to.number);
    const blocks = [plan.common, ...(await headersOf(reader, numbers)), plan.to];
    for (const to of blocks.filter(({ number }) => number < head.number)) {
      onProgress(`At block ${head.number}: ${changes} of ${plan.changes} changes are taken back`);
      const result = await store.rewind({ fence, head, to });
      changes += result.changes;
      head = to;
    }
    const given = {
      to: head.number.toString(),
      ...(stakeSet !== DEFAULT_STAKE_SET && { stakeSet }),
    };
    const note = { command: operator.command, arguments: given, outcome: `${changes} changes` };
    await new RedemptionViews(database).audit(operator.actor, note, {});
    return { changes, head };
  } finally {
    await lock.release();
  }
}

/** The newest of the known blocks that the chain has; below a fork it has all of them, above it none. */
async function newestCommon(
  known: readonly KnownBlock[],
  beforeFirst: bigint,
  reader: ChainReader,
): Promise<BlockRef> {
  let found: BlockRef | undefined;
  for (let low = 0, high = known.length; low < high;) {
    // The newest block first: the chain nearly always has it.
    const middle = high === known.length && low === 0 ? high - 1 : (low + high) >> 1;
    const block = known[middle] as KnownBlock;
    const [header] = await reader.headers([block.number]);
    if (header?.hash === block.hash) {
      found = header;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return found ?? headerOf(reader, beforeFirst);
}

async function headerOf(reader: ChainReader, number: bigint): Promise<BlockRef> {
  const [header] = await headersOf(reader, [number]);
  if (header === undefined) throw new TypeError('one number has one header');
  return header;
}

async function headersOf(reader: ChainReader, numbers: readonly bigint[]): Promise<BlockRef[]> {
  const blocks: BlockRef[] = [];
  for (let start = 0; start < numbers.length; start += HEADERS_AT_ONCE) {
    const wanted = numbers.slice(start, start + HEADERS_AT_ONCE);
    const headers = await reader.headers(wanted);
    for (const [index, header] of headers.entries()) {
      if (header === undefined) {
        throw new RewindRefusedError(`The endpoints do not have block ${wanted[index] ?? ''}.`);
      }
      blocks.push(header);
    }
  }
  return blocks;
}
