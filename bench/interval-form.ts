/**
 * The cost of a constraint by which intervals can neither overlap nor leave a gap. The same history is written in three
 * forms, batch by batch as a backfill does, each form with its constraint. See
 * docs/decisions/0002-interval-by-its-opening.md.
 *
 *   npm run bench -- interval-form [changes] [rounds]     default 1000000 changes, 3 rounds
 */
import { createHash } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { migrate } from '#libs/db';
import { EmbeddedPostgres } from '#libs/devpostgres';

const WALLETS = 20_000;
const BATCH = 10_000;
const CHANGES_PER_BLOCK = 20;
const [changesWanted, roundsWanted] = process.argv.slice(2).map(Number);
const BATCHES = Math.ceil((changesWanted ?? 1_000_000) / BATCH);
const ROUNDS = roundsWanted ?? 3;

interface Change {
  readonly wallet: number;
  readonly block: number;
  readonly seconds: number;
  readonly balance: string;
}

interface Form {
  readonly name: string;
  readonly setup: string;
  readonly write: (client: pg.Client, batch: readonly Change[]) => Promise<void>;
  readonly tables: readonly string[];
}

const ADDRESSES = Array.from({ length: WALLETS }, (_, wallet) =>
  createHash('sha256').update(String(wallet)).digest('hex').slice(0, 40),
);
const hex = (wallet: number): string => ADDRESSES[wallet] ?? '';

async function copy(client: pg.Client, into: string, lines: readonly string[]): Promise<void> {
  const stream = client.query(copyFrom(`COPY ${into} FROM STDIN`));
  await pipeline(Readable.from([Buffer.from(lines.join(''))]), stream);
}

/** Pairs each change with the wallet's next change in the batch. `first` holds the first change of each wallet. */
function linked(batch: readonly Change[]): {
  rows: [Change, Change | undefined][];
  first: Change[];
} {
  const next = new Map<number, Change>();
  const rows: [Change, Change | undefined][] = [];
  for (const change of batch.toReversed()) {
    rows.push([change, next.get(change.wallet)]);
    next.set(change.wallet, change);
  }
  return { rows: rows.reverse(), first: [...next.values()] };
}

function closings(first: readonly Change[]): unknown[] {
  return [
    `{${first.map(({ wallet }) => `"\\\\x${hex(wallet)}"`).join(',')}}`,
    `{${first.map(({ block }) => block).join(',')}}`,
    `{${first.map(({ seconds }) => seconds).join(',')}}`,
  ];
}

const forms: readonly Form[] = [
  {
    name: 'openings only, statement trigger',
    setup: `TRUNCATE staking.balance_change, staking.index_state;
      INSERT INTO staking.index_state (fingerprint, settings, chain_id, stake_contract, token_contract, token_symbol,
        token_decimals, head_number, head_hash, head_seconds)
      VALUES ('', '{}', 1, decode(repeat('00', 20), 'hex'), decode(repeat('00', 20), 'hex'), '', 18, 0, decode(repeat('00', 32), 'hex'), 0)`,
    tables: ['staking.balance_change'],
    write: async (client, batch) => {
      const lines = batch.map(
        ({ wallet, block, seconds, balance }) =>
          `\\\\x${hex(wallet)}\t${block}\t${seconds}\t${balance}\n`,
      );
      await copy(client, 'staking.balance_change', lines);
      const { block, seconds } = batch.at(-1) ?? { block: 0, seconds: 0 };
      await client.query('UPDATE staking.index_state SET head_number = $1, head_seconds = $2', [
        block,
        seconds,
      ]);
    },
  },
  {
    name: 'from/to, exclusion constraint (GiST)',
    setup: `CREATE EXTENSION IF NOT EXISTS btree_gist; DROP TABLE IF EXISTS excluded;
      CREATE TABLE excluded (wallet bytea NOT NULL, blocks int8range NOT NULL, from_seconds bigint NOT NULL, to_seconds bigint,
        balance numeric(78, 0) NOT NULL CHECK (balance >= 0), EXCLUDE USING gist (wallet WITH =, blocks WITH &&));
      CREATE UNIQUE INDEX excluded_open ON excluded (wallet) WHERE upper_inf(blocks)`,
    tables: ['excluded'],
    write: async (client, batch) => {
      const { rows, first } = linked(batch);
      await client.query(
        `UPDATE excluded e SET blocks = int8range(lower(e.blocks), n.block), to_seconds = n.seconds
         FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS n (wallet, block, seconds)
         WHERE e.wallet = n.wallet AND upper_inf(e.blocks)`,
        closings(first),
      );
      const lines = rows.map(
        ([{ wallet, block, seconds, balance }, next]) =>
          `\\\\x${hex(wallet)}\t[${block},${next?.block ?? ''})\t${seconds}\t${next?.seconds ?? '\\N'}\t${balance}\n`,
      );
      await copy(client, 'excluded', lines);
    },
  },
  {
    name: 'from/to, two btree uniques',
    setup: `DROP TABLE IF EXISTS chained;
      CREATE TABLE chained (wallet bytea NOT NULL, from_block bigint NOT NULL, to_block bigint, from_seconds bigint NOT NULL,
        to_seconds bigint, balance numeric(78, 0) NOT NULL CHECK (balance >= 0), CHECK (to_block > from_block),
        PRIMARY KEY (wallet, from_block), UNIQUE NULLS NOT DISTINCT (wallet, to_block))`,
    tables: ['chained'],
    write: async (client, batch) => {
      const { rows, first } = linked(batch);
      await client.query(
        `UPDATE chained c SET to_block = n.block, to_seconds = n.seconds
         FROM unnest($1::bytea[], $2::bigint[], $3::bigint[]) AS n (wallet, block, seconds)
         WHERE c.wallet = n.wallet AND c.to_block IS NULL`,
        closings(first),
      );
      const lines = rows.map(
        ([{ wallet, block, seconds, balance }, next]) =>
          `\\\\x${hex(wallet)}\t${block}\t${next?.block ?? '\\N'}\t${seconds}\t${next?.seconds ?? '\\N'}\t${balance}\n`,
      );
      await copy(client, 'chained', lines);
    },
  },
];

