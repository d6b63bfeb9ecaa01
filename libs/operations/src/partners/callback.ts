/** A partner's callback, as an operator sets it: how we call the partner, and what may be redeemed. */
import { type CallbackSettings, decimalText, type PartnerCallback } from '#libs/db';
import { compareDecimals, type Decimal, type PartnerCapability } from '#libs/domain';
import { parsePartnerUrl, requireUsableCredential } from '#libs/partner-client';
import { hashApiKey, type KeyRing } from '#libs/signing';
import { OptionError } from '../operation.error.js';

/** Removes a limit. */
export const NONE = 'none';
export type OrNone<T> = T | typeof NONE;

/** An absent field stays as it is. */
export interface CallbackChange {
  /** The base URL of the partner's endpoints. */
  readonly url?: string | undefined;
  /** `X-API-KEY` of our calls. */
  readonly key?: string | undefined;
  /** Signs our calls and the partner's answers. */
  readonly secret?: string | undefined;
  /** US dollars per point; above 0. */
  readonly usdPerPoint?: Decimal | undefined;
  readonly bonusFrom?: OrNone<bigint> | undefined;
  readonly bonusRate?: Decimal | undefined;
  readonly minPoints?: OrNone<bigint> | undefined;
  readonly maxPoints?: OrNone<bigint> | undefined;
  /** Whole tokens in a UTC day. */
  readonly dailyTokenBudget?: OrNone<Decimal> | undefined;
  /** Whether the partner has the confirmation endpoint. */
  readonly confirm?: boolean | undefined;
  /** The complete list, which replaces the stored one. */
  readonly capabilities?: readonly PartnerCapability[] | undefined;
  /** Development only: `url` may be http or a private address. */
  readonly allowPrivate?: boolean | undefined;
}

/** Whether the change sets anything. `allowPrivate` only extends what `url` may be. */
export function setsCallback(change: CallbackChange): boolean {
  return Object.entries(change).some(
    ([name, value]) => name !== 'allowPrivate' && value !== undefined,
  );
}

/**
 * Whether the change does nothing but lower the daily budget or leave it equal, so that no more tokens are let out than
 * before. `none` does not count as lower: redemptions that were begun would have no limit.
 */
export function onlyCutsBudget(
  before: Pick<PartnerCallback, 'dailyTokenBudget'> | undefined,
  change: CallbackChange,
): boolean {
  const { dailyTokenBudget, ...others } = change;
  const now = before?.dailyTokenBudget;
  if (dailyTokenBudget === undefined || dailyTokenBudget === NONE || now === undefined)
    return false;
  return !setsCallback(others) && compareDecimals(dailyTokenBudget, now) <= 0;
}

interface Merging {
  readonly change: CallbackChange;
  readonly keyRing: KeyRing;
  readonly partnerName: string;
}

/**
 * The stored settings with the change applied; absent fields stay. The secret is sealed in the context of its key, so a
 * new key without a new secret seals the old secret again.
 * @throws OptionError; PermanentError where key or secret are unusable, or the old secret cannot be opened
 */
export function mergeCallback(
  before: PartnerCallback | undefined,
  { change, keyRing, partnerName }: Merging,
): CallbackSettings {
  const key = change.key ?? before?.key;
  const url = change.url === undefined ? before?.url : usableUrl(change.url, change);
  const usdPerPoint = change.usdPerPoint ?? before?.usdPerPoint;
  const secret = change.secret ?? (before && oldSecret(before, keyRing));
  if (!url || key === undefined || secret === undefined || usdPerPoint === undefined) {
    throw new OptionError(
      'A callback needs --callback-url, --callback-key, --callback-secret (both also as -file) and --usd-per-point the first time.',
    );
  }
  // Throws where a call could not be made with these values. The message names the partner, and contains neither key
  // nor secret.
  requireUsableCredential(partnerName, { apiKey: key, sharedSecret: secret });
  const isSealedSo = key === before?.key && change.secret === undefined;
  return {
    url,
    key,
    secretCiphertext: isSealedSo ? before.secretCiphertext : keyRing.seal(secret, hashApiKey(key)),
    usdPerPoint,
    bonus: bonusOf(before, change),
    ...limitsOf(before, change),
    dailyTokenBudget: merged(before?.dailyTokenBudget, change.dailyTokenBudget),
    confirms: change.confirm ?? before?.confirms ?? true,
    capabilities: change.capabilities ?? before?.capabilities ?? [],
  };
}

