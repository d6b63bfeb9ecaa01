import { describe, expect, it } from '@jest/globals';
import { type Correction, type IndexState, type SignedAnswer } from '#libs/db';
import { type Address, dayText, type PartnerId } from '#libs/domain';
import { correctedAnswer, pathPatterns } from './signed-answers.js';

const WALLET = `0x${'a'.repeat(40)}` as Address;
const OTHER = `0x${'b'.repeat(40)}` as Address;
const CONTRACT = `0x${'c'.repeat(40)}`;
const DAY = 20_000;
const TOKEN = 10n ** 18n;

/** On two days the index had 1 token instead of 3. */
const CORRECTION: Correction = {
  ...{ id: '1', at: new Date(0), stakeSet: 'default', reason: 'a test' },
  blocks: [
    { wallet: WALLET, block: 7, stored: String(TOKEN), correct: String(3n * TOKEN) },
    { wallet: WALLET, block: 9, stored: null, correct: String(4n * TOKEN) },
  ],
  days: [{ wallet: WALLET, firstDay: DAY, lastDay: DAY + 1, stored: TOKEN, correct: 3n * TOKEN }],
};

function question(correction = CORRECTION) {
  return {
    correction,
    state: { stakeContract: CONTRACT, tokenDecimals: 18 } as IndexState,
    amounts: () => Promise.resolve([3n * TOKEN, 3n * TOKEN, 6n * TOKEN]),
  };
}

function answered(path: string, body: object, change: Partial<SignedAnswer> = {}): SignedAnswer {
  const bytes = Buffer.from(JSON.stringify(body));
  return {
    ...{ request: '5', requestId: 'r-5', partnerId: 'p' as PartnerId, stakeSet: 'default' },
    ...{ at: new Date(0), method: 'GET', path, body: bytes, bodyBytes: bytes.length, ...change },
  };
}

function snapshot(amounts: readonly number[], walletAddress = WALLET) {
  return {
    averageStakedAmount: amounts.reduce((sum, one) => sum + one, 0) / amounts.length,
    ...{ stakeContract: CONTRACT, walletAddress },
    stakingSnapshots: amounts.map((snapshotAmount, place) => ({
      from: `${dayText(DAY + place)}T00:00:00.000Z`,
      snapshotAmount,
    })),
  };
}

const SNAPSHOTS = '/api/staking/snapshots?lastDays=3';
const AMOUNT = { walletAddress: WALLET, field: 'snapshotAmount', correct: 3 };

