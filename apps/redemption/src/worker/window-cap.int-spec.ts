/**
 * What may be lost both as points and as tokens, within windowCap: by an owner of the database who alters the deadlines
 * of plans, and by a chain that takes back blocks which it called final.
 */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { type UuidV7 } from '#libs/domain';
import { VaultBench } from '#libs/testing/vault';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { Forger } from '../testing/forger.support.js';

const TOKENS = 340n;
const CAP = 2n * TOKENS;
const BOTH = { points: POINTS, tokens: TOKENS };

let bench: EngineBench;
beforeAll(async () => {
  bench = await EngineBench.start({ windowCap: CAP });
});
afterAll(() => bench.stop());

beforeEach(async () => {
  // Begins a new window.
  const day = 86_400;
  bench.clock.set((Math.floor(bench.chain.seconds / day) + 1) * day * 1000);
  await bench.pass(0);
});

interface Authorised {
  readonly id: UuidV7;
  readonly calldata: `0x${string}`;
}

async function authorised(): Promise<Authorised> {
  const id = await bench.authorised();
  return { id, calldata: await bench.voucher(id) };
}

async function holdings({ id }: Authorised) {
  const { wallet } = await bench.read(id);
  return { points: bench.partner.points.get(wallet), tokens: await bench.chain.tokens(wallet) };
}

/** Claims in the next block, whatever our own clock says. */
function claimNext({ calldata }: Authorised): Promise<string | undefined> {
  return bench.chain.refusal(bench.chain.to(VaultBench.STRANGER, calldata));
}

it('gives points back beside vouchers whose deadlines were altered, with an alert', async () => {
  const forger = new Forger(bench);
  const taken: Authorised[] = [];
  for (let count = 0; count < 3; count++) {
    const one = await authorised();
    await forger.forge(
      'UPDATE redemption.redemption SET plan_deadline_seconds = plan_deadline_seconds - 601 WHERE id = $1',
      [one.id],
    );
    await bench.until(one.id, 'reverted');
    taken.push(one);
  }
  expect(bench.logs.join('')).toContain('"alert":"evidence-invalid","severity":"critical"');
  const ends = [];
  for (const one of taken) ends.push(await claimNext(one));
  expect(ends).toEqual([undefined, undefined, 'WindowCapExceeded']);
  expect(await Promise.all(taken.map(holdings))).toEqual([BOTH, BOTH, { ...BOTH, tokens: 0n }]);
});

describe('final blocks that the chain takes back', () => {
  it('cost the vouchers that were booked by them, both as points and as tokens, within windowCap and no others', async () => {
    const before = await authorised();
    await bench.until(before.id, 'reverted');
    const head = await bench.chain.chain.player.head();
    const booked: Authorised[] = [];
    // One after the other, since the window limits what is promised at the same time.
    for (let count = 0; count < 3; count++) {
      const one = await authorised();
      await bench.until(one.id, 'reverted');
      booked.push(one);
    }
    const depth = (await bench.chain.chain.player.head()) - head;
    expect(depth).toBeGreaterThan(4n);

    await bench.chain.rollback(Number(depth));
    // Vouchers of the fork that is the chain now, where their players claimed in time.
    const ends = [];
    for (const one of booked) ends.push(await claimNext(one));
    expect(ends).toEqual([undefined, undefined, 'WindowCapExceeded']);
    expect(await claimNext(before)).toBe('VoucherExpired');
    expect(await Promise.all(booked.map(holdings))).toEqual([BOTH, BOTH, { ...BOTH, tokens: 0n }]);
    expect(await holdings(before)).toEqual({ points: POINTS, tokens: 0n });
    expect(await bench.chain.view('remainingInWindow')).toBe(0n);
  });

  it('take tokens from a player whose claim was in them, until it is sent again', async () => {
    const one = await authorised();
    const head = await bench.chain.chain.player.head();
    expect(await bench.claim(one.id)).toBeUndefined();
    await bench.until(one.id, 'claimed');
    const depth = (await bench.chain.chain.player.head()) - head;
    await bench.chain.rollback(Number(depth));
    expect(await holdings(one)).toEqual({ points: 0, tokens: 0n });
    await bench.engine.sweep();
    expect((await bench.read(one.id)).state).toBe('claimed');
    expect(await claimNext(one)).toBeUndefined();
    expect(await holdings(one)).toEqual({ points: 0, tokens: TOKENS });
  });
});
