import { Inject, Injectable } from '@nestjs/common';
import { SignInLog, type SignInNote } from '#libs/db';
import { RetryableError } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';

/** Statuses of a sign-in that is refused; others are of a request that is none, or of something that is away. */
const REFUSED = [401, 403];

/** Operators' sign-ins in the log of who did what, the refused ones too: of these as many in an hour as `SignInLog` takes. */
@Injectable()
export class SignInAudit {
  private unnoted = 0;

  constructor(
    private readonly log: SignInLog,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @param actor `operator:NAME` */
  note(actor: string, note: SignInNote & { readonly role: string }): Promise<void> {
    return this.log.note(actor, note);
  }

  /** @param error why it was refused; what is no refusal is not noted */
  async noteRefused(error: unknown, note: SignInNote & { readonly who?: string | undefined }) {
    if (!(error instanceof HttpProblem) || !REFUSED.includes(error.status)) return;
    const refused = { ...note, code: error.code, unnoted: this.unnoted };
    try {
      const isNoted = await this.log.noteRefused(refused, this.clock.nowMs());
      this.unnoted = isNoted ? 0 : this.unnoted + 1;
    } catch (failure) {
      // The refusal is what the person has to know.
      if (!(failure instanceof RetryableError)) throw failure;
      this.unnoted += 1;
    }
  }
}
