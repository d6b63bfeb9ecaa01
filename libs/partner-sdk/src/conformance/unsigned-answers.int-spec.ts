/**
 * A program on the way that answers reverts by itself, unsigned. The journal of deductions, from which the console gives
 * points back, must not take its word.
 */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { newRequestId } from '../request-id.js';
import { partnerWith } from './fixtures/fault.support.js';
import { isSuccess } from './fixtures/form.support.js';
import { Refused } from './fixtures/honest-ledger.support.js';
import {
  API_KEY,
  type Call,
  HonestPartner,
  PLAYER,
  type Reply,
  SECRET,
} from './fixtures/honest-partner.support.js';
import { tryOut } from './fixtures/try-out.support.js';
import { type DeductionJournal, giveBack, type JournalEntry } from './index.js';

type Invent = (partner: HonestPartner, call: Call) => Reply;

const INVENTED: Readonly<Record<string, Invent>> = {
  'a success': (partner, { json }) =>
    partner.reply(200, {
      success: true,
      partnerTransactionId: json['partnerTransactionId'] ?? 'ptx',
      partnerRevertId: randomUUID(),
    }),
  'ERR-ALREADY-REVERTED': (partner, call) =>
    partner.refusal(call, new Refused('ERR-ALREADY-REVERTED')),
  'ERR-TRANSACTION-NOT-FOUND': (partner, call) =>
    partner.refusal(call, new Refused('ERR-TRANSACTION-NOT-FOUND')),
};

const intercepted = (invent: Invent): HonestPartner =>
  partnerWith({
    partner: (honest) => ({
      answer: (call) =>
        isRevert(call) ? Promise.resolve(invent(honest, call)) : honest.answer(call),
      sign: (call, reply) => (isRevert(call) ? undefined : honest.sign(call, reply)),
    }),
  });

const isRevert = ({ endpoint }: Call): boolean => endpoint === 'revert-deduct-points';

class Journal implements DeductionJournal {
  readonly open = new Set<string>();
  sent({ svcRedemptionId }: { readonly svcRedemptionId: string }): Promise<void> {
    return Promise.resolve(void this.open.add(svcRedemptionId));
  }
  succeeded(): Promise<void> {
    return Promise.resolve();
  }
  settled(ids: readonly string[]): Promise<void> {
    for (const id of ids) this.open.delete(id);
    return Promise.resolve();
  }
}

async function backFrom(
  partner: HonestPartner,
  entry: Partial<JournalEntry> = {},
): ReturnType<typeof giveBack> {
  const baseUrl = await partner.start();
  const target = { baseUrl, apiKey: API_KEY, sharedSecret: SECRET };
  const svcRedemptionId = newRequestId(Date.now());
  const terms = { svcRedemptionId, address: PLAYER, points: 1, transactionId: undefined };
  try {
    return await giveBack(target, [{ ...terms, ...entry }]);
  } finally {
    await partner.stop();
  }
}

describe.each(Object.entries(INVENTED))('%s that nobody signed', (name, invent) => {
  it('settles nothing of an earlier run', async () => {
    expect(await backFrom(intercepted(invent))).toMatchObject([
      { state: 'uncertain', why: 'The answer that would settle it is not signed.' },
    ]);
    if (name === 'ERR-TRANSACTION-NOT-FOUND') return;
    const known = await backFrom(intercepted(invent), { transactionId: 'ptx_1' });
    expect(known).toMatchObject([{ state: 'uncertain' }]);
  });

  it('leaves the deductions of a run in the journal', async () => {
    const journal = new Journal();
    const partner = intercepted(invent);
    const report = await tryOut(partner, { journal, mayClaim: false });
    expect(report).toMatchObject({ outcome: 'violates' });
    const standing = [...partner.ledger.deductions.keys()];
    expect(standing.length).toBeGreaterThan(0);
    expect([...journal.open]).toEqual(expect.arrayContaining(standing));
  });
});

describe('the journal', () => {
  it('is empty after a run with a partner that signs', async () => {
    const journal = new Journal();
    await tryOut(new HonestPartner(), { journal });
    expect([...journal.open]).toEqual([]);
  });

  it('is empty where unsigned refusals are true, as the signed balance shows', async () => {
    const journal = new Journal();
    const half = partnerWith({
      partner: (honest) => ({
        refusal: (call, refused) => ({ ...honest.refusal(call, refused), status: 400 }),
        sign: (call, reply) => (isSuccess(reply) ? honest.sign(call, reply) : undefined),
      }),
    });
    const report = await tryOut(half, { journal });
    expect(report).toMatchObject({ outcome: 'conforms', counts: { warnings: 1 } });
    expect([...journal.open]).toEqual([]);
  });

  it('is settled by a signed word of an earlier run', async () => {
    expect(await backFrom(new HonestPartner())).toEqual([]);
  });
});
