/** A partner's callback, as an operator sets it: how we call the partner, and what may be redeemed. */
import { type CallbackSettings, decimalText, type PartnerCallback } from '#libs/db';
import {
  compareDecimals,
  type Decimal,
  parseDecimal,
  PARTNER_CAPABILITIES,
  type PartnerCapability,
} from '#libs/domain';
import { parsePartnerUrl, requireUsableCredential } from '#libs/partner-client';
import { hashApiKey, type KeyRing } from '#libs/signing';
import { Field, fieldOf, NONE } from '../operation/field.js';
import { OptionError } from '../operation.error.js';

/** An absent field stays as it is; `none` removes a limit. */
export class CallbackFields {
  @Field({
    type: 'text',
    label: 'Callback URL',
    help: 'the base URL of the partner’s endpoints, https',
    option: '--callback-url <url>',
    most: 2048,
    // A refused URL may contain a credential.
    audited: (text) => calledUrl(text, true) ?? 'unusable',
  })
  readonly url?: string;

  @Field({
    type: 'secret',
    label: 'Callback key',
    help: 'X-API-KEY of our calls, issued by the partner',
    option: '--callback-key <key>',
    isName: true,
  })
  readonly key?: string;

  @Field({
    type: 'secret',
    label: 'Callback secret',
    help: 'signs our calls and its answers',
    option: '--callback-secret <secret>',
  })
  readonly secret?: string;

  @Field({
    type: 'decimal',
    label: 'USD per point',
    help: 'what a point is worth',
    option: '--usd-per-point <decimal>',
    isAboveZero: true,
  })
  readonly usdPerPoint?: string;

  @Field({
    type: 'points',
    label: 'Bonus from points',
    help: 'points from which there is a bonus, or none',
    option: '--bonus-from <points>',
    orNone: true,
  })
  readonly bonusFrom?: string;

  @Field({
    type: 'decimal',
    label: 'Bonus rate',
    help: 'the share on top: 0.02 is 2 %',
    option: '--bonus-rate <decimal>',
  })
  readonly bonusRate?: string;

  @Field({
    type: 'points',
    label: 'Fewest points',
    help: 'the fewest in one redemption, or none',
    option: '--min-points <points>',
    orNone: true,
  })
  readonly minPoints?: string;

  @Field({
    type: 'points',
    label: 'Most points',
    help: 'the most in one redemption, or none',
    option: '--max-points <points>',
    orNone: true,
  })
  readonly maxPoints?: string;

  @Field({
    type: 'decimal',
    label: 'Tokens in a UTC day',
    help: 'whole tokens in a UTC day, what a fault of the partner can cost at most; without one (none) nothing can be redeemed',
    option: '--daily-token-budget <tokens>',
    orNone: true,
  })
  readonly dailyTokenBudget?: string;

  @Field({
    type: 'flag',
    label: 'Has the confirmation endpoint',
    help: 'the partner has the confirmation endpoint (the default)',
    option: '--confirm',
    helpOfNo: 'it has not: no confirmation is sent',
  })
  readonly confirm?: boolean;

  @Field({
    type: 'words',
    label: 'Proven capabilities',
    help: 'what it is proven to do, or none; replaces the list',
    option: '--capability <name...>',
    values: PARTNER_CAPABILITIES,
  })
  readonly capabilities?: readonly PartnerCapability[];

  @Field({
    type: 'flag',
    label: 'Development: accept http and private addresses',
    help: 'development: accept http and private addresses',
    option: '--allow-private',
  })
  readonly allowPrivate?: boolean;
}

/** Values of the fields. */
export type CallbackValues = Pick<CallbackFields, keyof CallbackFields>;

/** The stored settings as values of the fields, without key and secret; an absent limit is left out. */
export function callbackValues(callback: CallbackSettings): CallbackValues {
  const { url, usdPerPoint, bonus, minPoints, maxPoints, dailyTokenBudget } = callback;
  return {
    url,
    usdPerPoint: decimalText(usdPerPoint),
    ...(bonus && { bonusFrom: bonus.fromPoints.toString(), bonusRate: decimalText(bonus.rate) }),
    ...(minPoints !== undefined && { minPoints: minPoints.toString() }),
    ...(maxPoints !== undefined && { maxPoints: maxPoints.toString() }),
    ...(dailyTokenBudget && { dailyTokenBudget: decimalText(dailyTokenBudget) }),
    confirm: callback.confirms,
    capabilities: callback.capabilities,
  };
}

/** Whether the change sets anything. `allowPrivate` only extends what `url` may be. */
export function setsCallback(change: CallbackValues = {}): boolean {
  return Object.entries<unknown>(change).some(
    ([name, value]) => name !== 'allowPrivate' && value !== undefined,
  );
}

/**
 * Whether the change does nothing but lower the daily budget or leave it equal, so that no more tokens are let out than
 * before. `none` does not count as lower: redemptions that were begun would have no limit.
 */
export function onlyCutsBudget(
  before: Pick<PartnerCallback, 'dailyTokenBudget'> | undefined,
  { dailyTokenBudget, ...others }: CallbackValues = {},
): boolean {
  const now = before?.dailyTokenBudget;
  if (dailyTokenBudget === undefined || dailyTokenBudget === NONE || now === undefined)
    return false;
  return !setsCallback(others) && compareDecimals(parseDecimal(dailyTokenBudget), now) <= 0;
}

interface Merging {
  readonly change: CallbackValues;
  readonly keyRing: KeyRing;
  readonly partnerName: string;
}

