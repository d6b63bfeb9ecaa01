/**
 * The expected content of the index, computed from the chain in the simplest way: no batches, no carried state, each
 * day by itself. Slow, and independent of the code under test.
 */
import { type Database } from '#libs/db';
import { type DevRpc } from '#libs/devchain';

const DAY = 86_400;
const TOPICS: Record<string, bigint> = {
  // keccak256 of Staked(address,uint256) and Withdrawn(address,uint256)
  '0x9e71bc8eea02a63969f509818f2dafb9254532904319f9dbda79b67bd34a5f3d': 1n,
  '0x7084f5476618d8e60b11ef0d7d3f06914655adb8793e28ff7f018d4c76d505d5': -1n,
};

export interface IndexTables {
  /** wallet, block, seconds, balance */
  readonly changes: readonly string[];
  /** wallet, day, low, closing */
  readonly days: readonly string[];
  /** day, sum of all balances at its end; for the days in `days` */
  readonly totals: readonly string[];
}

interface RawLog {
  address: string;
  blockNumber: string;
  topics: string[];
  data: string;
}

/** The tables that the index must have for the present chain. */
export async function expectedTables(rpc: DevRpc, staking: string): Promise<IndexTables> {
  const logs = await rpc.call<RawLog[]>('eth_getLogs', {
    address: staking,
    fromBlock: '0x0',
    toBlock: 'latest',
  });
  const byWallet = new Map<string, Map<number, bigint>>();
  for (const log of logs) {
    const sign = TOPICS[log.topics[0] ?? ''];
    if (sign === undefined) continue;
    const wallet = (log.topics[1] ?? '').slice(26);
    const blocks = byWallet.get(wallet) ?? new Map<number, bigint>();
    byWallet.set(wallet, blocks);
    const block = Number(log.blockNumber);
    blocks.set(block, (blocks.get(block) ?? 0n) + sign * BigInt(log.data));
  }
  const seconds = await timesOf(rpc, new Set([...byWallet.values()].flatMap((b) => [...b.keys()])));
  const changes: string[] = [];
  const days: string[] = [];
  const allSteps: Step[][] = [];
  for (const wallet of [...byWallet.keys()].sort()) {
    const steps = stepsOf(byWallet.get(wallet) ?? new Map<number, bigint>(), seconds);
    allSteps.push(steps);
    for (const step of steps)
      changes.push([wallet, step.block, step.seconds, step.balance].join(' '));
    for (const day of [...new Set(steps.map((step) => Math.floor(step.seconds / DAY)))].sort())
      days.push([wallet, day, ...dayOf(day, steps)].join(' '));
  }
  return { changes, days, totals: totalsOf(allSteps) };
}

/** Adds up the newest balance of each wallet at the end of each day with a change. */
function totalsOf(allSteps: readonly (readonly Step[])[]): string[] {
  const days = new Set(allSteps.flat().map(({ seconds }) => Math.floor(seconds / DAY)));
  return [...days].sort().map((day) => {
    const ends = allSteps.map((steps) =>
      steps.findLast(({ seconds }) => seconds < (day + 1) * DAY),
    );
    return `${day} ${ends.reduce((sum, step) => sum + (step?.balance ?? 0n), 0n)}`;
  });
}

/** The tables that the index has. */
export async function indexedTables(database: Database): Promise<IndexTables> {
  const rowsOf = async (text: string): Promise<string[]> =>
    (await database.query<{ row: string }>({ text })).map(({ row }) => row);
  return {
    changes: await rowsOf(
      `SELECT concat_ws(' ', encode(wallet, 'hex'), block, seconds, balance) AS row
       FROM staking.balance_change ORDER BY wallet, block`,
    ),
    days: await rowsOf(
      `SELECT concat_ws(' ', encode(wallet, 'hex'), day, coalesce(low::text, '-'), closing) AS row
       FROM staking.balance_day ORDER BY wallet, day`,
    ),
    // A rollback may leave the row of a day that has no change any more.
    totals: await rowsOf(
      `SELECT concat_ws(' ', day, total) AS row FROM staking.day_total
       WHERE day IN (SELECT day FROM staking.balance_day) ORDER BY day`,
    ),
  };
}

interface Step {
  block: number;
  seconds: number;
  balance: bigint;
}

function stepsOf(
  blocks: ReadonlyMap<number, bigint>,
  seconds: ReadonlyMap<number, number>,
): Step[] {
  const steps: Step[] = [];
  let balance = 0n;
  for (const block of [...blocks.keys()].sort((a, b) => a - b)) {
    const net = blocks.get(block) ?? 0n;
    if (net === 0n && steps.length > 0) continue;
    balance += net;
    steps.push({ block, seconds: seconds.get(block) ?? NaN, balance });
  }
  return steps;
}

/** `low` and `closing` of a day, from each balance that was held for any time on that day. */
function dayOf(day: number, steps: readonly Step[]): [string, string] {
  const from = day * DAY;
  const to = from + DAY;
  const held: bigint[] = [];
  const points = [{ seconds: -Infinity, balance: 0n }, ...steps];
  points.forEach((point, index) => {
    const start = Math.max(point.seconds, from);
    const end = Math.min(points[index + 1]?.seconds ?? Infinity, to);
    if (start < end) held.push(point.balance);
  });
  const closing = held.at(-1) ?? 0n;
  const before = held.slice(0, -1);
  const low = before.reduce<bigint | undefined>(
    (least, balance) => (least === undefined || balance < least ? balance : least),
    undefined,
  );
  return [low?.toString() ?? '-', closing.toString()];
}

async function timesOf(rpc: DevRpc, blocks: ReadonlySet<number>): Promise<Map<number, number>> {
  const numbers = [...blocks];
  const headers = (await rpc.batch(
    numbers.map((number) => ({
      method: 'eth_getBlockByNumber',
      params: [`0x${number.toString(16)}`, false],
    })),
  )) as { timestamp: string }[];
  return new Map(numbers.map((number, index) => [number, Number(headers[index]?.timestamp)]));
}
