/**
 * The expected content of the index, computed in the simplest way: no batches, no carried state, each day by itself.
 * Slow, and independent of the code under test.
 */
import { type Database } from '#libs/db';
import { type DevRpc } from '#libs/devchain';

export const DAY = 86_400;
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
  const steps = [...byWallet.keys()].sort().map((wallet): [string, Step[]] => {
    const nets = [...(byWallet.get(wallet) ?? [])].sort(([one], [other]) => one - other);
    return [
      wallet,
      stepsOf(nets.map(([block, net]) => ({ block, seconds: seconds.get(block) ?? NaN, net }))),
    ];
  });
  return tablesOf(new Map(steps));
}

/** The tables for wallets with these steps. */
export function tablesOf(steps: ReadonlyMap<string, readonly Step[]>): IndexTables {
  const wallets = [...steps];
  const daysOf = (all: readonly Step[]): number[] =>
    [...new Set(all.map(({ seconds }) => Math.floor(seconds / DAY)))].sort();
  return {
    changes: wallets.flatMap(([wallet, own]) =>
      own.map(({ block, seconds, balance }) => [wallet, block, seconds, balance].join(' ')),
    ),
    days: wallets.flatMap(([wallet, own]) =>
      daysOf(own).map((day) => {
        const held = heldOn(day, own);
        return [wallet, day, leastOf(held.slice(0, -1)) ?? '-', held.at(-1) ?? 0n].join(' ');
      }),
    ),
    totals: daysOf([...steps.values()].flat()).map((day) => {
      const closings = wallets.map(([, own]) => heldOn(day, own).at(-1) ?? 0n);
      return `${day} ${closings.reduce((sum, one) => sum + one, 0n)}`;
    }),
  };
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

/** A balance from the end of a block on. */
export interface Step {
  readonly block: number;
  readonly seconds: number;
  readonly balance: bigint;
}

/** @param nets the sums of a wallet's changes by block, in order */
export function stepsOf(
  nets: readonly (Omit<Step, 'balance'> & { readonly net: bigint })[],
): Step[] {
  const steps: Step[] = [];
  for (const { net, ...block } of nets) {
    const before = steps.at(-1)?.balance;
    if (net === 0n && before !== undefined) continue;
    steps.push({ ...block, balance: (before ?? 0n) + net });
  }
  return steps;
}

/** The balances that a wallet held for any time of the day, in order. */
function heldOn(day: number, steps: readonly Step[]): bigint[] {
  const [from, to] = [day * DAY, (day + 1) * DAY];
  const points = [{ block: 0, seconds: -Infinity, balance: 0n }, ...steps];
  return points
    .filter(({ seconds }, place) => {
      const end = Math.min(points[place + 1]?.seconds ?? Infinity, to);
      return Math.max(seconds, from) < end;
    })
    .map(({ balance }) => balance);
}

function leastOf(balances: readonly bigint[]): bigint | undefined {
  return balances.reduce<bigint | undefined>(
    (least, one) => (least === undefined || one < least ? one : least),
    undefined,
  );
}

/** The low-water mark of a wallet on a day. */
export function lowOn(day: number, steps: readonly Step[]): bigint {
  return leastOf(heldOn(day, steps)) ?? 0n;
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
