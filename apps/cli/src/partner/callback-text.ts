import { type CallbackSettings, decimalText, type PartnerCallback } from '#libs/db';
import { type Field } from '../output/text.js';

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
