/**
 * Seals days in a thread of its own with its own database connection, so that the loop that follows the chain never
 * waits for this work.
 */
import 'reflect-metadata';
import { tmpdir } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createDatabase, DayLows, SealWriter, StakeSetStore } from '#libs/db';
import { createKeccak256 } from '#libs/keccak';
import { version } from '#libs/platform';
import { DaySealer, type DayToSeal } from './day-sealer.js';
import { ScratchFolder } from './scratch-file.js';
import { replyOf, type SealThreadData } from './seal-thread.js';

const { url, stakeSet, applicationName } = workerData as SealThreadData;
const database = await createDatabase({ url, applicationName, poolSize: 1 });
const set = await new StakeSetStore(database).open(stakeSet);
const sealer = new DaySealer({
  dayLows: new DayLows(set),
  writer: new SealWriter(set),
  keccak: await createKeccak256(),
  software: version(),
  folder: new ScratchFolder(tmpdir()),
});

parentPort?.on('message', (work: DayToSeal) => {
  void replyOf(sealer, work).then((reply) => {
    parentPort?.postMessage(reply);
  });
});