/** A repeatable history by a linear congruential generator: a few busy wallets among many quiet ones. */
function* history(): Generator<Change[]> {
  let seed = 1;
  const random = (): number => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
  for (let batch = 0; batch < BATCHES; batch += 1) {
    const seen = new Set<string>();
    const changes: Change[] = [];
    while (changes.length < BATCH) {
      const block =
        1 + batch * (BATCH / CHANGES_PER_BLOCK) + Math.floor(changes.length / CHANGES_PER_BLOCK);
      const wallet = Math.floor(random() ** 2 * WALLETS);
      const balance = `${Math.floor(random() * 1e9)}000000000000000`;
      const key = `${wallet}/${block}`;
      if (seen.has(key)) continue;
      seen.add(key);
      changes.push({ wallet, block, seconds: 1_700_000_000 + block * 12, balance });
    }
    yield changes;
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function run(
  client: pg.Client,
  form: Form,
): Promise<{ batchesMs: number[]; megabytes: number }> {
  await client.query(form.setup);
  const batchesMs: number[] = [];
  for (const batch of history()) {
    const start = performance.now();
    await client.query('BEGIN');
    await form.write(client, batch);
    await client.query('COMMIT');
    batchesMs.push(performance.now() - start);
  }
  const { rows } = await client.query<{ bytes: string }>(
    'SELECT sum(pg_total_relation_size(name::regclass)) AS bytes FROM unnest($1::text[]) AS t (name)',
    [form.tables],
  );
  return { batchesMs, megabytes: Number(rows[0]?.bytes) / 2 ** 20 };
}

async function main(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'lowmark-bench-'));
  const server = await EmbeddedPostgres.start({
    directory: join(folder, 'data'),
    logFile: join(folder, 'postgres.log'),
    settings: { shared_buffers: '512MB', max_wal_size: '8GB', checkpoint_timeout: '30min' },
  });
  const client = new pg.Client({ connectionString: server.url });
  try {
    await migrate(server.url);
    await client.connect();
    const totals = new Map<string, number[]>(forms.map(({ name }) => [name, []]));
    const lasts = new Map<string, string>();
    // The forms take turns in each round, so that other load on the machine affects all alike. The medians are
    // compared.
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const form of forms) {
        const { batchesMs, megabytes } = await run(client, form);
        const total = batchesMs.reduce((sum, ms) => sum + ms, 0);
        totals.get(form.name)?.push(total);
        lasts.set(
          form.name,
          `${median(batchesMs).toFixed(0)} ms a batch, ${megabytes.toFixed(0)} MB`,
        );
        console.log(`round ${round + 1}: ${form.name}: ${(total / 1000).toFixed(1)} s`);
      }
    }
    const base = median(totals.get(forms[0]?.name ?? '') ?? []);
    console.log(
      `\n${BATCHES * BATCH} changes of ${WALLETS} wallets in batches of ${BATCH}, median of ${ROUNDS}:`,
    );
    for (const [name, total] of totals) {
      const seconds = median(total) / 1000;
      console.log(
        `${name.padEnd(40)} ${seconds.toFixed(1).padStart(6)} s  x ${(median(total) / base).toFixed(2)}  (${lasts.get(name) ?? ''})`,
      );
    }
  } finally {
    await client.end();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

await main();
