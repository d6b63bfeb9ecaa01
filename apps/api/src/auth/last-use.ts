import { Inject, Injectable } from '@nestjs/common';
import { PartnerStore } from '#libs/db';
import { type CredentialId } from '#libs/domain';
import { CLOCK, type Clock, type Logger, messageOf, TtlCache } from '#libs/platform';
import { LOGGER } from '#libs/service';

const AT_MOST_EVERY_MS = 60_000;
const MAX_CREDENTIALS = 10_000;

/**
 * Records which credentials are in use, each at most once a minute. No request waits for the write, and a failure is
 * only logged.
 */
@Injectable()
export class LastUse {
  private readonly noted: TtlCache<CredentialId, true>;

  constructor(
    private readonly partners: PartnerStore,
    @Inject(CLOCK) clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {
    this.noted = new TtlCache({ clock, ttlMs: AT_MOST_EVERY_MS, max: MAX_CREDENTIALS });
  }

  note(credentialId: CredentialId): void {
    if (this.noted.get(credentialId)) return;
    // Set before the write, so that a failing database is not asked more often.
    this.noted.set(credentialId, true);
    this.partners.noteUse(credentialId).catch((error: unknown) => {
      const reason = messageOf(error);
      this.logger.debug({ credentialId, reason }, 'The use of a credential was not noted');
    });
  }
}
