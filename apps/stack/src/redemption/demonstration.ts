/**
 * Two redemptions as users make them: over the HTTP interface of the service, with the local chain as their wallet. One
 * is claimed, the other is not and times out. Finality, which usually takes two minutes, is reached at once by mining,
 * since the chain is local.
 */
import { randomUUID } from 'node:crypto';
import { type Address } from '#libs/domain';
import { messageOf } from '#libs/platform';
import { type LocalChain } from '../chain/local-chain.js';
import { type StackChain } from '../chain/start-chain.js';
import { grouped, type StackContext } from '../context.js';
import { type StackPartner } from '../data/stack-file.js';
import { operator, type OperatorSettings } from '../programs.js';
import { localUrl } from '../services.js';
import { RedemptionFollower, Timeline, timeOf } from './redemption-follower.js';
import { isFinal, RedemptionUser } from './redemption-user.js';
import { StackError } from '../stack.error.js';

interface Participants {
  readonly partner: StackPartner;
  readonly local: LocalChain;
  readonly operatorSettings: OperatorSettings;
}

const POINTS = 5_000;
const TOKEN = 10n ** 18n;
/** Interval of the attempts to finish an open redemption of an earlier start, and their time limit. */
const LEFTOVER_EVERY_MS = 3_000;
const LEFTOVER_LIMIT_MS = 120_000;

class Demonstration {
  constructor(
    private readonly context: StackContext,
    private readonly participants: Participants,
  ) {}

  async claimed(wallet: Address): Promise<void> {
    const { local, partner } = this.participants;
    const title = `Redemption 1: ${grouped(POINTS)} points become tokens (times in UTC)`;
    const { user, timeline, course } = await this.#begin(wallet, title);
    const before = await local.tokensOf(wallet);
    const redemption = await course.redeem(partner.name, POINTS, randomUUID());
    if (redemption.voucher === null) throw new StackError('There is no voucher.');
    const hash = await user.claim(redemption.voucher);
    await local.mine();
    timeline.event('sent', `the wallet sent the claim: transaction ${hash}`);
    await local.finalise();
    timeline.event('mined', 'the claim and enough blocks after it to be final');
    await course.reach(redemption.id, 'claimed');
    await this.#confirmed(redemption.id, timeline, course);
    const tokens = ((await local.tokensOf(wallet)) - before) / TOKEN;
    timeline.event('tokens', `the wallet has ${grouped(tokens)} tokens more`);
    await this.#showPoints(user, timeline);
    timeline.end();
  }

  /** Leaves the voucher unused, so that the points come back. */
  async timedOut(wallet: Address): Promise<void> {
    const { clock } = this.context;
    const { local, partner } = this.participants;
    const title = `Redemption 2: not claimed, so ${grouped(POINTS)} points come back (times in UTC)`;
    const { user, timeline, course } = await this.#begin(wallet, title);
    const redemption = await course.redeem(partner.name, POINTS, randomUUID());
    await this.#showPoints(user, timeline);
    const deadlineMs = (redemption.voucher?.deadline ?? 0) * 1000;
    const limitMs = deadlineMs - clock.nowMs() + 60_000;
    await course.until(
      `the voucher has expired, at ${timeOf(deadlineMs)}`,
      () => Promise.resolve(clock.nowMs() >= deadlineMs + 1_000),
      limitMs,
    );
    await local.finalise();
    timeline.event('expired', 'a final block is later than the deadline: it can never be claimed');
    await course.reach(redemption.id, 'reverted');
    await this.#confirmed(redemption.id, timeline, course);
    await this.#showPoints(user, timeline);
    timeline.end();
  }

  async #begin(wallet: Address, title: string) {
    const { screen, clock, signal, settings } = this.context;
    const { local, partner } = this.participants;
    const url = localUrl(settings.redemptionPort);
    const timeline = new Timeline(screen, clock, title);
    const user = new RedemptionUser({ url, wallet, chain: local.chain, clock, signal });
    const course = new RedemptionFollower(user, timeline, clock, signal);
    await user.signIn();
    timeline.event('signed in', `${user.wallet}, with Sign-In with Ethereum`);
    await course.until('the service knows the partner', async () =>
      (await user.partners()).includes(partner.name),
    );
    await this.#endLeftover(user, timeline, course);
    await this.#showPoints(user, timeline);
    return { user, timeline, course };
  }

  /** Cancels the wallet's open redemption of an interrupted earlier start, since a wallet has at most one. */
  async #endLeftover(
    user: RedemptionUser,
    timeline: Timeline,
    course: RedemptionFollower,
  ): Promise<void> {
    const { clock } = this.context;
    let newest = await user.newest();
    if (newest === undefined || isFinal(newest)) return;
    timeline.event(
      'left over',
      `redemption ${newest.id} of an earlier start is still open: cancels it`,
    );
    await user.cancel(newest.id);
    let triedMs = -Infinity;
    const ended = async (): Promise<boolean> => {
      if (clock.nowMs() - triedMs >= LEFTOVER_EVERY_MS) {
        triedMs = clock.nowMs();
        await this.participants.local.finalise();
      }
      newest = await user.newest();
      return newest === undefined || isFinal(newest);
    };
    await course.until('the earlier redemption has ended', ended, LEFTOVER_LIMIT_MS);
    timeline.event('left over', `it is ${newest.status}`);
  }

  /** Reads the operator's view, since the service does not show users its confirmation to the partner. */
  async #confirmed(id: string, timeline: Timeline, course: RedemptionFollower): Promise<void> {
    const { operatorSettings } = this.participants;
    await course.until('the partner has its confirmation', async () => {
      const shown = await operator(['redemption', 'show', id, '--json'], operatorSettings);
      const { confirmation } = JSON.parse(shown) as {
        readonly confirmation: { readonly deliveredAt: string | null } | null;
      };
      return (confirmation?.deliveredAt ?? null) !== null;
    });
    timeline.event('confirmed', 'the partner knows the outcome');
  }

  async #showPoints(user: RedemptionUser, timeline: Timeline): Promise<void> {
    const { name } = this.participants.partner;
    timeline.event('points', `${grouped(await user.points(name))} at ${name}`);
  }
}

interface DemonstratedStack {
  readonly partner: StackPartner;
  readonly chain: StackChain;
  readonly operatorSettings: OperatorSettings;
}

/** Shows two redemptions on a local chain. If one fails, the screen shows the reason, and the services continue. */
export async function demonstrate(
  context: StackContext,
  { partner, chain: { local, redeemers }, operatorSettings }: DemonstratedStack,
): Promise<void> {
  const { screen, signal, paths } = context;
  // The last redeemer takes no part: it is left for trying by hand.
  const [first, second] = redeemers;
  if (local === undefined || first === undefined || second === undefined) return;
  const demonstration = new Demonstration(context, { partner, local, operatorSettings });
  try {
    await demonstration.claimed(first);
    await demonstration.timedOut(second);
    screen.lines(
      '  Both are done. docs/partners/quick-start.md, step 6, shows how to do the same by hand.',
      '',
    );
  } catch (error) {
    // An interrupt makes the demonstration fail too.
    if (signal.aborted) return;
    const reason = messageOf(error);
    screen.lines(
      '',
      `  THE DEMONSTRATION FAILED: ${reason}`,
      `  The stack stays up; the logs in ${paths.logs}/ may tell more.`,
      '',
    );
  }
}
