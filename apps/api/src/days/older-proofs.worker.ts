/**
 * Builds trees of older days in a thread of its own with its own database connection, so that no other request waits.
 */
import 'reflect-metadata';
import { parentPort, workerData } from 'node:worker_threads';
import { createDatabase, DayLows } from '#libs/db';
import { type Address, LowmarkError, type PartnerId } from '#libs/domain';
import { createKeccak256 } from '#libs/keccak';
import { messageOf, systemClock } from '#libs/platform';
import { DayTrees, type SealedTree, type TreeProof } from './day-trees.js';

export interface OlderProofsData {
  readonly url: string;
  readonly isPooled: boolean;
  readonly maxBytes: number;
}

export interface OlderProofsQuestion {
  readonly id: number;
  readonly sealed: SealedTree;
  readonly wallet: Address;
  readonly partner: PartnerId;
}

export type OlderProofsReply =
  | { readonly id: number; readonly found: TreeProof; readonly failure?: never }
  | { readonly id: number; readonly found?: never; readonly failure: Failure };

/** `retryable` where the database caused the failure, and not the day. */
export interface Failure {
  readonly message: string;
  readonly retryable: boolean;
}

const { url, isPooled, maxBytes } = workerData as OlderProofsData;
const keccak = await createKeccak256();
const applicationName = 'lowmark-older-proofs';
const database = await createDatabase({
  ...{ url, isPooled, applicationName, poolSize: 1, readOnly: true },
});
const trees = new DayTrees(
  ({ stakeSet, day }) => new DayLows(database.inSet(stakeSet)).all(day),
  keccak,
  maxBytes,
  systemClock,
);

parentPort?.on('message', (question: OlderProofsQuestion) => {
  void answer(question).then((reply) => {
    parentPort?.postMessage(reply);
  });
});

async function answer({
  id,
  sealed,
  wallet,
  partner,
}: OlderProofsQuestion): Promise<OlderProofsReply> {
  try {
    return { id, found: await trees.prove(sealed, wallet, partner) };
  } catch (error) {
    const retryable = error instanceof LowmarkError && error.retryable;
    return {
      id,
      failure: { message: messageOf(error), retryable },
    };
  }
}
