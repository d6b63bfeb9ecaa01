import {
  type CallbackSettings,
  decimalText,
  type PartnerCallback,
  type PartnerTerms,
} from '#libs/db';
import { DEFAULT_STAKE_SET } from '#libs/domain';
import {
  CallbackFields,
  callbackValues,
  type FieldsClass,
  fieldsOf,
  type FoundPartner,
  listPartners,
  moment,
  printable,
  SetPartner,
} from '#libs/operations';
import { OperatorSettings } from '../cli.env.js';
import { command } from '../command.js';
import { JSON_LINE } from '../options.js';
import { type Field, fieldLines } from '../output/text.js';

export const list = command({
  name: 'list',
  description: 'list the partners with their credentials and callbacks; never a secret',
  options: [JSON_LINE],
  settings: OperatorSettings,
  async action(call) {
    const found = await call.withDatabase(listPartners);
    call.print(
      found.map(partnerJson),
      found.map(partnerText).join('\n') || 'There are no partners: `partner create` makes one.\n',
    );
  },
});

function partnerText({ partner, callback }: FoundPartner): string {
  const credentials = partner.credentials.map((credential): Field => {
    const { keyPrefix, createdAt, revokedAt, endsAt, lastUsedAt } = credential;
    const end = endsAt === null ? '' : `, replaced, good until ${moment(endsAt) ?? ''}`;
    const revoked = revokedAt === null ? end : `, revoked ${moment(revokedAt) ?? ''}`;
    const used = `last used ${moment(lastUsedAt) ?? 'never'}`;
    return ['credential', `${keyPrefix}…  created ${moment(createdAt) ?? ''}, ${used}${revoked}`];
  });
  const fields: Field[] = [
    ['id', partner.partnerId],
    ['created', moment(partner.createdAt)],
    ...termFields(partner),
    ...credentials,
    ...(callback === undefined
      ? [['callback', 'none: nothing can be redeemed with it'] as const]
      : [...callbackFields(callback), ['redemptions', standingOf(callback)] as const]),
  ];
  return `${printable(partner.partnerName)}\n${fieldLines(fields, '  ')}`;
}

export function termFields(terms: PartnerTerms): Field[] {
  const { rate, burst, stakeSet } = terms;
  return [
    ['requests', `${rate} a second, ${burst} at once`],
    // Shown only with several stake sets.
    ['stake set', stakeSet === DEFAULT_STAKE_SET ? undefined : stakeSet],
    ...furtherFields(SetPartner, terms),
  ];
}

function standingOf({ paused, dailyTokenBudget }: PartnerCallback): string {
  if (paused) return 'PAUSED';
  return dailyTokenBudget === undefined ? 'REFUSED: no daily token budget' : 'open';
}

function partnerJson({ partner, callback }: FoundPartner): object {
  const { partnerId: id, partnerName: name, createdAt, credentials, ...terms } = partner;
  const json = callback === undefined ? null : callbackJson(callback);
  return { id, name, createdAt, ...terms, credentials, callback: json };
}

/** The fields of a callback, without key and secret. */
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
    ...furtherFields(CallbackFields, callbackValues(callback)),
  ];
}

type FieldValue = string | number | boolean | readonly string[] | null | undefined;

/** The fields that this file has no words of its own for, by their labels. */
function furtherFields(type: FieldsClass, values: object): Field[] {
  const shown: Readonly<Record<string, FieldValue>> = { ...values };
  return [...fieldsOf(type)].flatMap(([name, { label = name }]): Field[] =>
    WORDED.has(name) ? [] : [[label.toLowerCase(), [shown[name] ?? 'none'].flat().join(', ')]],
  );
}

const WORDED: ReadonlySet<string> = new Set([
  ...['rate', 'burst', 'stakeSet', 'partner', 'callback', 'reason'],
  ...['url', 'key', 'secret', 'usdPerPoint', 'bonusFrom', 'bonusRate', 'minPoints', 'maxPoints'],
  ...['dailyTokenBudget', 'confirm', 'capabilities', 'allowPrivate'],
]);

/** The JSON value of a callback, without key and secret. */
function callbackJson(callback: PartnerCallback): object {
  const { url, usdPerPoint, bonus = null, minPoints = null, maxPoints = null, ...rest } = callback;
  const { dailyTokenBudget = null, confirms, capabilities, paused } = rest;
  return {
    ...{ url, usdPerPoint, bonus, minPoints, maxPoints, dailyTokenBudget },
    ...{ confirms, capabilities, paused },
  };
}
