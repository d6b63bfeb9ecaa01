import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { IndexStore, PriceStore } from '#libs/db';
import { anInitialIndex } from '#libs/testing/database';
import { CliBench } from './testing/cli-bench.support.js';

let bench: CliBench;
let prices: PriceStore;
let fence: bigint;
beforeAll(async () => {
  bench = await CliBench.start();
  prices = new PriceStore(bench.database);
  const index = new IndexStore(bench.database);
  await index.create(anInitialIndex());
  fence = await index.takeLead();
});
afterAll(() => bench.drop());
beforeEach(async () => {
  await bench.database.query({
    text: 'TRUNCATE staking.price, staking.price_hold, staking.price_acceptance',
  });
});

const aPrice = (usd: string) => ({ usd, observedAt: new Date(), source: 'http:x' });

/** Stores a held price as the indexer does: a thousandth of the previous price. */
async function hold(usd: string): Promise<void> {
  await prices.record(fence, aPrice('0.15'));
  const about = { reason: 'jump', beforeUsd: '0.15', maxChange: '0.2', isNewHold: false };
  await prices.hold(fence, { price: aPrice(usd), ...about });
}

describe('price show', () => {
  it('says that nothing is held', async () => {
    const none = await bench.run('price', 'show');
    expect(none).toMatchObject({ code: 0, err: '' });
    expect(none.out).toMatch(/^stored +none\nheld +no\naccepted last +never\n$/);
    await prices.record(fence, aPrice('0.15'));
    const { out } = await bench.run('price', 'show');
    expect(out).toMatch(/^stored +0\.15 USD by http:x\nobserved +\d{4}.+ ago\nheld +no$/m);
  });

  it('says what is held, why, and what to do', async () => {
    await hold('0.00015');
    const { out } = await bench.run('price', 'show');
    expect(out).toMatch(/^because +it differs from the one before by more than a fifth$/m);
    expect(out).toMatch(/^before +0\.15 USD$/m);
    expect(out).toMatch(/^now +0\.00015 USD \(-99\.9 %\) by http:x$/m);
    expect(out).toContain('price accept 0.00015');
    const json = JSON.parse((await bench.run('price', 'show', '--json')).out) as object;
    expect(json).toMatchObject({
      stored: { usd: '0.15' },
      hold: { reason: 'jump', beforeUsd: '0.15', price: { usd: '0.00015' }, isAccepted: false },
      accepted: null,
    });
  });
});

describe('price accept', () => {
  it('notes the figure for the next reading, with an audit row', async () => {
    await hold('0.02');
    const ran = await bench.run('price', 'accept', '0.021', '--as', 'ann');
    expect(ran).toMatchObject({ code: 0, err: '' });
    expect(ran.out).toMatch(/^Accepted 0\.021 USD; 0\.02 was held\./);
    expect((await bench.audit())[0]).toMatchObject({
      actor: 'operator:ann',
      command: 'price accept',
      arguments: { usd: '0.021' },
      outcome: 'accepted',
    });
    // The indexer ends the hold when it reads a price near the accepted one.
    expect(await prices.quoted()).toMatchObject({ isHeld: true, acceptedUsd: '0.021' });
    expect(await prices.standing()).toMatchObject({
      beforeUsd: '0.021',
      lowestUsd: '0.021',
      highestUsd: '0.021',
      hold: { isAccepted: true },
    });
    const { out } = await bench.run('price', 'show');
    expect(out).toMatch(/^accepted last +0\.021 USD by operator:ann, /m);
    expect(out).toContain('A figure was accepted');
  });

  it('accepts no other price than the one that is held by now', async () => {
    await hold('0.02');
    const ran = await bench.run('price', 'accept', '0.15', '--as', 'ann');
    expect(ran.code).toBe(1);
    expect(ran.err).toMatch(/^The price that is held now is 0\.02 USD.*\[PRICE_MOVED\]$/m);
    expect((await bench.audit())[0]).toMatchObject({
      command: 'price accept',
      outcome: 'refused: PRICE_MOVED',
    });
    expect((await prices.quoted()).acceptedUsd).toBeUndefined();
  });

  it('is refused where nothing is held, and for what is no price', async () => {
    const ran = await bench.run('price', 'accept', '0.15');
    expect(ran).toMatchObject({ code: 1 });
    expect(ran.err).toContain('[PRICE_NOT_HELD]');
    for (const usd of ['0', '-1', '1e-3', 'NaN', '']) {
      expect((await bench.run('price', 'accept', '--', usd)).code).toBe(1);
    }
  });
});
