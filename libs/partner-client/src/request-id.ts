import { randomBytes } from 'node:crypto';
import { mintUuidV7, UUID_V7_RANDOM_BYTES, type UuidV7, uuidV7Ms } from '#libs/domain';
import { type Clock } from '#libs/platform';

/**
 * Oldest id that is still sent. A process may be halted between the commit of an id and its use; a partner takes an id for 300 s
 * from its own clock, and what rests on that (no copy of a call does anything ten minutes later) needs us to send early.
 */
const LONGEST_AGE_MS = 60_000;

/** A new `X-API-REQUEST`, one for each attempt: a UUIDv7 of this moment. */
export function newRequestId(clock: Clock): UuidV7 {
  return mintUuidV7(clock.nowMs(), randomBytes(UUID_V7_RANDOM_BYTES));
}

/** Whether the id was minted long ago, or by another clock. */
export function isStale(id: UuidV7, clock: Clock): boolean {
  return Math.abs(clock.nowMs() - uuidV7Ms(id)) > LONGEST_AGE_MS;
}
