/**
 * The number of redemptions per second that two workers finish, compared with bare SQL round trips on the same machine.
 * One of the workers is killed when half of the payouts are authorised. At the end no redemption may be open, and
 * nothing may have been done twice. The partner (correct and without delay), the chain, PostgreSQL and the workers
 * share the machine.
 *
 * The ratio that the gate compares is of CPU: what a redemption costs all processes together (workers, partner, chain and
 * PostgreSQL), beside what its number of bare `UPDATE` round trips costs.
 *
 *   npm run bench -- redemptions [--redemptions 4000] [--pool 8] [--at-once 32] [--bare-seconds 3] [--runs 1]
 *     [--marks FILE] [--write-docs yes]
 */
import type pg from 'pg';
import { type StampedeFigures, stampede } from '../apps/redemption/test/load/stampede.js';
import { type BareSql, measureBareSql } from './redemptions/bare-sql.js';
import { BenchServer, printStatements, STATEMENT_STATISTICS } from './support/bench-database.js';
import { count, fixed, median } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { familyCpuSeconds } from './support/program.js';
import { say } from './support/progress.js';
import { report, REPORT_OPTIONS, type Table } from './support/report.js';

const WORKERS = 2;

const options = readOptions({
  redemptions: '4000',
  pool: '8',
  'at-once': '32',
  'bare-seconds': '3',
  runs: '1',
  ...REPORT_OPTIONS,
});

interface Round {
  readonly figures: StampedeFigures;
  readonly bare: BareSql;
  readonly connections: number;
  /** Statements of a redemption. */
  readonly statements: number;
  /** CPU of all processes for a redemption. */
  readonly cpuMicroseconds: number;
  /** What a redemption leaves in the tables and their indexes for ever. */
  readonly bytes: number;
}

async function main(): Promise<void> {
  const server = await BenchServer.start(STATEMENT_STATISTICS);
  const rounds: Round[] = [];
  try {
    while (rounds.length < numberOf(options.runs)) {
      const round = await server.withDatabase(measure);
      rounds.push(round);
      if (round.figures.faults.length === 0) continue;
      console.log(round.figures.faults.slice(0, 20).join('\n'));
      process.exitCode = 1;
    }
  } finally {
    await server.stop();
  }
  const tables = tablesOf(rounds);
  const marks = {
    redemptions: rounds.map((round) => round.cpuMicroseconds / bareMicroseconds(round)),
  };
  await report(options, 'redemptions', { tables, marks });
}

async function measure(url: string, client: pg.Client): Promise<Round> {
  await client.query('CREATE EXTENSION pg_stat_statements');
  const poolSize = numberOf(options.pool);
  const connections = WORKERS * poolSize;
  const ms = numberOf(options['bare-seconds']) * 1000;
  say('bare round trips');
  const bare = await measureBareSql(url, { connections, ms });
  let [statements, cpuBefore, cpuAfter] = [0, 0, 0];
  const redemptions = numberOf(options.redemptions);
  const bytesBefore = await bytesOf(client);
  const figures = await stampede({
    databaseUrl: url,
    redemptions,
    poolSize,
    atOnce: numberOf(options['at-once']),
    onBegin: async () => {
      await reset(client);
      cpuBefore = familyCpuSeconds(process.pid);
    },
    onEnd: async () => {
      cpuAfter = familyCpuSeconds(process.pid);
      statements = await statementsSince(client);
    },
    say,
  });
  await printStatements(client);
  return {
    ...{ figures, bare, connections },
    statements: statements / redemptions,
    cpuMicroseconds: ((cpuAfter - cpuBefore) * 1e6) / redemptions,
    bytes: ((await bytesOf(client)) - bytesBefore) / redemptions,
  };
}

