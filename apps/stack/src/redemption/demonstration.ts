/**
 * Two redemptions, as users would make them: over the HTTP interface of the service, with the local chain as their wallet.
 * One is claimed, the other is not and times out. What usually takes two minutes, that a block becomes final, is made short:
 * it is our chain.
 */
import { randomUUID } from 'node:crypto';
import { type Address } from '#libs/domain';
import { type LocalChain } from '../chain/local-chain.js';
import { grouped, type StackContext } from '../context.js';
import { type StackPartner } from '../data/stack-file.js';
import { operator, type OperatorSettings } from '../partner/operator.js';
import { Course, Timeline, timeOf } from './course.js';
import { isFinal, RedemptionUser } from './redemption-user.js';
import { StackError } from '../stack.error.js';

interface DemonstrationOptions {
  /** Of the redemption service. */
  readonly url: string;
  /** The name of the reference partner. */
  readonly partner: string;
  readonly local: LocalChain;
  /** Whether the partner has the confirmation of this redemption. */
  readonly isConfirmed: (redemptionId: string) => Promise<boolean>;
}

const POINTS = 5_000;
const TOKEN = 10n ** 18n;
/** How often an end is sought that another start has left over, and for how long. */
const LEFTOVER_EVERY_MS = 3_000;
const LEFTOVER_LIMIT_MS = 120_000;

class Demonstration {
  constructor(
    private readonly context: StackContext,
    private readonly options: DemonstrationOptions,
  ) {}

  /** From points to claimed tokens. */
  async claimed(wallet: Address): Promise<void> {
    const { local, partner } = this.options;
    const title = `Redemption 1: ${grouped(POINTS)} points become tokens (times in UTC)`;
    const { user, timeline, course } = await this.#begin(wallet, title);
    const before = await this.#tokensOf(wallet);
    const redemption = await course.redeem(partner, POINTS, randomUUID());
    if (redemption.voucher === null) throw new StackError('There is no voucher.');
    const hash = await user.claim(redemption.voucher);
    await local.mine();
    timeline.event('sent', `the wallet sent the claim: transaction ${hash}`);
    await local.finalise();
    timeline.event('mined', 'the claim and enough blocks after it to be final');
    await course.reach(redemption.id, 'claimed');
    await this.#confirmed(redemption.id, timeline, course);
    const tokens = (await this.#tokensOf(wallet)) - before;
    timeline.event('tokens', `the wallet has ${grouped(tokens)} tokens more`);
    await this.#showPoints(user, timeline);
    timeline.end();
  }

  /** The voucher is not used: the points come back. */
  async timedOut(wallet: Address): Promise<void> {
    const { clock } = this.context;
    const { local, partner } = this.options;
    const title = `Redemption 2: nobody claims, so ${grouped(POINTS)} points come back (times in UTC)`;
    const { user, timeline, course } = await this.#begin(wallet, title);
    const redemption = await course.redeem(partner, POINTS, randomUUID());
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
    const { screen, clock, signal } = this.context;
    const { url, local, partner } = this.options;
    const timeline = new Timeline(screen, clock, title);
    const user = new RedemptionUser({ url, wallet, chain: local.chain, clock, signal });
    const course = new Course(user, timeline, clock, signal);
    await user.signIn();
    timeline.event('signed in', `${user.wallet}, with Sign-In with Ethereum`);
    await course.until('the service knows the partner', async () =>
      (await user.partners()).includes(partner),
    );
    await this.#endLeftover(user, timeline, course);
    await this.#showPoints(user, timeline);
    return { user, timeline, course };
  }

  /** A wallet has one open redemption at most, and an earlier start may have ended in the middle of one. */
  async #endLeftover(user: RedemptionUser, timeline: Timeline, course: Course): Promise<void> {
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
        await this.options.local.finalise();
      }
      newest = await user.newest();
      return newest === undefined || isFinal(newest);
    };
    await course.until('the earlier redemption has ended', ended, LEFTOVER_LIMIT_MS);
    timeline.event('left over', `it is ${newest.status}`);
  }

  async #confirmed(id: string, timeline: Timeline, course: Course): Promise<void> {
    await course.until('the partner has its confirmation', () => this.options.isConfirmed(id));
    timeline.event('confirmed', 'the partner knows the outcome');
  }

  async #showPoints(user: RedemptionUser, timeline: Timeline): Promise<void> {
    const points = await user.points(this.options.partner);
    timeline.event('points', `${grouped(points)} at ${this.options.partner}`);
  }

  async #tokensOf(wallet: Address): Promise<bigint> {
    const { chain, contracts } = this.options.local;
    // balanceOf(address)
    const data = `0x70a08231${wallet.slice(2).padStart(64, '0')}`;
    const balance = await chain.rpc.call<string>(
      'eth_call',
      { to: contracts.token, data },
      'latest',
    );
    return BigInt(balance) / TOKEN;
  }
}

interface Participants {
  readonly partner: StackPartner;
  readonly local: LocalChain;
  /** Wallets with points; the last one is left for trying it by hand. */
  readonly redeemers: readonly Address[];
  readonly operatorSettings: OperatorSettings;
}

/** Shows two redemptions. Where they fail the screen says why, and the services go on. */
export async function demonstrate(
  context: StackContext,
  { partner, local, redeemers, operatorSettings }: Participants,
): Promise<void> {
  const { screen, signal, settings, paths } = context;
  const [first, second] = redeemers;
  if (first === undefined || second === undefined) return;
  const demonstration = new Demonstration(context, {
    url: `http://127.0.0.1:${settings.redemptionPort}`,
    partner: partner.name,
    local,
    isConfirmed: (id) => isConfirmed(id, operatorSettings),
  });
  try {
    await demonstration.claimed(first);
    await demonstration.timedOut(second);
    screen.lines('  Both are done. The README shows how to do the same by hand.', '');
  } catch (error) {
    // An interrupted demonstration fails as well.
    if (signal.aborted) return;
    const reason = error instanceof Error ? error.message : String(error);
    screen.lines(
      '',
      `  THE DEMONSTRATION FAILED: ${reason}`,
      `  The stack stays up; the logs in ${paths.logs}/ may tell more.`,
      '',
    );
  }
}

/** The operator's view: the service does not tell users what it told the partner. */
async function isConfirmed(id: string, settings: OperatorSettings): Promise<boolean> {
  const shown = JSON.parse(await operator(['redemption', 'show', id, '--json'], settings)) as {
    readonly confirmation: { readonly deliveredAt: string | null } | null;
  };
  return (shown.confirmation?.deliveredAt ?? null) !== null;
}
