/**
 * The floor of a first sync from a provider: the fewest calls that bring the same rows and vouch for them, by a program
 * that knows the provider's limits in advance. One batch per range brings its logs, the header of its last block and
 * the contract's total at that block. Each block with events needs one header; these are read up to a hundred per batch
 * where the budget allows it. Rows are written by COPY. Nothing is compared, and no reorganisation is handled.
 *
 *   node dist/bench/providers/floor.program.js FLOOR-TASK-AS-JSON
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { type FloorBudget, type FloorCall, FloorRpc } from './floor-rpc.js';

export interface FloorTask {
  readonly urls: readonly string[];
  readonly databaseUrl: string;
  readonly contract: string;
  /** The topics in the filter of eth_getLogs. */
  readonly topics: readonly unknown[];
  readonly increase: string;
  /** Index of the log topic that holds the wallet. */
  readonly walletAt: number;
  /** Data of the call for the contract's total; undefined where the contract has none. */
  readonly total?: string;
  readonly head: number;
  readonly rangeBlocks: number;
  /** The provider's budget per second and the price of each call. */
  readonly budget?: FloorBudget;
}

interface Log {
  readonly topics: readonly string[];
  readonly data: string;
  readonly blockNumber: string;
}

interface Header {
  readonly number: string;
  readonly timestamp: string;
}

interface Answer {
  readonly logs: readonly Log[];
  /** Settled when the headers of the blocks have arrived. */
  readonly headers: Promise<unknown>[];
}

const task = JSON.parse(process.argv[2] ?? '{}') as FloorTask;
const rpc = new FloorRpc(task.urls, task.budget);
/** Headers per batch. A provider with a budget admits a batch at once if it costs well below one second's budget. */
const HEADERS_AT_ONCE = task.budget
  ? Math.min(100, Math.floor(task.budget.unitsPerSecond / 2 / task.budget.headerPrice))
  : 100;
/**
 * Limits on the work in memory: ranges requested ahead of the written ones, then logs and answers that wait for
 * headers.
 */
const RANGES_AHEAD = 24;
const LOGS_AHEAD = 100_000;
const ANSWERS_AHEAD = 5000;

const seconds = new Map<string, number>();
const balances = new Map<string, bigint>();
const hex = (number: number): string => `0x${number.toString(16)}`;
const headerCall = (block: string): FloorCall => ({
  method: 'eth_getBlockByNumber',
  params: [block, false],
});

async function logsOf(from: number): Promise<Log[]> {
  const end = hex(Math.min(from + task.rangeBlocks - 1, task.head));
  const { contract: address, topics, total: data } = task;
  const filter = { address, topics, fromBlock: hex(from), toBlock: end };
  const calls = [{ method: 'eth_getLogs', params: [filter] }, headerCall(end)];
  if (data !== undefined) calls.push({ method: 'eth_call', params: [{ to: address, data }, end] });
  const [logs, header] = await rpc.batch(calls);
  keep(header as Header);
  return logs as Log[];
}

function keep({ number, timestamp }: Header): void {
  seconds.set(number, Number(timestamp));
}

/** Collects the blocks whose headers are needed into full batches. */
class HeaderBatches {
  private wanted: string[] = [];
  private settle: (() => void) | undefined;
  private current: Promise<void> | undefined;

  /** @returns promises that settle when the headers of all these blocks have arrived */
  want(blocks: readonly string[]): Promise<void>[] {
    const batches = new Set<Promise<void>>();
    for (const block of blocks) {
      this.current ??= new Promise((resolve) => {
        this.settle = resolve;
      });
      batches.add(this.current);
      this.wanted.push(block);
      if (this.wanted.length === HEADERS_AT_ONCE) this.flush();
    }
    return [...batches];
  }

  flush(): void {
    const { wanted, settle } = this;
    this.wanted = [];
    this.current = this.settle = undefined;
    if (wanted.length === 0 || !settle) return;
    void rpc.batch(wanted.map(headerCall)).then((headers) => {
      (headers as Header[]).forEach(keep);
      settle();
    });
  }
}

/**
 * The rows of some answers in the text format of COPY: one row per wallet and block, with the balance at the end of the
 * block. The rows are in the order of the table's key, which PostgreSQL loads twice as fast.
 */
function rowsOf(answers: readonly Answer[]): Buffer {
  const ofWallet = new Map<string, string>();
  for (const { logs } of answers) addRows(logs, ofWallet);
  const wallets = [...ofWallet.keys()].sort();
  return Buffer.from(wallets.map((wallet) => ofWallet.get(wallet)).join(''), 'latin1');
}

function addRows(logs: readonly Log[], ofWallet: Map<string, string>): void {
  let block = logs[0]?.blockNumber ?? '';
  const touched = new Map<string, bigint | undefined>();
  const flush = (): void => {
    const place = `\t${Number(block)}\t${seconds.get(block) ?? 'missing'}\t`;
    for (const [wallet, before] of touched) {
      const balance = balances.get(wallet);
      if (balance === before) continue;
      const row = `\\\\x${wallet}${place}${String(balance)}\n`;
      ofWallet.set(wallet, (ofWallet.get(wallet) ?? '') + row);
    }
    touched.clear();
    seconds.delete(block);
  };
  for (const { topics, data, blockNumber } of logs) {
    if (blockNumber !== block) flush();
    block = blockNumber;
    const wallet = topics[task.walletAt]?.slice(26) ?? '';
    const before = balances.get(wallet);
    if (!touched.has(wallet)) touched.set(wallet, before);
    const amount = topics[0] === task.increase ? BigInt(data) : -BigInt(data);
    balances.set(wallet, (before ?? 0n) + amount);
  }
  flush();
}

async function* rows(): AsyncGenerator<Buffer> {
  const batches = new HeaderBatches();
  const ranges: Promise<Log[]>[] = [];
  const answers: Answer[] = [];
  let [from, waiting] = [0, 0];
  for (;;) {
    for (; ranges.length < RANGES_AHEAD && from <= task.head; from += task.rangeBlocks)
      ranges.push(logsOf(from));
    const logs = await ranges.shift();
    if (logs) {
      const blocks = [...new Set(logs.map(({ blockNumber }) => blockNumber))];
      const headers = batches.want(blocks.filter((block) => !seconds.has(block)));
      answers.push({ logs, headers });
      waiting += logs.length;
    }
    const isFull = waiting > LOGS_AHEAD || answers.length > ANSWERS_AHEAD;
    if (logs && !isFull) continue;
    batches.flush();
    await Promise.all(answers.flatMap(({ headers }) => headers));
    if (waiting > 0) yield rowsOf(answers.splice(0));
    answers.length = waiting = 0;
    if (!logs) return;
  }
}

const client = new pg.Client({ connectionString: task.databaseUrl });
await client.connect();
await client.query(`CREATE SCHEMA bench; CREATE TABLE bench.balance_change (
  wallet bytea NOT NULL, block bigint NOT NULL, seconds bigint NOT NULL, balance numeric(78, 0) NOT NULL, PRIMARY KEY (wallet, block))`);
await pipeline(
  Readable.from(rows(), { highWaterMark: 2 }),
  client.query(copyFrom('COPY bench.balance_change FROM STDIN')),
);
await client.end();
