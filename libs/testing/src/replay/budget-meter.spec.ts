import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BudgetMeter, priceOf } from './budget-meter.js';

describe('the budget meter', () => {
  it('lets pass exactly what the bucket holds, then what the time brings', () => {
    const meter = new BudgetMeter(1000, 500);
    expect(meter.take(500, 0)).toBe(0);
    expect(meter.take(1, 0)).toBe(1);
    expect(meter.take(100, 99)).toBe(1);
    expect(meter.take(100, 100)).toBe(0);
    expect(meter.take(500, 10_000)).toBe(0);
  });

  it('lets pass what is larger than the bucket when that is full, and has it paid off', () => {
    const meter = new BudgetMeter(500, 500);
    expect(meter.take(1600, 0)).toBe(0);
    expect(meter.take(75, 2000)).toBe(350);
    expect(meter.take(75, 2350)).toBe(0);
  });

  it('never spends more than the bucket and the budget of the time, and gives all of it to a client that waits', () => {
    fc.assert(
      fc.property(
        fc.array(fc.record({ price: fc.integer({ min: 1, max: 400 }), ms: fc.nat(300) })),
        (steps) => {
          const meter = new BudgetMeter(1000, 400);
          let now = 0;
          let spent = 0;
          for (const { price, ms } of steps) {
            now += ms;
            const waitMs = meter.take(price, now);
            if (waitMs > 0) {
              now += waitMs;
              expect(meter.take(price, now)).toBe(0);
            }
            spent += price;
            expect(spent).toBeLessThanOrEqual(400 + now);
          }
        },
      ),
    );
  });

  it('has the prices that the goals are counted in', () => {
    const methods = ['eth_getLogs', 'eth_getBlockByNumber', 'eth_call', 'eth_getBlockReceipts'];
    expect(methods.map(priceOf)).toEqual([75, 16, 26, 20]);
  });
});
