import { type Exchange, type Step } from '../wire/exchange.js';
import { text } from '../wire/transport.js';

type Rule = readonly [name: string, isRight: (value: unknown) => boolean, expected: string];

/** Control characters and lone surrogates, which some stores cannot hold. */
const UNSPEAKABLE = /[\p{Cc}\p{Cs}]/u;
const ADDRESS = /^0x[0-9a-fA-F]{40}$/;

const isText =
  (maxLength: number) =>
  (value: unknown): boolean =>
    typeof value === 'string' &&
    value !== '' &&
    value.length <= maxLength &&
    !UNSPEAKABLE.test(value);

const isPoints = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0;
const isAddress = (value: unknown): boolean => typeof value === 'string' && ADDRESS.test(value);

const ID = 'a text of 1 to 255 characters';

const RULES: Readonly<Record<Step, readonly Rule[]>> = {
  balance: [
    ['partnerUserId', isText(255), ID],
    ['address', isAddress, '0x and 40 hex digits'],
    ['points', isPoints, 'a whole number, 0 or more'],
    ['chain', isText(64), 'a text of 1 to 64 characters'],
  ],
  deduct: [['partnerTransactionId', isText(255), ID]],
  revert: [
    ['partnerTransactionId', isText(255), ID],
    ['partnerRevertId', isText(255), ID],
  ],
  confirm: [],
};

/** The faults in the fields of a success of this step, by exact type. */
export function wrongFields({ step, reading }: Exchange, of: Step): string[] {
  if (reading.kind !== 'success' || step !== of) return [];
  const { fields } = reading;
  return RULES[step].flatMap(([name, isRight, expected]) => {
    const value = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return isRight(value) ? [] : [`${name} is ${text(value)}. Expected: ${expected}.`];
  });
}
