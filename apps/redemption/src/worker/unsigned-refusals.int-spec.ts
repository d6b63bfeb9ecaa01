/**
 * A proxy on the way to the partner lets the partner act, or not, and answers with a refusal of its own, which it cannot
 * sign. Real sockets, a real ledger, a real chain. Either the points agree with the tokens, or an operator is asked.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type UuidV7 } from '#libs/domain';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import {
  inventedRefusal,
  PartnerProxy,
  type ProxiedAnswer,
} from '../testing/partner-proxy.support.js';

const DEDUCT = '/deduct-points-by-address';
const BALANCE = '/get-points-by-address';

let bench: EngineBench;
let proxy: PartnerProxy;
beforeAll(async () => {
  bench = await EngineBench.start();
  proxy = await PartnerProxy.before(bench.partner.url);
});
afterEach(async () => {
  proxy.answer = (call) => call.forward();
  // A circuit that the test opened lets the next call through again.
  await bench.pass(600);
});
afterAll(async () => {
  await proxy.stop();
  await bench.stop();
});

const pointsOf = async (id: UuidV7) => bench.partner.points.get((await bench.read(id)).wallet);
const callsOf = (path: string, id: UuidV7) =>
  bench.partner.calls.filter((call) => call.path === path && call.body['svcRedemptionId'] === id);

describe('the balance before the first deduction', () => {
  it('ends a redemption of too few points with nothing sent, whether or not refusals are signed', async () => {
    await bench.setCallback([], proxy.url);
    const id = await bench.redeem({}, POINTS - 1);
    const ended = await bench.until(id, 'failed', 'attention', 'reverted');
    expect(ended).toMatchObject({
      ...{ state: 'failed', reason: 'insufficient-points' },
      ...{ exposure: 'none', pendingAtMs: null },
    });
    expect(callsOf(DEDUCT, id)).toEqual([]);
  });

  it('that is an old one, or unsigned, or a refusal of a proxy, deducts nothing until the quote ends', async () => {
    await bench.setCallback([], proxy.url);
    const answers: ((truth: ProxiedAnswer) => ProxiedAnswer)[] = [
      (truth) => truth,
      (truth) => ({ ...truth, signature: null }),
      () => inventedRefusal('ERR-USER-NOT-FOUND', 404),
    ];
    let old: ProxiedAnswer | undefined;
    let asked = 0;
    proxy.answer = async (call) => {
      if (call.path !== BALANCE) return call.forward();
      old ??= await call.forward();
      return answers[asked++ % answers.length]?.(old) ?? old;
    };
    const first = await bench.redeem();
    await bench.engine.sweep();
    const id = await bench.redeem();
    for (let turn = 0; turn < 30 && (await bench.read(id)).state === 'created'; turn++) {
      await bench.engine.sweep();
      await bench.pass(5);
    }
    expect((await bench.read(first)).state).toBe('authorised');
    expect(await bench.read(id)).toMatchObject({ state: 'failed', reason: 'partner-unreachable' });
    expect(callsOf(DEDUCT, id)).toEqual([]);
    expect(asked).toBeGreaterThan(5);
    expect(await pointsOf(id)).toBe(POINTS);
  });

  it('deducts nothing where another worker took the lease during the read', async () => {
    await bench.setCallback([], proxy.url);
    const id = await bench.redeem();
    proxy.answer = async (call) => {
      const answer = await call.forward();
      if (call.path !== BALANCE) return answer;
      await bench.database.query(
        { text: `UPDATE redemption.redemption SET lease_owner = 'another worker' WHERE id = $1` },
        [id],
      );
      return answer;
    };
    await bench.engine.sweep();
    expect(await bench.read(id)).toMatchObject({ state: 'created', version: 1 });
    expect(callsOf(DEDUCT, id)).toEqual([]);
    // The other worker died. Its lease ends, and the redemption goes on with another read.
    await bench.database.query(
      { text: `UPDATE redemption.redemption SET leased_until = now() WHERE id = $1` },
      [id],
    );
    proxy.answer = (call) => call.forward();
    await bench.until(id, 'authorised');
    expect(callsOf(DEDUCT, id)).toHaveLength(1);
  });

  it('is read again after a moment, and the redemption goes on', async () => {
    await bench.setCallback([], proxy.url);
    let lost = 2;
    proxy.answer = (call) =>
      call.path === BALANCE && lost-- > 0
        ? Promise.resolve(inventedRefusal('ERR-INTERNAL', 503))
        : call.forward();
    const id = await bench.redeem();
    expect(await bench.until(id, 'authorised')).toMatchObject({ attempts: { deduct: 1 } });
    // While the partner's circuit is open, more reads are held back.
    const events = (await bench.views.show(id))?.transitions.map(({ event }) => event);
    expect([...new Set(events)]).toEqual([
      ...['create', 'balance-unknown', 'call-due', 'deduct-confirmed', 'plan-committed'],
    ]);
  });
});
