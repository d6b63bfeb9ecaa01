/** Whether partner, chain and database agree about all redemptions. */
import { type Address } from '#libs/domain';
import { type World } from '../world/world.js';
import { gatherFacts, vaultFacts } from './gather-facts.js';
import { breachesOf, told } from './invariants.js';
import { ledgerFaults } from './ledgers.js';
import { type RedemptionFacts } from './redemption-facts.js';

/** Tokens that deployLocalVault gives a vault, in the smallest unit. */
const VAULT_FUNDS = 10n ** 24n;

export interface Settled {
  readonly facts: readonly RedemptionFacts[];
  readonly faults: readonly string[];
}

/** @param points of each wallet before the first redemption */
export async function settle(
  { database, bench, partner }: World,
  wallets: readonly Address[],
  points: number,
): Promise<Settled> {
  const vault = await vaultFacts(bench);
  const facts = await gatherFacts(database, vault, partner);
  const ours = new Set(facts.map(({ id }) => id));
  const ledgers = [];
  for (const wallet of wallets) {
    const left = partner.books.points.get(wallet);
    const tokens = await bench.tokens(wallet);
    ledgers.push({ wallet, points: left, pointsWithoutUs: points, tokens });
  }
  const faults = [
    ...breachesOf(facts).map(told),
    ...ledgerFaults(facts, {
      wallets: ledgers,
      funds: VAULT_FUNDS,
      left: await bench.tokens(bench.vault),
      strayClaims: [...vault.claims.keys()].filter((id) => !ours.has(id)),
      oddities: partner.oddities,
    }),
    ...[...partner.confirmations.keys()]
      .filter((id) => !ours.has(id))
      .map((id) => `a confirmation of ${id}, which is no redemption`),
  ];
  return { facts, faults };
}