/** Bytes of the tables of redemptions with their indexes, without the room of rows that updates have left. */
async function bytesOf(client: pg.Client): Promise<number> {
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'redemption'`,
  );
  for (const { name } of tables) await client.query(`VACUUM FULL ${name}`);
  const { rows } = await client.query<{ bytes: string }>(
    `SELECT sum(pg_total_relation_size(name::regclass))::text AS bytes FROM unnest($1::text[]) AS name`,
    [tables.map(({ name }) => name)],
  );
  return Number(rows[0]?.bytes);
}

/** CPU of the bare `UPDATE` round trips that are as many as a redemption's statements. */
function bareMicroseconds({ bare, statements }: Round): number {
  return bare.cpuMicrosecondsOfUpdate * statements;
}

function tablesOf(rounds: readonly Round[]): Table[] {
  const middle = (of: (round: Round) => number): number => median(rounds.map(of));
  const { redemptions = 0 } = rounds[0]?.figures ?? {};
  const half = Math.floor(redemptions / 2);
  const secondsEach = ({ figures }: Round): number =>
    figures.firstHalfSeconds / half + figures.endSeconds / redemptions;
  const time = (name: string, many: number, of: (figures: StampedeFigures) => number): string[] => {
    const seconds = middle(({ figures }) => of(figures));
    return [name, fixed(seconds), count(many / seconds)];
  };
  const perSecond = 1 / middle(secondsEach);
  const statements = middle((round) => round.statements);
  const trips = (name: string, of: (bare: BareSql) => number): string[] => {
    const value = middle(({ bare }) => of(bare));
    return [name, count(value), fixed(value / perSecond, 1), fixed(value / statements / perSecond)];
  };
  const connections = rounds[0]?.connections ?? 0;
  return [
    {
      head: [`${count(redemptions)} redemptions`, 'seconds', 'a second'],
      rows: [
        time(
          'to the authorised payout, first half, two workers',
          half,
          (figures) => figures.firstHalfSeconds,
        ),
        time(
          'the same, second half, one worker, with the wait for the dead one’s leases',
          redemptions - half,
          (figures) => figures.secondHalfSeconds,
        ),
        time(
          'from the final claim to the delivered confirmation, two workers',
          redemptions,
          (figures) => figures.endSeconds,
        ),
        ['all of it, as two workers did it', fixed(redemptions / perSecond), count(perSecond)],
      ],
    },
    {
      head: ['bare SQL round trips', 'a second', 'a redemption is worth', 'x, at its statements'],
      rows: [
        trips('`UPDATE` of a row, 1 connection', ({ updatesOnOne }) => updatesOnOne),
        trips(
          `\`UPDATE\` of a row, ${connections} connections`,
          ({ updatesOnMany }) => updatesOnMany,
        ),
      ],
    },
    {
      head: ['for a redemption', ''],
      rows: [
        ['statements', fixed(statements, 1)],
        ['calls to the partner', fixed(middle(({ figures }) => figures.calls / redemptions))],
        ['bytes that stay in the database, with indexes', count(middle(({ bytes }) => bytes))],
        ['CPU of all processes, µs', count(middle(({ cpuMicroseconds }) => cpuMicroseconds))],
        [
          'the same beside bare `UPDATE`s, x',
          fixed(middle((round) => round.cpuMicroseconds / bareMicroseconds(round))),
        ],
        [
          'leases that the killed worker left',
          count(middle(({ figures }) => figures.leasesOfTheDead)),
        ],
      ],
    },
  ];
}

async function reset(client: pg.Client): Promise<void> {
  await client.query('CHECKPOINT');
  await client.query('SELECT pg_stat_statements_reset()');
}

/**
 * Counts the statements that came over a connection. A statement inside a trigger belongs to the statement that fired
 * it.
 */
async function statementsSince(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ calls: string }>(`
    SELECT sum(calls)::text AS calls FROM pg_stat_statements
    JOIN pg_database d ON d.oid = dbid AND d.datname = current_database()
    WHERE toplevel AND query NOT LIKE '%authorised, %finished%' AND query NOT LIKE '%pg_stat_statements%'`);
  return Number(rows[0]?.calls ?? 0);
}

await main();
