import { LRUCache } from 'lru-cache';
import { type Clock, type Logger } from '#libs/platform';

const AT_MOST_EVERY_MS = 60_000;
const MAX_CREDENTIALS = 10_000;

/** Notes which credentials are in use, each at most once a minute, and never in a request's way: what fails is only logged. */
export class LastUse {
  private readonly notedAtMs = new LRUCache<string, number>({ max: MAX_CREDENTIALS });

  /** @param write stores that the credential is used now */
  constructor(
    private readonly write: (credentialId: string) => Promise<void>,
    private readonly clock: Clock,
    private readonly logger: Pick<Logger, 'debug'>,
  ) {}

  note(credentialId: string): void {
    const nowMs = this.clock.nowMs();
    const agoMs = nowMs - (this.notedAtMs.get(credentialId) ?? -Infinity);
    // A negative age: the clock was set back.
    if (agoMs >= 0 && agoMs < AT_MOST_EVERY_MS) return;
    // Also where the writing fails: a database in trouble is not asked more often for this.
    this.notedAtMs.set(credentialId, nowMs);
    this.write(credentialId).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.debug({ credentialId, reason }, 'The use of a credential was not noted');
    });
  }
}
