import { decimalText, type CallbackSettings, type PartnerCallback } from '#libs/db';
import { parsePartnerUrl } from '#libs/partner-client';
import { type Field } from '../output/text.js';
import {
  type CallbackCredential,
  type CallbackOptions,
  capabilitiesOf,
} from './callback-options.js';

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
