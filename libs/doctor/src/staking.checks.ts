import { indexedContracts } from '#libs/verification';
import {
  ChainReader,
  chooseVerification,
  estimateSync,
  isCounted,
  readVerificationOffer,
  toQuantity,
  type RpcPool,
  SYNC_METHODS,
  type SyncEstimate,
  type Verification,
  type VerificationOffer,
  wideQuantity,
} from '#libs/chain';
import { MAX_RANGE_BLOCKS } from '#libs/config';
import { type Address, type BlockRef, PermanentError } from '#libs/domain';
import { duration, stakeReader } from '#libs/operations';
import {
  type Answer,
  chainOf,
  type Check,
  check,
  CheckEnded,
  fault,
  notChecked,
  ok,
  table,
  warning,
} from './checks.js';
import { askAny } from './rpc-answer.js';
import { type Staking, type Subject } from './subject.js';

/** Range sizes to try, in blocks, near the head and near the first block. */
const SPANS = [1000n, 100n, 10n] as const;

interface StakingChain extends Staking {
  readonly pool: RpcPool;
}

export const stakingChecks: readonly Check[] = [
  table({
    title: 'staking contract',
    needs: ['RPC_URLS'],
    read: readStaking,
    rows: [
      { title: 'staking contract', ask: contractAnswers },
      {
        title: 'staking contract: start',
        ask: startAnswer,
        remedy: 'Set STAKE_START_BLOCK to the block of its deployment and index again.',
      },
    ],
  }),
  // Which verification the indexer would use with these settings and endpoints, determined as at its start.
  check({ title: 'verification', needs: ['RPC_URLS'], ask: verificationAnswers }),
  // Whether the token reports its symbol and decimals, and whether they match the index.
  check({ title: 'token', needs: ['RPC_URLS', 'TOKEN_CONTRACT'], ask: tokenAnswer }),
];

async function readStaking(subject: Subject): Promise<StakingChain> {
  const pool = await chainOf(subject);
  const staking = await subject.staking();
  if (staking.contracts.length > 0) return { ...staking, pool };
  throw new CheckEnded(notChecked('STAKE_CONTRACT is not set, and there is no index'));
}

/** Whether there is a contract at each address, and whether its events match STAKE_EVENTS. */
async function* contractAnswers(staking: StakingChain): AsyncGenerator<Answer> {
  for (const contract of staking.contracts) {
    const isThere = await hasCode(staking.pool, contract, 'latest');
    if (isThere === undefined) yield notChecked(`no endpoint tells the code at ${contract}`);
    else if (!isThere)
      yield fault(`there is none at ${contract}`, 'Check STAKE_CONTRACT and CHAIN_ID.');
    else {
      yield ok(`there is one at ${contract}`);
      yield { ...(await eventsAnswer(staking, contract)), title: 'staking contract: events' };
    }
  }
}

/** Whether the first block is too late, so that earlier events would be missing. */
async function startAnswer({
  pool,
  contracts,
  startBlock,
}: StakingChain): Promise<Answer | undefined> {
  if (startBlock === undefined || startBlock === 0n) return undefined;
  for (const contract of contracts) {
    if ((await hasCode(pool, contract, toQuantity(startBlock - 1n))) === true) {
      return fault(
        `${contract} was there before STAKE_START_BLOCK (${startBlock}): earlier stakes are not read`,
      );
    }
  }
  return undefined;
}

/** Undefined where no endpoint has the state of this block. */
async function hasCode(
  pool: RpcPool,
  contract: Address,
  block: string,
): Promise<boolean | undefined> {
  const code = await askAny(pool, { method: 'eth_getCode', params: [contract, block] });
  return typeof code === 'string' ? code !== '0x' : undefined;
}

async function eventsAnswer(staking: StakingChain, contract: Address): Promise<Answer> {
  const { pool, events } = staking;
  const head = wideQuantity(await askAny(pool, { method: 'eth_blockNumber', params: [] }));
  if (head === undefined) return notChecked('no endpoint tells its newest block');
  const logs = await someLogs(pool, contract, { start: staking.startBlock ?? head, head });
  if (logs === undefined) return notChecked('no endpoint gives its logs');
  const named = logs.flatMap(logOf);
  const read = named.filter(({ topics }) => events.some((e) => e.topic0 === topics[0]));
  const ours = read.filter((log) => isCounted(events, log)).length;
  const where = `in the newest blocks and the first ones of ${contract}`;
  if (ours > 0) return ok(`${ours} of the ${named.length} ${where} are stakes`);
  if (named.length === 0) {
    return warning(
      `there are none ${where}`,
      'Fine if no one staked in them; else check STAKE_CONTRACT.',
    );
  }
  return read.length > 0
    ? warning(
        `STAKE_EVENTS reads ${read.length} of the ${named.length} ${where}, and counts none of them`,
        'Check its conditions, such as the number of a pool; fine where no wallet staked there in them.',
      )
    : fault(
        `none of the ${named.length} ${where} is one that STAKE_EVENTS reads`,
        'Set STAKE_EVENTS to the events of this contract.',
      );
}

interface Ends {
  /** The first indexed block and the newest block. */
  readonly start: bigint;
  readonly head: bigint;
}

/** Logs of the newest blocks and of the first blocks, without overlap; undefined where the endpoints give neither. */
async function someLogs(
  pool: RpcPool,
  contract: Address,
  { start, head }: Ends,
): Promise<unknown[] | undefined> {
  const newest = await spanOf(pool, contract, (span) => [atLeast0(head - span + 1n), head]);
  const below = newest === undefined || newest.from > head ? head : newest.from - 1n;
  const first =
    start > below
      ? undefined
      : await spanOf(pool, contract, (span) => [start, least(start + span - 1n, below)]);
  if (newest === undefined && first === undefined) return undefined;
  return [...(newest?.logs ?? []), ...(first?.logs ?? [])];
}

