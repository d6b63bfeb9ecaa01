import { type FastifyRequest } from 'fastify';
import { parseAddress } from '#libs/domain';
import { type SnapshotsService } from './snapshots.service.js';
import { type KeptPart } from './kept-part.js';

const PATH = '/api/staking/snapshots?';
const WALLET = /[?&]walletAddress=(0x[0-9a-fA-F]{40})(?:&|$)/;

/**
 * What is started for a known caller's request in the same breath as the question whether its caller may go on: looking for the wallet's
 * part in Redis. Only a guess from the URL; the request is still read properly, and what does not fit is not used.
 */
export function preparation(
  snapshots: SnapshotsService | undefined,
): (request: FastifyRequest) => Promise<KeptPart | undefined> | undefined {
  if (snapshots === undefined) return () => undefined;
  return ({ raw: { url = '' } }) => {
    if (!url.startsWith(PATH)) return undefined;
    const wallet = parseAddress(WALLET.exec(url)?.[1] ?? '');
    return wallet && snapshots.prepare(wallet);
  };
}
