import { Blocked } from '../run/stop.js';
import { notRefused, notSucceeded, readable } from '../run/tester.js';
import { randomAddress } from '../wire/random-address.js';
import { text } from '../wire/read-answer.js';
import { type Story } from './story.js';

const upper = (address: string): string => `0x${address.slice(2).toUpperCase()}`;

export const anyCase: Story = {
  title: 'the address in any case',
  checks: ['balance-address', 'balance-any-case'],
  async run(tester) {
    const { address } = tester;
    const [lower, capitals] = await Promise.all([
      tester.read('the address in lower case', address.toLowerCase()),
      tester.read('the address in capitals', upper(address)),
    ]);
    const problem = notSucceeded(lower) ?? notSucceeded(capitals);
    tester.judge('balance-any-case', problem, [lower, capitals]);
    for (const exchange of [lower, capitals]) {
      if (exchange.reading.kind !== 'success') continue;
      const { address: given } = exchange.reading.fields;
      const isSame = typeof given === 'string' && given.toLowerCase() === address.toLowerCase();
      const wrong = `The answer is for the address ${text(given)}.`;
      // A missing one, or one that is no text, is said by balance-fields.
      tester.judge('balance-address', isSame || typeof given !== 'string' ? undefined : wrong, [
        exchange,
      ]);
    }
  },
};

export const unknownUser: Story = {
  title: 'an unknown user',
  checks: ['balance-unknown-user', 'balance-bad-address'],
  async run(tester) {
    const [unknown, bad] = await Promise.all([
      tester.read('a wallet that nobody has', randomAddress()),
      tester.read('what is no address', '0x12'),
    ]);
    tester.judge('balance-bad-address', notRefused(bad, []), [bad]);
    tester.judgeRefusal('balance-unknown-user', unknown, 'ERR-USER-NOT-FOUND');
  },
};

export const unknownUserDeduction: Story = {
  title: 'a deduction from an unknown user',
  checks: ['deduct-unknown-user'],
  async run(tester) {
    const purpose = 'deduct from a wallet that nobody has';
    const address = randomAddress();
    const exchange = await tester.deduct({ purpose, id: tester.newId(), points: 1, address });
    tester.judgeRefusal('deduct-unknown-user', exchange, 'ERR-USER-NOT-FOUND');
  },
};

export function zeroPoints(emptyAddress: string): Story {
  return {
    title: 'a user without points',
    checks: ['balance-zero'],
    async run(tester) {
      const exchange = await tester.read('a player without points', emptyAddress);
      const reading = readable(exchange.reading);
      const points = reading.fields['points'];
      if (reading.kind === 'success' && !Number.isInteger(Number(points ?? ''))) {
        throw new Blocked('The balance cannot be told (balance-fields).');
      }
      const problem =
        notSucceeded(exchange) ??
        (Number(points) === 0 ? undefined : `points is ${text(points)}. Expected: 0.`);
      tester.judge('balance-zero', problem, [exchange]);
    },
  };
}
