import { type CallbackSettings, decimalText, type PartnerCallback } from '#libs/db';
import { parsePartnerUrl, PartnerEndpoint } from '#libs/partner-client';
import { hashApiKey, type KeyRing } from '#libs/signing';
import { OptionError } from '../cli.errors.js';
import { NONE, type OrNone } from '../options.js';
import { type Field } from '../output/text.js';
import {
  type CallbackCredential,
  type CallbackOptions,
  capabilitiesOf,
} from './callback-options.js';

interface CallbackChange {
  readonly options: CallbackOptions;
  /** What is absent stays. */
  readonly credential: CallbackCredential;
  readonly keyRing: KeyRing;
  readonly partnerName: string;
}

/**
 * What is set now with what was given: all of it that was not given stays. The secret is sealed for its key, so a new key
 * without a new secret seals the old one anew.
 * @throws OptionError; PermanentError where key or secret are unusable, or the old secret cannot be opened
 */
export function mergeCallback(
  before: PartnerCallback | undefined,
  change: CallbackChange,
): CallbackSettings {
  const { options, keyRing, credential } = change;
  const { callbackUrl } = options;
  const key = credential.key ?? before?.key;
  const url = callbackUrl === undefined ? before?.url : usableUrl(callbackUrl, options);
  const usdPerPoint = options.usdPerPoint ?? before?.usdPerPoint;
  const secret = credential.secret ?? (before && oldSecret(before, keyRing));
  if (!url || key === undefined || secret === undefined || usdPerPoint === undefined) {
    throw new OptionError(
      'A callback needs --callback-url, --callback-key, --callback-secret (both also as -file) and --usd-per-point the first time.',
    );
  }
  // Refuses what could not be called with; names the partner, shows neither.
  new PartnerEndpoint({
    partnerId: change.partnerName,
    baseUrl: url,
    apiKey: key,
    sharedSecret: secret,
  });
  const isSealedSo = key === before?.key && credential.secret === undefined;
  return {
    url,
    key,
    secretCiphertext: isSealedSo ? before.secretCiphertext : keyRing.seal(secret, hashApiKey(key)),
    usdPerPoint,
    bonus: bonusOf(before, options),
    ...limitsOf(before, options),
    dailyTokenBudget: merged(before?.dailyTokenBudget, options.dailyTokenBudget),
    confirms: options.confirm ?? before?.confirms ?? true,
    capabilities: capabilitiesOf(options) ?? before?.capabilities ?? [],
  };
}

function usableUrl(text: string, { allowPrivate = false }: CallbackOptions): string {
  const parsed = parsePartnerUrl(text, { allowPrivate });
  if (parsed.ok) return parsed.url.origin + parsed.url.basePath;
  // Only where it would take this one.
  const isTaken = !allowPrivate && parsePartnerUrl(text, { allowPrivate: true }).ok;
  const hint = isTaken ? ' For development only, --allow-private takes it.' : '';
  throw new OptionError(`${parsed.message}${hint}`);
}

function oldSecret({ secretCiphertext, key }: PartnerCallback, keyRing: KeyRing): string {
  return keyRing.open(secretCiphertext, hashApiKey(key));
}

function bonusOf(
  before: PartnerCallback | undefined,
  { bonusFrom, bonusRate }: CallbackOptions,
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

function limitsOf(before: PartnerCallback | undefined, options: CallbackOptions) {
  const minPoints = merged(before?.minPoints, options.minPoints);
  const maxPoints = merged(before?.maxPoints, options.maxPoints);
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

/** Without key and secret. */
export function callbackFields(callback: CallbackSettings): Field[] {
  const { bonus, minPoints, maxPoints, dailyTokenBudget: budget } = callback;
  const bonusText =
    bonus && `${decimalText(bonus.rate)} from ${bonus.fromPoints.toString()} points on`;
  return [
    ['callback', callback.url],
    ['a point', `${decimalText(callback.usdPerPoint)} USD`],
    ['bonus', bonusText ?? 'none'],
    ['points', `${minPoints?.toString() ?? '1'} to ${maxPoints?.toString() ?? 'any number'}`],
    ['daily budget', budget ? `${decimalText(budget)} tokens` : 'NOT SET: nothing can be redeemed'],
    ['confirmations', callback.confirms ? 'sent' : 'not sent'],
    ['capabilities', callback.capabilities.join(', ') || 'none'],
  ];
}

/** For JSON; without key and secret. */
export function callbackJson({ url, usdPerPoint, bonus, ...rest }: PartnerCallback): object {
  const { minPoints, maxPoints, dailyTokenBudget, confirms, capabilities, paused } = rest;
  return {
    url,
    usdPerPoint,
    bonus: bonus ?? null,
    minPoints: minPoints ?? null,
    maxPoints: maxPoints ?? null,
    dailyTokenBudget: dailyTokenBudget ?? null,
    confirms,
    capabilities,
    paused,
  };
}

/** What the audit keeps of the options: of key and secret no more than that they were given. */
export function auditedOptions(
  options: CallbackOptions,
  { key, secret }: CallbackCredential,
): object {
  const { usdPerPoint, bonusFrom, bonusRate, minPoints, maxPoints, dailyTokenBudget } = options;
  const text = (value: bigint | 'none' | undefined): string | undefined => value?.toString();
  return {
    // A URL that was refused may hold a credential.
    callbackUrl: options.callbackUrl && safeUrl(options.callbackUrl),
    callbackKey: key && 'given',
    callbackSecret: secret && 'given',
    usdPerPoint: usdPerPoint && decimalText(usdPerPoint),
    bonusFrom: text(bonusFrom),
    bonusRate: bonusRate && decimalText(bonusRate),
    minPoints: text(minPoints),
    maxPoints: text(maxPoints),
    dailyTokenBudget:
      dailyTokenBudget === undefined || dailyTokenBudget === 'none'
        ? dailyTokenBudget
        : decimalText(dailyTokenBudget),
    confirm: options.confirm,
    capability: capabilitiesOf(options),
    allowPrivate: options.allowPrivate,
  };
}

function safeUrl(text: string): string {
  const parsed = parsePartnerUrl(text, { allowPrivate: true });
  return parsed.ok ? parsed.url.origin + parsed.url.basePath : 'unusable';
}

/** What else is needed before something can be redeemed with a partner; empty where nothing. */
export function notLiveNote({ dailyTokenBudget }: CallbackSettings): string {
  return dailyTokenBudget === undefined
    ? 'Nothing can be redeemed with this partner before it has a daily token budget: partner set NAME --daily-token-budget TOKENS\n'
    : '';
}

/** What else is needed for a partner at an address that only development knows; empty elsewhere. */
export function privateNote({ url }: CallbackSettings): string {
  return parsePartnerUrl(url, { allowPrivate: false }).ok
    ? ''
    : 'The redemption service calls this address only where ALLOW_PRIVATE_PARTNERS is true, and never in production.\n';
}
