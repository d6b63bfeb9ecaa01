/**
 * The chain takes back blocks that it called final. The redemptions that ended by those blocks are lost, both as points
 * and as tokens; no others are.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type UuidV7 } from '#libs/domain';
import { VaultBench } from '#libs/testing';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';

const TOKENS = 340n;
const CAP = 2n * TOKENS;

let bench: EngineBench;
beforeAll(async () => {
  bench = await EngineBench.start(undefined, { windowCap: CAP });
});
afterAll(() => bench.stop());

interface Authorised {
  readonly id: UuidV7;
  readonly calldata: `0x${string}`;
}

async function authorised(): Promise<Authorised> {
  const id = await bench.redeem();
  await bench.until(id, 'authorised');
  return { id, calldata: await bench.voucher(id) };
}

async function holdings({ id }: Authorised) {
  const { wallet } = await bench.read(id);
  return { points: bench.partner.points.get(wallet), tokens: await bench.chain.tokens(wallet) };
}

/** Claims in the next block of the fork, whatever our own clock says. */
function inFork({ calldata }: Authorised): Promise<string | undefined> {
  return bench.chain.refusal(bench.chain.to(VaultBench.STRANGER, calldata));
}

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
    for (const one of booked) ends.push(await inFork(one));
    expect(ends).toEqual([undefined, undefined, 'WindowCapExceeded']);
    expect(await inFork(before)).toBe('VoucherExpired');
    const both = { points: POINTS, tokens: TOKENS };
    expect(await Promise.all(booked.map(holdings))).toEqual([both, both, { ...both, tokens: 0n }]);
    expect(await holdings(before)).toEqual({ points: POINTS, tokens: 0n });
    expect(await bench.chain.view('remainingInWindow')).toBe(0n);
  });

  it('take tokens from a player whose claim was in them, until it is sent again', async () => {
    const day = 86_400;
    await bench.pass(day - (bench.chain.seconds % day));
    const one = await authorised();
    const head = await bench.chain.chain.player.head();
    expect(await bench.claim(one.id)).toBeUndefined();
    await bench.until(one.id, 'claimed');
    const depth = (await bench.chain.chain.player.head()) - head;
    await bench.chain.rollback(Number(depth));
    expect(await holdings(one)).toEqual({ points: 0, tokens: 0n });
    await bench.engine.sweep();
    expect((await bench.read(one.id)).state).toBe('claimed');
    expect(await inFork(one)).toBeUndefined();
    expect(await holdings(one)).toEqual({ points: 0, tokens: TOKENS });
  });
});
