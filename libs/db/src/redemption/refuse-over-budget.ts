import { type PoolClient } from 'pg';
import {
  budgetBreach,
  type Redemption,
  type RedemptionLimits,
  SECONDS_PER_DAY,
} from '#libs/domain';
import { run } from '../connection/statement.js';
import { LimitBreachedError } from './redemption.error.js';
import { addressBytes, at } from './redemption-row.js';
import { USAGE } from './redemption.statements.js';
import { type UnclaimedOfWallet } from './unclaimed-vouchers.js';

const DAY_MS = SECONDS_PER_DAY * 1000;

interface UsageRow {
  open: number;
  open_id: string | null;
  partner_tokens: string;
  wallet_tokens: string;
}

/** @throws LimitBreachedError where today's redemptions leave no room for this one */
export async function refuseOverBudget(
  client: PoolClient,
  redemption: Redemption,
  limits: RedemptionLimits,
  unclaimed: UnclaimedOfWallet,
): Promise<void> {
  const { partner, wallet, initialAtMs } = redemption;
  const dayMs = Math.floor(initialAtMs / DAY_MS) * DAY_MS;
  const [used] = await run<UsageRow>(client, USAGE, [
    partner,
    addressBytes(wallet),
    at(dayMs),
    at(dayMs + DAY_MS),
  ]);
  const breach = budgetBreach(redemption, limits, {
    open: used?.open ?? 0,
    openId: used?.open_id ?? undefined,
    partnerTokensToday: BigInt(used?.partner_tokens ?? 0),
    walletTokensToday: BigInt(used?.wallet_tokens ?? 0) + unclaimed.tokensToday,
  });
  if (breach !== undefined) throw new LimitBreachedError(breach);
}
