/**
 * Seals the due days once, as the leading indexer does. The parent process may kill this one at any moment.
 *
 * node dist/apps/indexer/test/seal.program.js DATABASE_URL RPC_URL FIRST_BLOCK
 */
import 'reflect-metadata';
import { createDatabase, IndexStore } from '#libs/db';
import { IndexStatus } from '../src/health/index-status.js';
import { SealBench } from './seal-bench.js';

const [databaseUrl = '', rpcUrl = '', firstBlock = ''] = process.argv.slice(2);
const database = await createDatabase({ url: databaseUrl, applicationName: 'seal-program' });
const status = new IndexStatus();
const fence = await new IndexStore(database).takeLead();
status.phase = 'following';
status.leads({ fence, signal: new AbortController().signal });
const bench = new SealBench({
  ...{ database, databaseUrl, rpcUrls: [rpcUrl], status },
  firstBlock: BigInt(firstBlock),
});
await bench.service.tick();
const failures = bench.log.filter(({ level }) => level === 'error' || level === 'warn');
await database.close();
if (failures.length > 0) {
  console.error(JSON.stringify(failures));
  process.exitCode = 1;
}
