/**
 * The number of redemptions per second that two workers finish, compared with bare SQL round trips on the same machine.
 * One of the workers is killed when half of the payouts are authorised. At the end no redemption may be open, and
 * nothing may have been done twice. The partner (correct and without delay), the chain, PostgreSQL and the workers
 * share the machine.
 *
 *   npm run bench -- redemptions [--redemptions 4000] [--pool 8] [--at-once 32] [--bare-seconds 3]
 */
import type pg from 'pg';
import { type StampedeFigures, stampede } from '../apps/redemption/test/load/stampede.js';
import { type BareSql, measureBareSql } from './redemptions/bare-sql.js';
import { BenchServer, printStatements, STATEMENT_STATISTICS } from './support/bench-database.js';
import { count, fixed, table } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { say } from './support/progress.js';

const WORKERS = 2;

const options = readOptions({
  redemptions: '4000',
  pool: '8',
  'at-once': '32',
  'bare-seconds': '3',
});

async function main(): Promise<void> {
  const server = await BenchServer.start(STATEMENT_STATISTICS);
  try {
    await server.withDatabase(async (url, client) => {
      await client.query('CREATE EXTENSION pg_stat_statements');
      const poolSize = numberOf(options.pool);
      const connections = WORKERS * poolSize;
      const ms = numberOf(options['bare-seconds']) * 1000;
      say('bare round trips');
      const bare = await measureBareSql(url, { connections, ms });
      let statements = 0;
      const figures = await stampede({
        databaseUrl: url,
        redemptions: numberOf(options.redemptions),
        poolSize,
        atOnce: numberOf(options['at-once']),
        onBegin: () => reset(client),
        onEnd: async () => {
          statements = await statementsSince(client);
        },
        say,
      });
      print(figures, { bare, connections, statements });
      await printStatements(client);
      if (figures.faults.length === 0) return;
      console.log(figures.faults.slice(0, 20).join('\n'));
      process.exitCode = 1;
    });
  } finally {
    await server.stop();
  }
}

function print(
  figures: StampedeFigures,
  of: { readonly bare: BareSql; readonly connections: number; readonly statements: number },
): void {
  const { redemptions, firstHalfSeconds, secondHalfSeconds, endSeconds } = figures;
  const half = Math.floor(redemptions / 2);
  const secondsEach = firstHalfSeconds / half + endSeconds / redemptions;
  const perSecond = 1 / secondsEach;
  const wholeSeconds = firstHalfSeconds + secondHalfSeconds + endSeconds;
  const { bare, connections } = of;
  const rate = (many: number, seconds: number): string => count(many / seconds);
  table(
    [`${count(redemptions)} redemptions`, 'seconds', 'a second'],
    [
      [
        'to the authorised payout, two workers',
        fixed(firstHalfSeconds),
        rate(half, firstHalfSeconds),
      ],
      [
        'the same, one left, with the wait for leases',
        fixed(secondHalfSeconds),
        rate(redemptions - half, secondHalfSeconds),
      ],
      ['from the final claim to the end, two', fixed(endSeconds), rate(redemptions, endSeconds)],
      ['all of it, with the kill', fixed(wholeSeconds), rate(redemptions, wholeSeconds)],
      ['all of it, two workers', fixed(secondsEach * redemptions), count(perSecond)],
    ],
  );
  console.log('');
  const perRedemption = of.statements / redemptions;
  const floor = (statementsPerSecond: number): string =>
    fixed(statementsPerSecond / perRedemption / perSecond);
  table(
    ['bare SQL round trips', 'a second', 'a redemption is worth', 'x, at its statements'],
    (
      [
        ['SELECT 1, 1 connection', bare.selectsOnOne],
        ['UPDATE of a row, 1 connection', bare.updatesOnOne],
        [`SELECT 1, ${connections} connections`, bare.selectsOnMany],
        [`UPDATE of a row, ${connections} connections`, bare.updatesOnMany],
      ] as const
    ).map(([name, value]) => [name, count(value), fixed(value / perSecond, 1), floor(value)]),
  );
  console.log(
    `\n${fixed(perRedemption)} statements and ${fixed(figures.calls / redemptions)} calls for each redemption; ` +
      `the killed worker left ${figures.leasesOfTheDead} leases; ` +
      (figures.faults.length === 0
        ? 'everything is finished, and nothing was done twice.'
        : `${figures.faults.length} FAULTS`),
  );
  console.log('');
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
