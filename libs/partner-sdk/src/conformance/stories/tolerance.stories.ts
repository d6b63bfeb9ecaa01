import { readable, type Tester } from '../run/tester.js';
import { canonicalJson } from '../../signing/canonical-json.js';
import { type Exchange } from '../wire/exchange.js';
import { type Story } from './story.js';

/** Reverts of unknown deductions: the answer says whether the body was understood, and nothing moves. */
export const unknownFields: Story = {
  title: 'fields that the partner does not know',
  checks: ['request-unknown-fields'],
  async run(tester) {
    const unknown = { points: 1, transactionId: 'none' };
    const [plain, more] = await Promise.all([
      tester.revert({ ...unknown, purpose: 'an unknown deduction', id: tester.newId() }),
      tester.revert({
        ...unknown,
        purpose: 'an unknown deduction, with a field that is new',
        id: tester.newId(),
        extra: { svcNewField: { since: '2031' } },
      }),
    ]);
    tester.judge('request-unknown-fields', notAlike(plain, more), [plain, more]);
  },
};

export const otherJson: Story = {
  title: 'the same JSON printed in another way',
  checks: ['request-other-json'],
  async run(tester) {
    const send = (how: 'bytes' | 'canonical form' | undefined): Promise<Exchange> => {
      const body = unknownRevert(tester);
      if (how === undefined) return tester.caller.call('plain', { step: 'revert', body });
      const bodyText = JSON.stringify(body, null, 2);
      const signed = { body: how === 'bytes' ? bodyText : canonicalJson(body) };
      const purpose = `a body with blanks, its ${how} signed`;
      return tester.caller.call(purpose, { step: 'revert', body, bodyText, signed });
    };
    const [plain, ...ways] = await Promise.all([
      send(undefined),
      send('bytes'),
      send('canonical form'),
    ]);
    const problems = ways.map((way) => notAlike(plain, way));
    // Whoever verifies one of the two verifies everything that the service sends.
    const problem = problems.includes(undefined) ? undefined : problems.join(' ');
    tester.judge('request-other-json', problem, [plain, ...ways]);
  },
};

function unknownRevert(tester: Tester): Readonly<Record<string, unknown>> {
  return {
    svcRedemptionId: tester.newId(),
    partnerTransactionId: 'none',
    address: tester.address,
    deductPoints: 1,
    revertReason: 'Conformance test',
  };
}

/** Judged against the plain call, so that a wrong code is found by its own check only. */
function notAlike(plain: Exchange, more: Exchange): string | undefined {
  const [a, b] = [readable(plain.reading), readable(more.reading)];
  if (a.kind === 'success' || b.kind === 'success' || a.code === b.code) return undefined;
  return `The plain body is answered with ${a.code}, this one (${more.purpose}) with ${b.code}.`;
}
