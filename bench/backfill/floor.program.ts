/**
 * The floor of a backfill: the minimal program that writes the same rows into the same kind of table. It reads logs in
 * large ranges by plain `fetch`, decodes the few fields by hand, and writes rows by COPY while the next range is in
 * flight. It reads no headers, checks nothing, computes no days, keeps no cursor, handles no reorganisations, and uses
 * one transaction for everything.
 *
 *   node dist/bench/backfill/floor.program.js {"rpcUrl":…,"databaseUrl":…,"contract":…,"head":…,"rangeBlocks":…}
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

export interface FloorTask {
  readonly rpcUrl: string;
  readonly databaseUrl: string;
  readonly contract: string;
  readonly topics: { readonly increase: string; readonly decrease: string };
  readonly head: number;
  readonly rangeBlocks: number;
}

interface Log {
  readonly topics: readonly [string, string];
  readonly data: string;
  readonly blockNumber: string;
  readonly blockTimestamp: string;
}

const task = JSON.parse(process.argv[2] ?? '{}') as FloorTask;
const balances = new Map<string, bigint>();

async function logsOf(from: number): Promise<Log[]> {
  const to = Math.min(from + task.rangeBlocks - 1, task.head);
  const filter = {
    address: task.contract,
    topics: [[task.topics.increase, task.topics.decrease]],
    fromBlock: `0x${from.toString(16)}`,
    toBlock: `0x${to.toString(16)}`,
  };
  const response = await fetch(task.rpcUrl, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getLogs', params: [filter] }),
  });
  return ((await response.json()) as { result: Log[] }).result;
}

/**
 * The rows of one range in the text format of COPY: one row per wallet and block, with the balance at the end of the
 * block.
 */
function rowsOf(logs: readonly Log[]): string {
  let text = '';
  let block = '';
  let seconds = '';
  const touched = new Set<string>();
  const flush = (): void => {
    const place = `\t${Number(block)}\t${Number(seconds)}\t`;
    for (const wallet of touched)
      text += `\\\\x${wallet}${place}${(balances.get(wallet) ?? 0n).toString()}\n`;
    touched.clear();
  };
  for (const { topics, data, blockNumber, blockTimestamp } of logs) {
    if (blockNumber !== block) {
      flush();
      block = blockNumber;
      seconds = blockTimestamp;
    }
    const wallet = topics[1].slice(26);
    const amount = BigInt(data);
    const before = balances.get(wallet) ?? 0n;
    balances.set(wallet, topics[0] === task.topics.increase ? before + amount : before - amount);
    touched.add(wallet);
  }
  flush();
  return text;
}

async function* rows(): AsyncGenerator<Buffer> {
  let next = logsOf(0);
  for (let from = 0; from <= task.head; from += task.rangeBlocks) {
    const logs = await next;
    if (from + task.rangeBlocks <= task.head) next = logsOf(from + task.rangeBlocks);
    yield Buffer.from(rowsOf(logs), 'latin1');
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
