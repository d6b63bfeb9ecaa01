import { Inject, Injectable } from '@nestjs/common';
import { type GrantedRole, GrantedRoleStore, type OperatorRole } from '#libs/db';
import { CLOCK, type Clock } from '#libs/platform';
import { ConsoleSettings } from '../console.env.js';
import { isWalletSubject, roleNow } from './operators.js';
import { SESSION_HOURS } from './session-hours.js';

const HOUR_MS = 3_600_000;

/**
 * The role that an operator has now, by the settings and by the operator's newest sign-in: an operator may act or have
 * others act only while having the role.
 */
@Injectable()
export class OperatorRights {
  constructor(
    private readonly granted: GrantedRoleStore,
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Records what a sign-in said of the role of a person. @param role undefined: no operator */
  async learn(subject: string, role: OperatorRole | undefined): Promise<void> {
    if (isWalletSubject(subject)) return;
    const nowMs = this.clock.nowMs();
    await (role === undefined
      ? this.granted.withdraw(subject, nowMs)
      : this.granted.grant(subject, role, nowMs));
  }

  /** The role of a person who may be signed out. @returns undefined where the person is no operator any more */
  async find(subject: string): Promise<OperatorRole | undefined> {
    return this.roleNow(subject, await this.granted.find(subject));
  }

  /** The same, with what is known of the person's newest sign-in. */
  roleNow(subject: string, known: GrantedRole | undefined): OperatorRole | undefined {
    if (isWalletSubject(subject)) return roleNow(subject, undefined, this.settings);
    return roleNow(subject, known?.role ?? undefined, this.settings);
  }

  /**
   * The same, where the sign-in gives a role no longer than it gives a session. Only the issuer knows who is still in a
   * group.
   */
  roleOfRecentSignIn(subject: string, known: GrantedRole | undefined): OperatorRole | undefined {
    const untilMs = (known?.knownAt.getTime() ?? 0) + SESSION_HOURS * HOUR_MS;
    const isRecent = isWalletSubject(subject) || this.clock.nowMs() < untilMs;
    return isRecent ? this.roleNow(subject, known) : undefined;
  }
}
