import { Inject, Injectable } from '@nestjs/common';
import { addressKey } from '#libs/cache';
import { SignInLog, type SignInNote } from '#libs/db';
import { RetryableError } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';

/** Statuses of a refused sign-in. Other statuses mean a malformed request or an unavailable dependency. */
const REFUSED = [401, 403];

/** Writes sign-ins of operators to the audit log, and refused sign-ins up to the hourly limits of `SignInLog`. */
@Injectable()
export class SignInAudit {
  private refusalsNotLogged = 0;

  constructor(
    private readonly log: SignInLog,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @param actor `operator:NAME` */
  note(actor: string, note: SignInNote & { readonly role: string }): Promise<void> {
    return this.log.note(actor, note);
  }

  /** @param error noted only where it is a refusal of the sign-in */
  async noteRefused(error: unknown, note: SignInNote & { readonly who?: string | undefined }) {
    if (!(error instanceof HttpProblem) || !REFUSED.includes(error.status)) return;
    // Taken before the write, so that no concurrent refusal reports them as well.
    const unnoted = this.refusalsNotLogged;
    this.refusalsNotLogged = 0;
    const refused = { ...note, network: addressKey(note.from), unnoted, code: error.code };
    let isNoted = false;
    try {
      isNoted = await this.log.noteRefused(refused, this.clock.nowMs());
    } catch (failure) {
      // The caller reports the refusal to the person even where the database cannot note it.
      if (!(failure instanceof RetryableError)) throw failure;
    } finally {
      if (!isNoted) this.refusalsNotLogged += unnoted + 1;
    }
  }
}
