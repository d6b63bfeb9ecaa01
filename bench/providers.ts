/**
 * A first sync from realistic providers, compared with the floor for each provider (providers/floor.program.ts): time,
 * calls, compute units, memory, and whether every row is right. The providers are simulated (bench/replay):
 * a separate process serves a synthetic chain. Both programs run in turn on the same providers and PostgreSQL. The time
 * counts from the start of the process until the rows are committed and, for the indexer, verified.
 *
 *   npm run bench -- providers [--profiles perfect,refusing | all] [--chains sparse,dense,issue] [--runs 1]
 *     [--limit 120]       seconds after which an indexer is stopped as "not finished"; less where four times the time of
 *                         the floor, but at least 30 s, is less
 *     [--settings JSON]   further settings of the indexer, such as {"STAKE_VERIFICATION":"wallets"}
 *     [--slice 1]         divides the chain's blocks, events and wallets by this number; default: by profile, mostly 1
 *     [--log-times yes]   logs carry their blocks' times, as geth sends them since 1.16
 *     [--follow 30]       measures instead the cost of following the head for this number of blocks
 *     [--write-docs yes]
 */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { REPLAY_SHAPES, slicedShape } from './replay/index.js';
import { measureFollow } from './providers/follow.js';
import { Oracle, wrongDays, wrongRows } from './providers/oracle.js';
import { type ChainName, PROFILES, type Profile, profilesNamed } from './providers/profiles.js';
import { ProviderProcess } from './providers/provider-process.js';
import { type Round, shortTableOf, tableOf } from './providers/report.js';
import { type IndexerRun, runFloor, runIndexer, type RunPlace } from './providers/runs.js';
import { BenchServer } from './support/bench-database.js';
import { fixed, table } from './support/figures.js';
import { numberOf, readOptions } from './support/options.js';
import { say } from './support/progress.js';
import { report, REPORT_OPTIONS } from './support/report.js';

const FOLDER = join('.data', 'bench', 'providers');
const LEAST_PATIENCE_SECONDS = 30;
const PATIENCE_IN_FLOORS = 4;

const options = readOptions({
  profiles: '',
  chains: 'sparse,dense,issue',
  runs: '1',
  limit: '120',
  settings: '{}',
  slice: '0',
  'log-times': 'no',
  follow: '0',
  ...REPORT_OPTIONS,
});
const settings = JSON.parse(options.settings) as Record<string, string>;

interface Row {
  readonly profile: Profile;
  readonly slice: number;
}

async function main(): Promise<void> {
  const chains = options.chains.split(',').map(chainNamed);
  const isNamed = options.profiles !== '';
  const profiles = isNamed ? profilesNamed(options.profiles) : PROFILES;
  await mkdir(FOLDER, { recursive: true });
  const server = await BenchServer.start();
  const rounds: Round[] = [];
  try {
    const blocks = numberOf(options.follow);
    if (blocks > 0) {
      await measureFollow(server, { blocks, folder: FOLDER, settings });
      return;
    }
    for (const chain of chains) {
      const rows = profiles
        .filter((profile) => isNamed || profile.chains.includes(chain))
        .map((profile) => ({ profile, slice: sliceOf(profile, chain) }));
      rounds.push(...(await measureChain(server, chain, rows)));
    }
  } finally {
    await server.stop();
    if (rounds.length > 0) {
      const { head, rows } = tableOf(rounds);
      table(head, rows);
      await report(options, 'providers', { tables: [shortTableOf(rounds)] });
    }
  }
}

function chainNamed(name: string): ChainName {
  if (name in REPLAY_SHAPES) return name as ChainName;
  throw new Error(`There is no chain ${name}; there are ${Object.keys(REPLAY_SHAPES).join(', ')}`);
}

function sliceOf({ slices }: Profile, chain: ChainName): number {
  const wanted = numberOf(options.slice);
  return wanted > 0 ? wanted : (slices?.[chain] ?? 1);
}

/** Measures all rows of a chain. Rows with the same slice share a provider process. */
async function measureChain(
  server: BenchServer,
  chain: ChainName,
  rows: readonly Row[],
): Promise<Round[]> {
  const rounds: Round[] = [];
  for (const slice of new Set(rows.map((row) => row.slice))) {
    const logTimestamps = options['log-times'] === 'yes';
    const shape = { ...slicedShape(REPLAY_SHAPES[chain], slice), logTimestamps };
    const name = slice === 1 ? chain : `${chain} / ${slice}`;
    say(`Chain ${name}: ${shape.events} events in ${shape.blocks} blocks …`);
    const oracle = new Oracle(shape);
    const logFile = join(FOLDER, 'provider.log');
    const providers = await ProviderProcess.start(shape, { logFile });
    try {
      for (const { profile } of rows.filter((row) => row.slice === slice))
        for (let run = 0; run < numberOf(options.runs); run++) {
          say(`${profile.name}, ${name}: ${profile.what}`);
          const round = await measureRound(server, profile, { oracle, providers });
          rounds.push({ ...round, name: profile.name, chain: name });
        }
    } finally {
      await providers.stop();
    }
  }
  return rounds;
}

function measureRound(
  server: BenchServer,
  profile: Profile,
  { oracle, providers }: { readonly oracle: Oracle; readonly providers: ProviderProcess },
): Promise<Omit<Round, 'name' | 'chain'>> {
  return server.withDatabase(async (databaseUrl, client) => {
    const { endpoints, floorEndpoints = endpoints } = profile;
    const place = { chain: oracle.chain, databaseUrl, client, folder: FOLDER };
    const floor = await runFloor(
      { ...place, urls: await providers.behave(floorEndpoints) },
      profile,
    );
    const floorBill = await providers.bill();
    say(`  floor ${fixed(floor.seconds)} s, ${floorBill.calls} calls`);
    const urls = await providers.behave(endpoints);
    const patience = Math.max(LEAST_PATIENCE_SECONDS, PATIENCE_IN_FLOORS * floor.seconds);
    const limit = Math.min(numberOf(options.limit), patience);
    const indexer = await runIndexer({ ...place, urls }, settings, limit);
    const bill = await providers.bill();
    say(`  indexer ${fixed(indexer.seconds)} s, ${bill.calls} calls: ${indexer.outcome}`);
    await oracle.load(client);
    const wrong = await wrongRows(client, 'bench', oracle.chain.head);
    if (wrong > 0) throw new Error(`${wrong} rows of the floor are wrong`);
    return { floor, floorBill, indexer, bill, verdict: await verdictOf(place, indexer) };
  });
}

async function verdictOf({ client }: Omit<RunPlace, 'urls'>, run: IndexerRun): Promise<string> {
  const rows = await wrongRows(client, 'staking', run.head);
  const days = await wrongDays(client, run.head);
  const rights = rows + days === 0 ? 'right' : `WRONG: ${rows} rows, ${days} days`;
  switch (run.outcome) {
    case 'synced':
      return rights;
    case 'unfinished':
      return `not finished, ${Math.round(run.head / run.seconds)} blocks/s, so far ${rights}`;
    case 'stopped':
      return `stopped at block ${run.head} (${rights}): ${run.reason}`;
  }
}

await main();