/**
 * The stored settings with the change applied; absent fields stay. The secret is sealed in the context of its key, so a
 * new key without a new secret seals the old secret again.
 * @throws OptionError; PermanentError if key or secret are unusable, or the old secret cannot be opened
 */
export function mergeCallback(
  before: PartnerCallback | undefined,
  { change, keyRing, partnerName }: Merging,
): CallbackSettings {
  const key = change.key ?? before?.key;
  const url = change.url === undefined ? before?.url : usableUrl(change.url, change);
  const usdPerPoint = decimalAfter(before?.usdPerPoint, change.usdPerPoint);
  const secret = change.secret ?? (before && oldSecret(before, keyRing));
  if (!url || key === undefined || secret === undefined || usdPerPoint === undefined) {
    throw new OptionError(
      (nameOf) =>
        `A callback needs ${NEEDED.slice(0, -1).map(nameOf).join(', ')} and ${NEEDED.slice(-1).map(nameOf).join()} the first time.`,
    );
  }
  // Throws if a call could not be made with these values. The message names the partner, and contains neither key nor
  // secret.
  requireUsableCredential(partnerName, { apiKey: key, sharedSecret: secret });
  const isSealedSo = key === before?.key && change.secret === undefined;
  return {
    url,
    key,
    secretCiphertext: isSealedSo ? before.secretCiphertext : keyRing.seal(secret, hashApiKey(key)),
    usdPerPoint,
    bonus: bonusOf(before, change),
    ...limitsOf(before, change),
    dailyTokenBudget: decimalAfter(before?.dailyTokenBudget, change.dailyTokenBudget),
    confirms: change.confirm ?? before?.confirms ?? true,
    capabilities: change.capabilities ?? before?.capabilities ?? [],
  };
}

const NEEDED = (['url', 'key', 'secret', 'usdPerPoint'] as const).map((name) =>
  fieldOf(CallbackFields, name),
);
const [BONUS_FROM, BONUS_RATE] = [
  fieldOf(CallbackFields, 'bonusFrom'),
  fieldOf(CallbackFields, 'bonusRate'),
];
const ALLOW_PRIVATE = fieldOf(CallbackFields, 'allowPrivate');

function usableUrl(text: string, { allowPrivate = false }: CallbackValues): string {
  const url = calledUrl(text, allowPrivate);
  if (url !== undefined) return url;
  const parsed = parsePartnerUrl(text, { allowPrivate });
  const message = parsed.ok ? '' : parsed.message;
  // The hint appears only if the flag would make the URL acceptable.
  if (allowPrivate || calledUrl(text, true) === undefined) throw new OptionError(message, 'url');
  throw new OptionError(
    (nameOf) => `${message} For development only, ${nameOf(ALLOW_PRIVATE)} takes it.`,
    'url',
  );
}

/** The URL as it is called; undefined if it cannot be used. */
function calledUrl(text: string, allowPrivate: boolean): string | undefined {
  const parsed = parsePartnerUrl(text, { allowPrivate });
  return parsed.ok ? parsed.url.origin + parsed.url.basePath : undefined;
}

function oldSecret({ secretCiphertext, key }: PartnerCallback, keyRing: KeyRing): string {
  return keyRing.open(secretCiphertext, hashApiKey(key));
}

function bonusOf(
  before: PartnerCallback | undefined,
  { bonusFrom, bonusRate }: CallbackValues,
): CallbackSettings['bonus'] {
  if (bonusFrom === NONE) {
    if (bonusRate === undefined) return undefined;
    throw new OptionError(
      (nameOf) => `${nameOf(BONUS_FROM)} ${NONE} takes no ${nameOf(BONUS_RATE)}.`,
      'bonusRate',
    );
  }
  const fromPoints = pointsAfter(before?.bonus?.fromPoints, bonusFrom);
  const rate = decimalAfter(before?.bonus?.rate, bonusRate);
  if (fromPoints === undefined && rate === undefined) return undefined;
  if (fromPoints === undefined || rate === undefined) {
    throw new OptionError(
      (nameOf) => `A bonus needs both ${nameOf(BONUS_FROM)} and ${nameOf(BONUS_RATE)}.`,
    );
  }
  return { fromPoints, rate };
}

function limitsOf(before: PartnerCallback | undefined, change: CallbackValues) {
  const minPoints = pointsAfter(before?.minPoints, change.minPoints);
  const maxPoints = pointsAfter(before?.maxPoints, change.maxPoints);
  if (minPoints !== undefined && maxPoints !== undefined && minPoints > maxPoints) {
    throw new OptionError(
      `The fewest points (${minPoints.toString()}) would be more than the most (${maxPoints.toString()}).`,
      'minPoints',
    );
  }
  return { minPoints, maxPoints };
}

function decimalAfter(before: Decimal | undefined, given: string | undefined): Decimal | undefined {
  if (given === NONE) return undefined;
  return given === undefined ? before : parseDecimal(given);
}

function pointsAfter(before: bigint | undefined, given: string | undefined): bigint | undefined {
  if (given === NONE) return undefined;
  return given === undefined ? before : BigInt(given);
}

/** What is missing before points can be redeemed with the partner; empty if nothing is missing. */
export function callbackNotes({ url, dailyTokenBudget }: CallbackSettings): string[] {
  return [
    ...(calledUrl(url, false) !== undefined
      ? []
      : [
          'The redemption service calls this address only where ALLOW_PRIVATE_PARTNERS is true, and never in production.',
        ]),
    ...(dailyTokenBudget === undefined
      ? [
          'Nothing can be redeemed with this partner before it has a daily token budget: partner set NAME --daily-token-budget TOKENS',
        ]
      : []),
  ];
}
