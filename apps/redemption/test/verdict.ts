/** Whether all parties agree at the end of a simulation, and what it met on the way. */
import { parseDecimal } from '#libs/domain';
import { breachesOf, told } from './checks/invariants.js';
import { gatherFacts, vaultFacts, type VaultFacts } from './checks/gather-facts.js';
import { ledgerFaults, type Ledgers } from './checks/ledgers.js';
import { lossFaults, lossOf, type LossSettings } from './checks/loss.js';
import { type RedemptionFacts } from './checks/redemption-facts.js';
import { HONEST_USD, lowestUsable, PRICE_LIMITS } from './players/played-price.js';
import { type Simulation } from './simulation.js';
import { LIMITS, TOKEN_DECIMALS, USD_PER_POINT } from './world/terms.js';
import { story } from './world/story.js';

export interface Verdict {
  readonly seed: number;
  /** Empty where all invariants hold and all ledgers agree. */
  readonly faults: readonly string[];
  /** Stories of the first redemptions that have a fault. */
  readonly stories: readonly string[];
  readonly counts: Readonly<Record<string, number>>;
  /** Number of times each fault of the table happened. */
  readonly partnerFaults: Readonly<Record<string, number>>;
  readonly ends: Readonly<Record<string, number>>;
  readonly reasons: Readonly<Record<string, number>>;
  readonly commands: Readonly<Record<string, number>>;
  /** Whole tokens, rounded up; the bounds are what the settings allow. */
  readonly losses: Readonly<Record<string, number>>;
  /** Number of readings with each false price, and the outcomes of all readings. */
  readonly prices: Readonly<Record<string, number>>;
  /** The intruder's refused attempts, and the rows that it forged. */
  readonly intrusions: Readonly<Record<string, number>>;
  /** Number of answers that each false claim of the endpoint changed. */
  readonly lies: Readonly<Record<string, number>>;
  /** The last warnings of the workers. */
  readonly warnings: Readonly<Record<string, number>>;
}

const STORIES = 3;
const DAY_MS = 86_400_000;
/** Tokens that deployLocalVault gives a vault, in the smallest unit. */
export const VAULT_FUNDS = 10n ** 24n;

export async function verdict(simulation: Simulation): Promise<Verdict> {
  const { world, firstFinal, options, intruder } = simulation;
  const { database, bench, partners } = world;
  const vault = await vaultFacts(bench);
  const copiesOf = (id: string): number => world.copiesOf(id);
  const everything = await gatherFacts(database, vault, { partners, copiesOf, firstFinal });
  const { forged } = intruder;
  const facts = everything.filter(({ id }) => !forged.has(id));
  const breaches = breachesOf(facts);
  const ledgers = await ledgersOf(simulation, facts, vault);
  const loss = lossOf(paidOf(vault), facts, simulation.plannedPoints, lossSettings(simulation));
  const ids = [...new Set(breaches.map(({ redemptionId }) => redemptionId))].slice(0, STORIES);
  const partnerOf = new Map(facts.map(({ id, row }) => [id, partners.get(row.partner)]));
  const logs = [...partners.values()].flatMap(({ log }) => log);
  const reasons = await database.query<{ reason: string }>({
    text: `SELECT DISTINCT redemption_id, reason FROM redemption.transition WHERE reason IS NOT NULL`,
  });
  return {
    seed: options.seed,
    faults: [
      ...breaches.map(told),
      ...ledgerFaults(facts, ledgers),
      ...lossFaults(loss),
      ...intruder.successes,
      ...everything.filter(({ id }) => forged.has(id)).flatMap(forgedFaults),
    ],
    stories: await Promise.all(ids.map((id) => story(database, id, partnerOf.get(id)))),
    counts: {
      runs: options.runs,
      redemptions: facts.length,
      calls: logs.length,
      claims: [...vault.claims.values()].flat().length,
      cancellations: vault.cancellations.size,
      kills: world.fleet.kills,
      reorganisations: world.chain.reorganisations,
      lostTransactions: world.chain.lostClaims,
      rounds: simulation.rounds,
      days: Math.round((world.nowMs - world.startMs) / 86_400_000),
    },
    partnerFaults: tally(logs.map(({ what }) => what)),
    ends: tally(facts.map(({ row }) => row.state)),
    reasons: tally(reasons.map(({ reason }) => reason)),
    warnings: tally(world.fleet.lines.map(messageOf)),
    losses: Object.fromEntries(
      [
        ['withoutPoints', loss.withoutPoints] as const,
        ['byPrice', loss.byPrice] as const,
        ['priceBound', loss.priceBound] as const,
      ].map(([name, tokens]) => [name, wholeTokens(tokens)]),
    ),
    prices: Object.fromEntries([...simulation.price.told, ...simulation.price.outcomes]),
    intrusions: Object.fromEntries([...intruder.refused, ['forged rows', forged.size]]),
    lies: Object.fromEntries(world.liar?.told ?? []),
    commands: Object.fromEntries(simulation.operator.done),
  };
}

/** A forged redemption must wait for an operator, or have failed with its quote expired: nothing was begun. */
function forgedFaults({ id, row, books }: RedemptionFacts): string[] {
  const isStopped = row.state === 'attention' || row.state === 'failed';
  const isUntouched = row.deadlineSeconds === null && books.deductions.length === 0;
  return isStopped && isUntouched ? [] : [`the forged ${id} is ${row.state}`];
}

function paidOf({ claims }: VaultFacts): Map<string, bigint> {
  return new Map(
    [...claims].map(([id, all]) => [id, all.reduce((sum, { amount }) => sum + amount, 0n)]),
  );
}

function lossSettings({ world, lastAskedMs }: Simulation): LossSettings {
  const day = (ms: number): number => Math.floor(ms / DAY_MS);
  return {
    ...LIMITS,
    rate: { usdPerPoint: USD_PER_POINT },
    tokenDecimals: TOKEN_DECIMALS,
    honestUsd: parseDecimal(String(HONEST_USD)),
    lowestUsd: lowestUsable(PRICE_LIMITS),
    days: day(lastAskedMs) - day(world.startMs) + 1,
  };
}

/** Rounded up. */
function wholeTokens(tokens: bigint): number {
  return Math.ceil(Number(tokens) / 10 ** TOKEN_DECIMALS);
}

async function ledgersOf(
  { users, world }: Simulation,
  facts: readonly RedemptionFacts[],
  vault: VaultFacts,
): Promise<Ledgers> {
  const { bench, partners } = world;
  const ours = new Set(facts.map(({ id }) => id));
  const wallets = [];
  for (const { wallet, partner, pointsWithoutUs } of users) {
    const points = partner.books.points.get(wallet);
    wallets.push({ wallet, points, pointsWithoutUs, tokens: await bench.tokens(wallet) });
  }
  return {
    wallets,
    funds: VAULT_FUNDS,
    left: await bench.tokens(bench.vault),
    strayClaims: [...vault.claims.keys()]
      .filter((id) => !ours.has(id))
      .map((id) => `a claim of ${id}, which is no redemption`),
    oddities: [...partners.values()].flatMap(({ name, books, oddities }) => [
      ...oddities,
      ...(books.bystanderRobbed ? [`${name}: somebody else's points were moved`] : []),
    ]),
  };
}

function messageOf(line: string): string {
  const { level, msg, err } = JSON.parse(line) as Record<string, unknown>;
  const code = (err as { code?: string } | undefined)?.code ?? '';
  return `${String(level)} ${String(msg)} ${code}`.trim();
}

function tally(words: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
