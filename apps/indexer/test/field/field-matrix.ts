/**
 * The field as a matrix: each quirk as the only endpoint, as the first of two and as the second of two, from the start
 * and at the head only. In each cell the balances are right, or the index is not ready and names the endpoint and the
 * quirk. Beside an honest endpoint the balances are right in every cell. Each position has a test file of its own, so
 * that they run side by side.
 */
import { describe, expect, it } from '@jest/globals';
import { type Fault, QUIRKS } from '#libs/testing/fake-node';
import { type IndexerUnderTest } from '../harness.js';
import { FieldSuite } from './field-suite.js';

type Position = 'the only endpoint' | 'the first of two' | 'the second of two';

/** The faults of the endpoints with the quirk in this position. */
function placed(position: Position, faults: readonly Fault[]): readonly (readonly Fault[])[] {
  if (position === 'the only endpoint') return [faults];
  return position === 'the first of two' ? [faults, []] : [[], faults];
}

function expectSaid(running: IndexerUnderTest, what: RegExp): Promise<void> {
  return running.until(`saying ${what.source}`, ({ trouble }) => what.test(trouble ?? ''));
}

export function describeQuirks(position: Position): void {
  const suite = new FieldSuite();
  const isAlone = position === 'the only endpoint';
  const place = position === 'the second of two' ? 1 : 0;

  describe(position, () => {
    it.each(QUIRKS)('from the start: $name', async ({ faults, alone, finality }) => {
      const world = suite.aWorld({ ...(finality && { finality }) });
      const running = await world.start(...placed(position, faults()));
      if (isAlone && alone) {
        await expectSaid(running, alone);
        expect(running.status.notReady(Date.now(), 1e12)).toBeDefined();
        return;
      }
      await suite.expectRight(world);
      await suite.follow(world);
    });

    it.each(QUIRKS)('at the head: $name', async ({ faults, alone, finality }) => {
      const world = suite.aWorld({ ...(finality && { finality }) });
      const running = await world.start(...placed(position, []));
      await suite.expectRight(world);
      world.setFaults(place, faults());
      world.mine(2);
      if (isAlone && alone && !/pruned/.test(alone.source)) return expectSaid(running, alone);
      await suite.expectRight(world);
      await suite.follow(world);
    });
  });
  if (!isAlone) describeWithoutTotal(suite, position, place);
}

const INVALID = QUIRKS.filter(({ alone }) => alone !== undefined);

/** Two providers alone would vouch for such a contract, so that an endpoint without valid answers could stop the index. */
function describeWithoutTotal(suite: FieldSuite, position: Position, place: number): void {
  describe(`${position}, of a contract without a total`, () => {
    it.each(INVALID)('from the start: $name', async ({ faults, finality }) => {
      const world = suite.aWorld({ hasNoTotal: true, ...(finality && { finality }) });
      await world.start(...placed(position, faults()));
      await suite.expectRight(world);
      await suite.follow(world);
    });

    it.each(INVALID)('at the head: $name', async ({ faults, finality }) => {
      const world = suite.aWorld({ hasNoTotal: true, ...(finality && { finality }) });
      await world.start([], []);
      await suite.expectRight(world);
      world.setFaults(place, faults());
      await suite.follow(world);
    });
  });
}