/** The logs of the largest span that the endpoints give; undefined where they give none. */
async function spanOf(
  pool: RpcPool,
  contract: Address,
  rangeOf: (span: bigint) => readonly [from: bigint, to: bigint],
): Promise<{ readonly from: bigint; readonly logs: unknown[] } | undefined> {
  for (const span of SPANS) {
    const [from, to] = rangeOf(span);
    const filter = { address: contract, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
    const logs = await askAny(pool, { method: 'eth_getLogs', params: [filter] });
    if (Array.isArray(logs)) return { from, logs: logs as unknown[] };
  }
  return undefined;
}

function atLeast0(number: bigint): bigint {
  return number > 0n ? number : 0n;
}

function least(a: bigint, b: bigint): bigint {
  return a < b ? a : b;
}

function logOf(log: unknown): { readonly topics: readonly unknown[]; readonly data: string }[] {
  if (typeof log !== 'object' || log === null || !('topics' in log) || !('data' in log)) return [];
  const { topics, data } = log;
  return Array.isArray(topics) && typeof data === 'string' ? [{ topics, data }] : [];
}

async function* verificationAnswers(subject: Subject): AsyncGenerator<Answer> {
  const { reader, head, contracts } = await readVerified(subject);
  const offer = await readVerificationOffer(reader, head);
  const { stakeVerification } = subject.settings;
  let verification: Verification;
  try {
    verification = chooseVerification(stakeVerification, offer);
  } catch (error) {
    if (!(error instanceof PermanentError)) throw error;
    const remedy = 'The indexer does not start with it: do what is named.';
    yield fault(error.message, remedy);
    return;
  }
  yield chosenAnswer(verification, offer);
  const sync = await estimateSync(reader, {
    ...{ head, verification, contracts, maxRangeBlocks: MAX_RANGE_BLOCKS },
  });
  if (sync.blocks > 0) yield { ...syncAnswer(sync), title: 'verification: sync' };
}

function syncAnswer({ blocks, calls, computeUnits, seconds }: SyncEstimate): Answer {
  const byMethod = SYNC_METHODS.filter((method) => calls[method] > 0).map(
    (method) => `${grouped(calls[method])} ${method}`,
  );
  return ok(
    `${grouped(blocks)} blocks to read: at least ${byMethod.join(', ')}; ${grouped(computeUnits)} compute units; ${duration(seconds * 1000)}`,
  );
}

function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

function chosenAnswer(
  { mode, reason, cannotFind }: Verification,
  offer: VerificationOffer,
): Answer {
  const found = `${mode}: ${reason} It cannot find: ${cannotFind}`;
  if (offer.unanswered !== undefined && offer.unanswered.length > 0) {
    return fault(found, 'Correct totalView or balanceView in STAKE_EVENTS, or set it to [].');
  }
  if (mode === 'none') {
    return warning(
      found,
      'Add an endpoint of another company to RPC_URLS, or totalView or balanceView to STAKE_EVENTS, and set STAKE_VERIFICATION=auto.',
    );
  }
  return mode === 'total' && offer.total === 'recent'
    ? warning(
        found,
        'An endpoint with the state of past blocks (archive), or a second provider, lets a first sync verify as it goes.',
      )
    : ok(found);
}

interface Verified {
  readonly reader: ChainReader;
  /** The newest indexed block, or the one before the first. */
  readonly head: BlockRef;
  readonly contracts: number;
}

/** @throws CheckEnded where settings for the question are missing */
async function readVerified(subject: Subject): Promise<Verified> {
  const pool = await chainOf(subject);
  const { contracts, startBlock } = await subject.staking();
  if (contracts.length === 0) throw unset('STAKE_CONTRACT');
  const chainId = await subject.chainId();
  if (chainId === undefined) throw unset('CHAIN_ID');
  const state = await subject.index();
  const isPartial = state && indexedContracts(state).isPartial;
  const reader = await stakeReader(pool, { chainId, contracts, isPartial }, subject.settings);
  if (state) return { reader, head: state.head, contracts: contracts.length };
  if (startBlock === undefined) throw unset('STAKE_START_BLOCK');
  const [before] = await reader.headers([startBlock > 0n ? startBlock - 1n : 0n]);
  if (before) return { reader, head: before, contracts: contracts.length };
  throw new CheckEnded(notChecked('STAKE_START_BLOCK is above the head'));
}

function unset(variable: string): CheckEnded {
  return new CheckEnded(notChecked(`${variable} is not set, and there is no index`));
}

async function tokenAnswer(subject: Subject): Promise<Answer> {
  const { tokenContract } = subject.settings;
  const reader = new ChainReader(await chainOf(subject));
  try {
    const { symbol, decimals } = await reader.token(tokenContract as Address);
    const state = await subject.index();
    const found = `${symbol} with ${decimals} decimals at ${tokenContract}`;
    return state === undefined || state.tokenDecimals === decimals
      ? ok(found)
      : fault(
          `${found}; the index was made with ${state.tokenDecimals} decimals`,
          'Check TOKEN_CONTRACT, or make the index again: `index again` (docs/operating/troubleshooting.md#indexing-again).',
        );
  } catch (error) {
    // The token is unknown where no endpoint answers; the check fails with this error.
    if (!(error instanceof PermanentError)) throw error;
    return fault(error.message, 'Check TOKEN_CONTRACT, CHAIN_ID and RPC_URLS.');
  }
}
