import { LowmarkError, type Address } from '#libs/domain';
import { AllEndpointsFailedError, isCounted, type RpcCall, type RpcPool } from '#libs/chain';
import { type Check } from '../check.js';
import { fault, type Finding, notChecked, ok, warning } from '../finding.js';
import { quantityOf, throwIfBusy, toHex, toldBy } from '../rpc-question.js';
import { type Staking } from '../subject.js';

const NAME = 'staking contract';
/** Looked at below the head and above the first block, the larger number first. */
const SPANS = [1000n, 100n, 10n] as const;

/** Whether there is a contract at each address, since the first block and not before, and whether its events are those that are read. */
export const stakingCheck: Check = {
  name: NAME,
  needs: ['RPC_URLS'],
  needsChain: true,
  async *look(subject) {
    const pool = await subject.chain();
    if (pool === undefined) return;
    const staking = await subject.staking();
    if (staking.contracts.length === 0) {
      yield notChecked(NAME, 'STAKE_CONTRACT is not set, and there is no index');
      return;
    }
    for (const contract of staking.contracts) {
      const code = await hasCode(pool, contract, 'latest');
      yield codeFinding(contract, code);
      if (code === true) yield await eventFinding(pool, contract, staking);
    }
    const early = await deployedBefore(pool, staking);
    if (early !== undefined) yield early;
  },
};

function codeFinding(contract: Address, code: boolean | undefined): Finding {
  if (code === undefined) return notChecked(NAME, `no endpoint tells the code at ${contract}`);
  return code
    ? ok(NAME, `there is one at ${contract}`)
    : fault(NAME, `there is none at ${contract}`, 'Check STAKE_CONTRACT and CHAIN_ID.');
}

/** Whether the first block is late: what happened before it would be missing. */
async function deployedBefore(pool: RpcPool, staking: Staking): Promise<Finding | undefined> {
  const { contracts, startBlock } = staking;
  if (startBlock === undefined || startBlock === 0n) return undefined;
  for (const contract of contracts) {
    if ((await hasCode(pool, contract, toHex(startBlock - 1n))) === true) {
      return fault(
        `${NAME}: start`,
        `${contract} was there before STAKE_START_BLOCK (${startBlock}): earlier stakes are not read`,
        'Set STAKE_START_BLOCK to the block of its deployment and index again.',
      );
    }
  }
  return undefined;
}

/** Undefined where no endpoint has the state of that block. */
async function hasCode(
  pool: RpcPool,
  contract: Address,
  block: string,
): Promise<boolean | undefined> {
  const code = await ask(pool, { method: 'eth_getCode', params: [contract, block] });
  return typeof code === 'string' ? code !== '0x' : undefined;
}

async function eventFinding(pool: RpcPool, contract: Address, staking: Staking): Promise<Finding> {
  const what = `${NAME}: events`;
  const head = quantityOf(await ask(pool, { method: 'eth_blockNumber', params: [] }));
  if (head === undefined) return notChecked(what, 'no endpoint tells its newest block');
  const logs = await someLogs(pool, contract, { start: staking.startBlock ?? head, head });
  if (logs === undefined) return notChecked(what, 'no endpoint gives its logs');
  const named = logs.flatMap(logOf);
  const read = named.filter(({ topics }) => staking.events.some((e) => e.topic0 === topics[0]));
  const ours = read.filter((log) => isCounted(staking.events, log)).length;
  const where = `in the newest blocks and the first ones of ${contract}`;
  if (ours > 0) return ok(what, `${ours} of the ${named.length} ${where} are stakes`);
  if (named.length === 0) {
    return warning(
      what,
      `there are none ${where}`,
      'Fine where nobody staked in them; else check STAKE_CONTRACT.',
    );
  }
  if (read.length > 0) {
    return warning(
      what,
      `STAKE_EVENTS reads ${read.length} of the ${named.length} ${where}, and counts none of them`,
      'Check its conditions, such as the number of a pool; fine where no wallet staked there in them.',
    );
  }
  return fault(
    what,
    `none of the ${named.length} ${where} is one that STAKE_EVENTS reads`,
    'Set STAKE_EVENTS to the events of this contract.',
  );
}

interface Ends {
  /** The first block that is indexed, and the newest one. */
  readonly start: bigint;
  readonly head: bigint;
}

/** The logs of the newest blocks and of the first ones, none of them twice; undefined where neither are given. */
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

/** As many blocks as the endpoints give; undefined where they give none. */
async function spanOf(
  pool: RpcPool,
  contract: Address,
  rangeOf: (span: bigint) => readonly [from: bigint, to: bigint],
): Promise<{ readonly from: bigint; readonly logs: unknown[] } | undefined> {
  for (const span of SPANS) {
    const [from, to] = rangeOf(span);
    const filter = { address: contract, fromBlock: toHex(from), toBlock: toHex(to) };
    const logs = await ask(pool, { method: 'eth_getLogs', params: [filter] });
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

/** Undefined where an endpoint refuses. @throws AllEndpointsFailedError where none answers at all, BusyError */
async function ask(pool: RpcPool, call: RpcCall): Promise<unknown> {
  try {
    return await pool.run(async (session) => {
      const { results } = await session.batch([call]);
      const { value, error } = toldBy(results[0]);
      if (error !== undefined) throw error;
      return value;
    });
  } catch (error) {
    throwIfBusy(error);
    if (error instanceof LowmarkError && !(error instanceof AllEndpointsFailedError)) {
      return undefined;
    }
    if (error instanceof AllEndpointsFailedError && error.failures.length > 0) return undefined;
    throw error;
  }
}
