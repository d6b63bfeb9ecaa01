import { Inject, Injectable } from '@nestjs/common';
import { DAYS_AT_ONCE, type HeldRoot, type RegistrySight } from '#libs/chain';
import { type Publication, PublicationStore, PublicationViews, PublishableDays } from '#libs/db';
import { dayText } from '#libs/domain';
import { CLOCK, type Clock, type Logger } from '#libs/platform';
import { LOGGER } from '#libs/service';
import { HourlyAlerts } from '../observe/hourly-alerts.js';
import {
  currentContent,
  DAYS_PLANNED,
  planFrom,
  type PlanRules,
  stepOf,
} from './publication-plan.js';
import { PublicationSender } from './publication-sender.js';
import { RegistryLink } from './registry-link.js';
import { RegistryTerms } from './registry-terms.js';

interface Candidate {
  readonly publication: Publication;
  /**
   * True where nothing may be signed: the publication is mined, or its day is too fresh or being worked out again.
   */
  readonly isHeld: boolean;
}

/**
 * Publishes the roots of sealed days, in order, one transaction at a time. Each poll starts from the rows and from what
 * the registry holds, not from what was sent, so that any process can continue after a crash.
 */
@Injectable()
export class RegistryPublisher {
  constructor(
    private readonly terms: RegistryTerms,
    private readonly link: RegistryLink,
    private readonly sender: PublicationSender,
    private readonly store: PublicationStore,
    private readonly views: PublicationViews,
    private readonly days: PublishableDays,
    private readonly alerts: HourlyAlerts,
    @Inject(CLOCK) private readonly clock: Clock,
    @Inject(LOGGER) private readonly logger: Logger,
  ) {}

  /**
   * Polls the registry once, by one process at a time.
   * @returns false where another process polls
   * @throws LowmarkError where publishing is not possible now; nothing is lost, and the next poll tries again
   */
  async look(): Promise<boolean> {
    const polled = await this.store.exclusively((lease) => this.lookAlone(lease));
    return polled !== undefined;
  }

  private async lookAlone(lease: AbortSignal): Promise<void> {
    await this.plan();
    await this.tellRevised();
    const candidates = await this.refresh(await this.store.open(DAYS_AT_ONCE));
    if (candidates.length === 0) return;
    const days = candidates.map(({ publication }) => publication.day);
    const sight = await this.link.reader.look(days, this.link.account.address);
    let isUnderWay = false;
    for (const [place, candidate] of candidates.entries()) {
      lease.throwIfAborted();
      const root = sight.roots[place];
      if (root) isUnderWay = (await this.act(candidate, { root, sight, isUnderWay })) || isUnderWay;
    }
  }

  /** Stores the publications that are possible now. */
  private async plan(): Promise<void> {
    const { firstDay, stakeSet } = this.terms;
    const last = (await this.store.lastDay()) ?? -1;
    const first = await this.days.first(Math.max(firstDay, last + 1));
    if (first === undefined) return;
    const range = await this.days.range(first, first + DAYS_PLANNED - 1);
    for (const content of planFrom(first, range, this.rules())) {
      await this.store.add(content, stakeSet, this.clock.nowMs());
    }
  }

  /** Brings publications that are not on chain yet to the newest revision of their day. */
  private async refresh(open: readonly Publication[]): Promise<Candidate[]> {
    const unpublished = open.filter(({ status }) => status !== 'mined');
    const [first, last] = [unpublished[0]?.day, unpublished.at(-1)?.day];
    if (first === undefined || last === undefined) return open.map(held);
    const range = await this.days.range(first, last);
    const candidates: Candidate[] = [];
    for (const publication of open) {
      const content = currentContent(publication.day, range, this.rules());
      if (content === undefined || publication.status === 'mined') {
        candidates.push(held(publication));
        continue;
      }
      if (content.root === publication.root) candidates.push({ publication, isHeld: false });
      else if (await this.store.revise(content)) {
        this.logger.info({ day: dayText(content.day) }, 'Sealed again before it was published');
        candidates.push({ publication: { ...publication, ...content }, isHeld: false });
      }
    }
    return candidates;
  }

