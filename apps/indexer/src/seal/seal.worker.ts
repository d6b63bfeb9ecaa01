/**
 * Seals days in a thread of its own with its own database connection, so that the loop that follows the chain never
 * waits for this work.
 */
import 'reflect-metadata';
import { tmpdir } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { createDatabase, DayLows, SealWriter, StakeSetStore } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { messageOf, version } from '#libs/platform';
import { type DayToSeal, DaySealer, SealSumError } from './day-sealer.js';
import { type SealReply, type SealThreadData } from './seal-thread.js';

const { url, stakeSet, applicationName } = workerData as SealThreadData;
const database = await createDatabase({ url, applicationName, poolSize: 1 });
const set = await new StakeSetStore(database).open(stakeSet);
const sealer = new DaySealer({
  dayLows: new DayLows(set),
  writer: new SealWriter(set),
  keccak: await createKeccak256(),
  software: version(),
  folder: tmpdir(),
});

parentPort?.on('message', (work: DayToSeal) => {
  void sealed(work).then((reply) => {
    parentPort?.postMessage(reply);
  });
});

async function sealed(work: DayToSeal): Promise<SealReply> {
  try {
    return { outcome: await sealer.seal(work) };
  } catch (error) {
    const code = error instanceof LowmarkError ? error.code : 'SEAL_FAILED';
    const difference = error instanceof SealSumError ? error.difference : undefined;
    return { failure: { code, message: messageOf(error), difference } };
  }
}
