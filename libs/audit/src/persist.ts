import { AllEndpointsFailedError } from '#libs/chain';
import { type AuditParts } from './audit-parts.js';

const ATTEMPTS = 5;
const LONGEST_WAIT_MS = 10_000;

/** An endpoint that has had enough for the moment does not end a long audit. */
export async function persist<T>(
  { sleep, signal }: Pick<AuditParts, 'sleep' | 'signal'>,
  ask: () => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof AllEndpointsFailedError) || attempt >= ATTEMPTS) throw error;
      await sleep(Math.min(Math.max(error.retryAfterMs, 250 * attempt), LONGEST_WAIT_MS));
    }
  }
}