  /** @returns whether a transaction is under way, for which the next publication waits */
  private async act(
    { publication, isHeld }: Candidate,
    at: { root: HeldRoot; sight: RegistrySight; isUnderWay: boolean },
  ): Promise<boolean> {
    const { root, sight, isUnderWay } = at;
    const { day, sender } = publication;
    const nowMs = this.clock.nowMs();
    const rules = {
      account: this.link.account.address,
      finalNonce: sight.finalNonce,
      replaceMs: this.terms.replaceMs,
      nowMs,
    };
    const step = stepOf(publication, root, rules);
    switch (step) {
      case 'final':
        await this.store.final(day, nowMs);
        this.logger.info({ day: dayText(day), root: publication.root }, 'Published');
        return false;
      case 'different':
        await this.refuse(publication, root, nowMs);
        return false;
      case 'mined':
        if (publication.status !== 'mined') await this.store.mined(day);
        return false;
      case 'wait':
        return sender !== undefined;
      case 'unsigned':
        await this.store.unsigned(day);
        return true;
      case 'sign':
        if (isUnderWay || isHeld) return false;
        return this.signNew(publication, sight);
      case 'send':
      case 'replace':
        await this.pursue({ publication, isHeld }, step);
        return true;
    }
  }

  /**
   * Signs under the nonce that all endpoints name, where it is above the nonces of all transactions that are not final.
   */
  private async signNew(publication: Publication, sight: RegistrySight): Promise<boolean> {
    const [nonce, ...others] = sight.latestNonces;
    if (nonce === undefined || others.some((other) => other !== nonce)) return true;
    const highest = await this.store.highestNonce(this.link.account.address);
    // A transaction of this nonce or a later one is not final. It is for another registry, or the endpoints lag behind.
    if (highest !== undefined && highest >= nonce) return true;
    await this.sender.signNew(publication, nonce);
    return true;
  }

  private async pursue(
    { publication, isHeld }: Candidate,
    step: 'send' | 'replace',
  ): Promise<void> {
    const nonce = publication.sender?.nonce;
    if (nonce === undefined) return;
    if (publication.status === 'mined') await this.store.takenBack(publication.day);
    // The signed transaction may be mined at any time. While its day is in doubt, no more is spent on it.
    if (isHeld && publication.status !== 'mined') return;
    if (step === 'replace') await this.sender.replace(publication, nonce);
    else await this.sender.sendAgain(publication, nonce);
  }

  private async refuse(
    { day, root }: Publication,
    { final }: HeldRoot,
    nowMs: number,
  ): Promise<void> {
    const reason = `the registry holds ${final ?? 'nothing'}, and it was to be ${root}`;
    if (!(await this.store.refused(day, reason, nowMs))) return;
    const detail = `${dayText(day)}: ${reason}. It can never be changed: docs/operating/sealed-days.md#day-roots-on-chain says what to do.`;
    const alert = { severity: 'critical', code: 'registry-root-differs', detail } as const;
    this.alerts.raise(alert, String(day));
  }

  /** Raises an alert for each day that was sealed again, with another root, after it was published. */
  private async tellRevised(): Promise<void> {
    for (const day of await this.views.revised()) {
      const detail = `${dayText(day)}: sealed again with another root after it was published, which can never be changed. docs/operating/sealed-days.md#day-roots-on-chain says what to do.`;
      const alert = { severity: 'critical', code: 'registry-day-revised', detail } as const;
      this.alerts.raise(alert, String(day));
    }
  }

  private rules(): PlanRules {
    const { delayMs } = this.terms;
    return { delayMs, nowMs: this.clock.nowMs() };
  }
}

function held(publication: Publication): Candidate {
  return { publication, isHeld: true };
}
