/**
 * The field as a matrix: each quirk as the only endpoint, as the first of two, as the second of two and as both, from
 * the start and at the head only. In each cell the balances are right, or the index is not ready and names the endpoint
 * and the quirk. Beside an honest endpoint the balances are right in every cell. Each position has a test file of its
 * own, so that they run side by side.
 */
import { describe, expect, it } from '@jest/globals';
import { type Fault, type Quirk, QUIRKS } from '#libs/testing/fake-node';
import { type IndexerUnderTest } from '../harness.js';
import { FieldSuite } from './field-suite.js';
import { type WorldOptions } from './field-world.js';

type Position = 'the only endpoint' | 'the first of two' | 'the second of two' | 'both of two';

/** Which endpoints have the quirk. */
const PLACES: Readonly<Record<Position, readonly boolean[]>> = {
  'the only endpoint': [true],
  'the first of two': [true, false],
  'the second of two': [false, true],
  'both of two': [true, true],
};

export function describeQuirks(position: Position): void {
  const suite = new FieldSuite();
  const places = PLACES[position];
  const hasHonest = places.includes(false);

  describe(position, () => {
    if (position !== 'both of two') describeRows(QUIRKS, {});
  });
  // Two providers alone vouch for such a contract, so that an endpoint without valid answers could stop the index.
  describe(`${position}, of a contract without a total`, () => {
    if (position !== 'the only endpoint')
      describeRows(hasHonest ? QUIRKS.filter(isHard) : QUIRKS.filter(isValid), {
        hasNoTotal: true,
      });
  });

  function describeRows(quirks: readonly Quirk[], options: WorldOptions): void {
    const worldFor = ({ finality }: Quirk) =>
      suite.aWorld({ ...options, ...(finality && { finality }) });
    const faultsOf = (quirk: Quirk): readonly (readonly Fault[])[] =>
      places.map((has) => (has ? quirk.faults() : []));

    it.each(quirks)('from the start: $name', async (quirk) => {
      const world = worldFor(quirk);
      const running = await world.start(...faultsOf(quirk));
      if (!hasHonest && quirk.alone) {
        await expectSaid(running, quirk.alone);
        expect(running.status.notReady(Date.now(), 1e12)).toBeDefined();
        return;
      }
      await suite.expectRight(world);
      await suite.follow(world);
    });

    it.each(quirks)('at the head: $name', async (quirk) => {
      const world = worldFor(quirk);
      const running = await world.start(...places.map(() => []));
      await suite.expectRight(world);
      for (const [place, faults] of faultsOf(quirk).entries()) world.setFaults(place, faults);
      world.mine(2);
      if (!hasHonest && quirk.alone && !quirk.isOfOldBlocks)
        return expectSaid(running, quirk.alone);
      await suite.expectRight(world);
      await suite.follow(world);
    });
  }
}

function isValid({ alone }: Quirk): boolean {
  return alone === undefined;
}

/** Whether a node with the quirk gives no valid answers, or not all logs. */
function isHard(quirk: Quirk): boolean {
  return !isValid(quirk) || quirk.losesLogs === true;
}

function expectSaid(running: IndexerUnderTest, what: RegExp): Promise<void> {
  return running.until(`saying ${what.source}`, ({ trouble }) => what.test(trouble ?? ''));
}
