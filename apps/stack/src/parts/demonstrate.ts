import { type Address } from '#libs/domain';
import { type LocalChain } from '../chain/local-chain.js';
import { type StackContext } from '../context.js';
import { type StackPartner } from '../data/stack-file.js';
import { operator, type OperatorSettings } from '../partner/operator.js';
import { Demonstration } from '../redemption/demonstration.js';

export interface DemonstrateParts {
  readonly partner: StackPartner;
  readonly local: LocalChain;
  /** Wallets with points; the last one is left for trying it by hand. */
  readonly redeemers: readonly Address[];
  readonly operatorSettings: OperatorSettings;
}

/** Shows two redemptions. That they fail is told and ends nothing: the services are there to be looked at. */
export async function demonstrate(
  context: StackContext,
  { partner, local, redeemers, operatorSettings }: DemonstrateParts,
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
    // What is interrupted fails as well, and that is no news.
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
