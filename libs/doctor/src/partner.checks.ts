import {
  CallbackStore,
  ClaimStore,
  EvidenceAdoption,
  type PartnerIdentity,
  PartnerStore,
} from '#libs/db';
import { lookAlikeKey, parseName } from '#libs/names';
import { EvidenceKeys, KeyRing } from '#libs/signing';
import { CLAIM_OVERDUE_MS, inUseCount, printable, secretsStatus } from '#libs/operations';
import { type Answer, check, fault, ok, SCHEMA, warning } from './checks.js';
import { type Subject } from './subject.js';

const CLAIMS_SHOWN = 5;

/** Whether SECRETS_KEY contains the keys that encrypted the stored secrets. */
export const secretsCheck = check({
  title: 'stored secrets',
  needs: ['DATABASE_URL', 'SECRETS_KEY', 'database', 'schema'],
  ask: storedSecrets,
});

/** Whether EVIDENCE_KEY contains the key that marked the open redemptions as ours. */
export const evidenceCheck = check({
  title: 'open redemptions',
  needs: ['DATABASE_URL', 'EVIDENCE_KEY', 'database', 'schema'],
  ask: async (subject) => {
    const keys = EvidenceKeys.parse(subject.settings.evidenceKey ?? '');
    const foreign = await new EvidenceAdoption(await subject.database(), keys).foreign();
    return foreign.length === 0
      ? ok('each that may be paid has a MAC under EVIDENCE_KEY')
      : fault(`${foreign.length} have no MAC under EVIDENCE_KEY, so they stop in \`attention\``);
  },
  remedy:
    'If the key was replaced: add the one before behind the first, separated by a comma, and restart the redemption service. If it is lost: docs/operating/keys.md.',
});

export const partnerChecks = [
  // Whether every partner that is open for redemptions has a daily token budget: redemptions without one are refused.
  check({
    title: 'partners',
    needs: SCHEMA,
    ask: async (subject) => {
      const callbacks = await new CallbackStore(await subject.database()).list();
      const open = callbacks.filter(({ paused }) => !paused);
      const without = open.filter(({ dailyTokenBudget }) => dailyTokenBudget === undefined);
      const names = without.map(({ partnerName }) => printable(partnerName)).join(', ');
      return without.length === 0
        ? ok(`${open.length} open for redemptions, each with a daily token budget`)
        : warning(`without a daily token budget, so nothing can be redeemed with them: ${names}`);
    },
    remedy: 'Set one for each: `partner set NAME --daily-token-budget TOKENS`.',
  }),
  // Whether each partner has a name that can be given today. Earlier releases took others.
  check({
    title: 'names of partners',
    needs: SCHEMA,
    ask: async (subject) => {
      const partners = await new PartnerStore(await subject.database()).list();
      const faults = nameFaults(partners);
      return faults.length === 0 ? ok('no two look alike') : faults.map((text) => warning(text));
    },
    remedy: 'Give it another one: `partner rename ID --to NAME`.',
  }),
  // Whether the vault paid a claim that the ledger does not explain and no operator has acknowledged.
  check({
    title: 'claims',
    needs: SCHEMA,
    ask: async (subject) => {
      const store = new ClaimStore(await subject.database());
      const overdueBeforeMs = subject.clock.nowMs() - CLAIM_OVERDUE_MS;
      const claims = await store.list(overdueBeforeMs, { all: false, limit: CLAIMS_SHOWN });
      const list = claims.map(({ id, kind }) => `${id} (${kind})`).join(', ');
      const more = claims.length === CLAIMS_SHOWN ? ' and perhaps more' : '';
      return claims.length === 0
        ? ok('none that the ledger does not explain')
        : fault(`not explained by the ledger: ${list}${more}`);
    },
    remedy:
      'See `reconciliation list`; what to do is in docs/operating/alerts.md, ClaimUnauthorised.',
  }),
];

function nameFaults(partners: readonly PartnerIdentity[]): string[] {
  const first = new Map<string, PartnerIdentity>();
  return partners.flatMap((partner) => {
    const key = lookAlikeKey(partner.partnerName);
    const other = first.get(key);
    if (other !== undefined) return [`${shown(partner)} looks like ${shown(other)}`];
    first.set(key, partner);
    const { name, fault } = parseName(partner.partnerName);
    if (fault !== undefined) return [`${shown(partner)} ${fault}`];
    return name === partner.partnerName
      ? []
      : [
          `${shown(partner)} begins or ends with a space, or has letters and accents as separate characters`,
        ];
  });
}

function shown({ partnerName, partnerId }: PartnerIdentity): string {
  return `“${printable(partnerName)}” (${partnerId})`;
}

async function storedSecrets(subject: Subject): Promise<Answer | Answer[]> {
  const keyRing = KeyRing.parse(subject.settings.secretsKey ?? '');
  const uses = await secretsStatus(await subject.database(), keyRing);
  const unsettled = uses.filter((use) => inUseCount(use) > 0 && use.standing !== 'first');
  const all = uses.reduce((sum, use) => sum + inUseCount(use), 0);
  if (unsettled.length === 0) return ok(`${all}, all under the first key of SECRETS_KEY`);
  return unsettled.map((use) =>
    use.standing === 'missing'
      ? fault(
          `${inUseCount(use)} need key ${use.keyId}, which is not in SECRETS_KEY`,
          'Add that key behind the first one, separated by a comma. See docs/operating/keys.md.',
        )
      : warning(
          `${inUseCount(use)} are sealed under the older key ${use.keyId}`,
          'Run `secrets rewrap`, then take the older key away.',
        ),
  );
}
