/**
 * The engine with a ledger in which a stolen credential marks a voucher as dead: points and tokens are never both given
 * away.
 */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Redemption, type UuidV7 } from '#libs/domain';
import { EngineBench, POINTS } from '../testing/engine-bench.support.js';
import { writeOff } from '../testing/write-off.support.js';

describe.each(['redemption', 'cli'] as const)('with the credential of %s, a voucher', (program) => {
  let bench: EngineBench;
  beforeAll(async () => {
    bench = await EngineBench.start();
  });
  afterAll(() => bench.stop());

  const pointsOf = ({ wallet }: Redemption) => bench.partner.points.get(wallet);

  async function writtenOff(): Promise<UuidV7> {
    const id = await bench.redeem();
    await bench.until(id, 'authorised');
    await writeOff({ test: bench.test, program, nowMs: bench.clock.nowMs() }, id);
    expect((await bench.read(id)).state).toBe('reverting');
    return id;
  }

  it('is written off in the ledger: no points come back while it can be claimed', async () => {
    const id = await writtenOff();
    for (let look = 0; look < 10; look++) {
      await bench.engine.sweep();
      await bench.pass(20);
    }
    const redemption = await bench.read(id);
    expect(redemption).toMatchObject({ state: 'reverting', attempts: { revert: 0 } });
    expect(pointsOf(redemption)).toBe(0);
    expect(await bench.claim(id)).toBeUndefined();
    const { reason } = await bench.until(id, 'attention');
    expect(reason).toBe('paid-after-dead');
    expect(pointsOf(redemption)).toBe(0);
    expect(await bench.chain.tokens(redemption.wallet)).toBe(340n);
  });

  it('is written off in the ledger: its points come back once, when the vault says so too', async () => {
    const id = await writtenOff();
    const redemption = await bench.until(id, 'reverted');
    expect(bench.clock.nowMs()).toBeGreaterThan((redemption.plan?.deadlineSeconds ?? 0) * 1000);
    expect(pointsOf(redemption)).toBe(POINTS);
    expect(await bench.claim(id)).toBe('VoucherExpired');
  });
});