describe('an answer of before a correction', () => {
  it('has the wrong days of a snapshot, and its average', async () => {
    const found = await correctedAnswer(answered(SNAPSHOTS, snapshot([1, 3, 6])), question());
    expect(found).toMatchObject({ isCertain: true, answer: { request: '5', requestId: 'r-5' } });
    const average = { walletAddress: WALLET, field: 'averageStakedAmount', correct: 4 };
    expect(found?.figures).toEqual([
      { ...average, day: dayText(DAY + 2), signed: 10 / 3 },
      { ...AMOUNT, day: dayText(DAY), signed: 1 },
    ]);
  });

  it('is right if its figures were, or if it is of another wallet or contract', async () => {
    const other = { ...snapshot([1, 1, 6]), stakeContract: `0x${'d'.repeat(40)}` };
    const right = [snapshot([3, 3, 6]), snapshot([1, 1, 6], OTHER), other, [], { a: 1 }];
    for (const body of right) {
      expect(await correctedAnswer(answered(SNAPSHOTS, body), question())).toBeUndefined();
    }
    const credentials = answered('/api/staking/keys', snapshot([1, 1, 6]));
    expect(await correctedAnswer(credentials, question())).toBeUndefined();
  });

  it('is each wrong result of a batch', async () => {
    const results = [
      { index: 0, status: 200, body: snapshot([9, 9, 9], OTHER) },
      { index: 1, status: 404, body: { code: 'NOT_FOUND' } },
      { index: 2, status: 200, body: snapshot([1, 1, 6]) },
    ];
    const batch = answered('/api/staking/snapshots/batch', { results });
    const found = await correctedAnswer(batch, question());
    expect(found?.figures.map(({ field, signed }) => [field, signed])).toEqual([
      ['averageStakedAmount', 8 / 3],
      ['snapshotAmount', 1],
      ['snapshotAmount', 1],
    ]);
  });

  it('may be wrong if only its beginning is known, unless its days are right', async () => {
    const cut = (endDay: number) =>
      answered(
        '/api/staking/snapshots/batch',
        { endDay: dayText(endDay), lastDays: 3, results: [] },
        { bodyBytes: 9000 },
      );
    const found = await correctedAnswer(cut(DAY + 2), question());
    expect(found).toMatchObject({ isCertain: false, figures: [] });
    expect(await correctedAnswer(cut(DAY + 4), question())).toBeUndefined();
    expect(await correctedAnswer(cut(DAY - 1), question())).toBeUndefined();
  });

  it('may be wrong if its beginning names no contract, by the contract or the set of the request', async () => {
    const cut = (contract: string, stakeSet: string) =>
      correctedAnswer(
        answered(
          `/api/staking/history?walletAddress=${WALLET}${contract}`,
          { intervals: [] },
          { bodyBytes: 9000, stakeSet },
        ),
        question(),
      );
    const asked = (address: string) => `&contract=eip155%3A1%3A${address.toUpperCase()}`;
    expect(await cut('', 'default')).toMatchObject({ isCertain: false });
    expect(await cut('', 'other')).toBeUndefined();
    expect(await cut(asked(CONTRACT), 'other')).toMatchObject({ isCertain: false });
    expect(await cut(asked(`0x${'d'.repeat(40)}`), 'default')).toBeUndefined();
  });

  it('has wrong and missing intervals of the page of a history', async () => {
    const history = (more: object) =>
      answered('/api/staking/history?walletAddress=', {
        ...{ walletAddress: WALLET, stakeContract: CONTRACT, ...more },
        intervals: [{ fromBlock: 7, stakedAmount: 1 }],
      });
    const all = await correctedAnswer(history({}), question());
    const interval = { walletAddress: WALLET, field: 'stakedAmount' };
    expect(all?.figures).toEqual([
      { ...interval, block: 7, signed: 1, correct: 3 },
      { ...interval, block: 9, signed: null, correct: 4 },
    ]);
    const page = await correctedAnswer(history({ next: 7 }), question());
    expect(page?.figures).toHaveLength(1);
    expect(await correctedAnswer(history({ after: 9 }), question())).toBeUndefined();
  });

  it('has the low of a proof', async () => {
    const proof = (low: bigint) =>
      answered(`/api/staking/days/${dayText(DAY)}/proof`, {
        ...{ walletAddress: WALLET, low: String(low), day: { day: dayText(DAY) } },
      });
    const found = await correctedAnswer(proof(TOKEN), question());
    expect(found?.figures).toEqual([
      {
        ...{ walletAddress: WALLET, field: 'low', day: dayText(DAY) },
        ...{ signed: String(TOKEN), correct: String(3n * TOKEN) },
      },
    ]);
    expect(await correctedAnswer(proof(3n * TOKEN), question())).toBeUndefined();
  });
});

describe('pathPatterns', () => {
  it('name few wallets, and every path of many', () => {
    expect(pathPatterns(CORRECTION)).toEqual(['/api/staking/snapshots/batch%', `%${WALLET}%`]);
    const blocks = Array.from({ length: 201 }, (_, place) => ({
      ...{ wallet: `0x${place}`, block: 1, stored: null, correct: '1' },
    }));
    expect(pathPatterns({ ...CORRECTION, blocks })).toEqual(['/api/staking/%']);
  });
});