function usableUrl(text: string, { allowPrivate = false }: CallbackChange): string {
  const parsed = parsePartnerUrl(text, { allowPrivate });
  if (parsed.ok) return parsed.url.origin + parsed.url.basePath;
  // The hint appears only where --allow-private would accept the URL.
  const isTaken = !allowPrivate && parsePartnerUrl(text, { allowPrivate: true }).ok;
  const hint = isTaken ? ' For development only, --allow-private takes it.' : '';
  throw new OptionError(`${parsed.message}${hint}`);
}

function oldSecret({ secretCiphertext, key }: PartnerCallback, keyRing: KeyRing): string {
  return keyRing.open(secretCiphertext, hashApiKey(key));
}

function bonusOf(
  before: PartnerCallback | undefined,
  { bonusFrom, bonusRate }: CallbackChange,
): CallbackSettings['bonus'] {
  if (bonusFrom === NONE) {
    if (bonusRate !== undefined) throw new OptionError('--bonus-from none takes no --bonus-rate.');
    return undefined;
  }
  const fromPoints = bonusFrom ?? before?.bonus?.fromPoints;
  const rate = bonusRate ?? before?.bonus?.rate;
  if (fromPoints === undefined && rate === undefined) return undefined;
  if (fromPoints === undefined || rate === undefined) {
    throw new OptionError('A bonus needs both --bonus-from and --bonus-rate.');
  }
  return { fromPoints, rate };
}

function limitsOf(before: PartnerCallback | undefined, change: CallbackChange) {
  const minPoints = merged(before?.minPoints, change.minPoints);
  const maxPoints = merged(before?.maxPoints, change.maxPoints);
  if (minPoints !== undefined && maxPoints !== undefined && minPoints > maxPoints) {
    throw new OptionError(
      `The fewest points (${minPoints.toString()}) would be more than the most (${maxPoints.toString()}).`,
    );
  }
  return { minPoints, maxPoints };
}

function merged<T>(before: T | undefined, given: OrNone<T> | undefined): T | undefined {
  return given === NONE ? undefined : (given ?? before);
}

/** A change as the audit log keeps it. Key and secret appear only as `given`. */
export function auditedChange(change: CallbackChange): object {
  const { usdPerPoint, bonusFrom, bonusRate, minPoints, maxPoints, dailyTokenBudget } = change;
  const text = (value: bigint | 'none' | undefined): string | undefined => value?.toString();
  return {
    // A refused URL may contain a credential.
    callbackUrl: change.url && safeUrl(change.url),
    callbackKey: change.key && 'given',
    callbackSecret: change.secret && 'given',
    usdPerPoint: usdPerPoint && decimalText(usdPerPoint),
    bonusFrom: text(bonusFrom),
    bonusRate: bonusRate && decimalText(bonusRate),
    minPoints: text(minPoints),
    maxPoints: text(maxPoints),
    dailyTokenBudget:
      dailyTokenBudget === undefined || dailyTokenBudget === NONE
        ? dailyTokenBudget
        : decimalText(dailyTokenBudget),
    confirm: change.confirm,
    capability: change.capabilities,
    allowPrivate: change.allowPrivate,
  };
}

function safeUrl(text: string): string {
  const parsed = parsePartnerUrl(text, { allowPrivate: true });
  return parsed.ok ? parsed.url.origin + parsed.url.basePath : 'unusable';
}

/** What is missing before points can be redeemed with the partner; empty where nothing is missing. */
export function callbackNotes({ url, dailyTokenBudget }: CallbackSettings): string[] {
  const isPublic = parsePartnerUrl(url, { allowPrivate: false }).ok;
  return [
    ...(isPublic
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
