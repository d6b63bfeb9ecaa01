import { Inject, Injectable } from '@nestjs/common';
import { PartnerStore } from '#libs/db';
import { CLOCK, type Clock, type Logger, TtlCache } from '#libs/platform';
import { LOGGER } from '#libs/service';

const AT_MOST_EVERY_MS = 60_000;
const MAX_CREDENTIALS = 10_000;

/** Notes which credentials are in use, each at most once a minute, and never in a request's way: what fails is only logged. */
@Injectable()
export class LastUse {
  private readonly noted: TtlCache<string, true>;

  constructor(
    private readonly partners: PartnerStore,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.noted = new TtlCache({ clock, ttlMs: AT_MOST_EVERY_MS, max: MAX_CREDENTIALS });
  }

  note(credentialId: string): void {
    if (this.noted.get(credentialId)) return;
    // Also where the writing fails: a database in trouble is not asked more often for this.
    this.noted.set(credentialId, true);
    this.partners.noteUse(credentialId).catch((error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error);
      this.logger.debug({ credentialId, reason }, 'The use of a credential was not noted');
    });
  }
}
