/**
 *   npm run bench                      lists the benchmarks
 *   npm run bench -- NAME [options]    runs one benchmark; its options are in the header of its file
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

const BENCHMARKS = new Map([
  ['backfill', 'the CPU of the indexer for an event, beside the least that writes the same rows'],
  ['providers', 'a first sync from providers as they are, beside the floor that each allows'],
  ['api', 'the API beside a bare server that signs a constant body'],
  ['batch', 'a batch of wallets beside as many single requests'],
  ['size', 'the indexer at the size that people have: memory, CPU, kills, and every balance'],
  ['gate', 'whether the benchmarks with a floor are as good as when their marks were accepted'],
  ['redemptions', 'redemptions a second beside bare SQL round trips, a worker killed half-way'],
  ['console', 'the operators’ overview with a million redemptions, beside a bare statement'],
  ['pooling', 'what a statement takes by its name, without one, through PgBouncer and HAProxy'],
  ['pages', 'what Lighthouse says of a web page of the running system'],
  [
    'days',
    'sealing days of a million wallets beside hashing alone; their proofs and lists, and reads beside',
  ],
  ['interval-form', 'what it costs that intervals cannot overlap, in three forms'],
]);

const [name, ...args] = process.argv.slice(2);
if (name === undefined || !BENCHMARKS.has(name)) {
  console.log('npm run bench -- NAME [options]\n');
  for (const [known, what] of BENCHMARKS) console.log(`  ${known.padEnd(16)} ${what}`);
  process.exitCode = name === undefined ? 0 : 1;
} else {
  const file = join(import.meta.dirname, `${name}.js`);
  const child = spawn(process.execPath, [file, ...args], { stdio: 'inherit' });
  const [code] = (await once(child, 'exit')) as [number | null];
  process.exitCode = code ?? 1;
}
