/**
 * The field as a matrix: each quirk as the only endpoint, as the first of two and as the second of two, from the start
 * and at the head only. In each cell the balances are right, or the index is not ready and names the endpoint and the
 * quirk. Beside an honest endpoint the balances are right in every cell.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type Database } from '#libs/db';
import { ZERO_ADDRESS } from '#libs/domain';
import { aWallet, createTestDatabase, type TestDatabase } from '#libs/testing/database';
import {
  type Fault,
  isSelector,
  QUIRKS,
  type StakeEvent,
  TOTAL_STAKED,
} from '#libs/testing/fake-node';
import { FieldWorld, type WorldOptions } from './field.js';
import { type IndexerUnderTest } from './harness.js';

let database: TestDatabase;
let open: Database;
let world: FieldWorld | undefined;

beforeAll(async () => {
  database = await createTestDatabase();
  open = await database.open();
});

afterEach(async () => {
  await world?.stop();
  world = undefined;
  await database.empty();
});

afterAll(() => database.drop());

const POSITIONS = ['the only endpoint', 'the first of two', 'the second of two'] as const;
type Position = (typeof POSITIONS)[number];

/** The faults of the endpoints with the quirk in this position. */
function placed(position: Position, faults: readonly Fault[]): readonly (readonly Fault[])[] {
  if (position === 'the only endpoint') return [faults];
  return position === 'the first of two' ? [faults, []] : [[], faults];
}

function aWorld(options?: WorldOptions): FieldWorld {
  world = new FieldWorld(database, options);
  return world;
}

/** Follows the chain block by block; one of three blocks has no events. */
async function follow(one: FieldWorld): Promise<void> {
  for (let round = 0; round < 3; round++) {
    one.mine(1);
    await one.expectRight(open);
  }
}

function expectSaid(running: IndexerUnderTest, what: RegExp): Promise<void> {
  return running.until(`saying ${what.source}`, ({ trouble }) => what.test(trouble ?? ''));
}

describe.each(POSITIONS)('%s', (position) => {
  const isAlone = position === 'the only endpoint';

  it.each(QUIRKS)('from the start: $name', async ({ faults, alone, finality }) => {
    const one = aWorld({ ...(finality && { finality }) });
    const running = await one.start(...placed(position, faults()));
    if (isAlone && alone) {
      await expectSaid(running, alone);
      expect(running.status.notReady(Date.now(), 1e12)).toBeDefined();
      return;
    }
    await one.expectRight(open);
    await follow(one);
  });

  it.each(QUIRKS)('at the head: $name', async ({ faults, alone, finality }) => {
    const one = aWorld({ ...(finality && { finality }) });
    const running = await one.start(...placed(position, []));
    await one.expectRight(open);
    one.setFaults(position === 'the second of two' ? 1 : 0, faults());
    one.mine(2);
    if (isAlone && alone && !/pruned/.test(alone.source)) return expectSaid(running, alone);
    await one.expectRight(open);
    await follow(one);
  });
});

const INVALID = QUIRKS.filter(({ alone }) => alone !== undefined);
const BESIDE = POSITIONS.slice(1);

/** Two providers alone would vouch for such a contract, so that an endpoint without valid answers could stop the index. */
describe.each(BESIDE)('%s, of a contract without a total', (position) => {
  it.each(INVALID)('from the start: $name', async ({ faults, finality }) => {
    const one = aWorld({ hasNoTotal: true, ...(finality && { finality }) });
    await one.start(...placed(position, faults()));
    await one.expectRight(open);
    await follow(one);
  });

  it.each(INVALID)('at the head: $name', async ({ faults, finality }) => {
    const one = aWorld({ hasNoTotal: true, ...(finality && { finality }) });
    await one.start([], []);
    await one.expectRight(open);
    one.setFaults(position === 'the second of two' ? 1 : 0, faults());
    await follow(one);
  });
});

const wallet = aWallet(1);
const at =
  (numbers: readonly number[], event: StakeEvent) =>
  (number: number): readonly StakeEvent[] =>
    numbers.includes(number) ? [event] : [];
const burnt = at([15, 33, 42, 43], { wallet, to: ZERO_ADDRESS, amount: 2n });
const TOKEN_WORLD = { events: 'transfer', more: burnt } as const;

/** What every node of a chain shows. */
const CHAINS: readonly (WorldOptions & { readonly name: string; readonly source: string })[] = [
  {
    name: 'a burn to 0x0 leaves the total as it is',
    source: 'transmissions11/solmate#58, balancer/balancer-core#197',
    ...TOKEN_WORLD,
    keepsBurnt: true,
  },
  {
    name: 'a burn to 0x0 reduces the total, and 0x0 has no balance',
    source: 'OpenZeppelin/openzeppelin-contracts#4215',
    ...TOKEN_WORLD,
  },
  {
    name: 'the total leaves out what 0x0 holds',
    source: 'ethereum/EIPs#1419',
    ...TOKEN_WORLD,
    keepsBurnt: true,
    excludesBurnt: true,
  },
  {
    name: 'somebody stakes for 0x0',
    source: 'ethereum/EIPs#1419 (of its kind)',
    more: at([15, 33, 42], { wallet: ZERO_ADDRESS, amount: 5n }),
  },
  {
    name: 'blocks of the same time, as everywhere here',
    source: 'base/docs, Denim: five blocks share a second',
  },
  {
    name: 'events that neither blooms nor receipts show',
    source: '0xPolygon/bor#519, 0xPolygon/bor#1654',
    more: at([15, 33, 41, 42, 43], { wallet, amount: 3n, isHidden: true }),
  },
];

describe('a chain', () => {
  it.each(CHAINS.flatMap((chain) => [1, 2].map((endpoints) => ({ ...chain, endpoints }))))(
    'by $endpoints: $name',
    async ({ endpoints, ...options }) => {
      const one = aWorld(options);
      await one.start(...Array.from({ length: endpoints }, () => []));
      await one.expectRight(open);
      await follow(one);
    },
  );

  it.each([
    { endpoints: 1, mode: 'wallets' },
    { endpoints: 2, mode: 'two' },
  ])(
    'by $endpoints: whose contract loses its total, is verified in the mode $mode',
    async (row) => {
      const one = aWorld();
      const nodes = [...Array(row.endpoints).keys()];
      const running = await one.start(...nodes.map(() => []));
      await one.expectRight(open);
      const error = { code: 3, message: 'execution reverted' };
      const only = isSelector(TOTAL_STAKED);
      for (const place of nodes)
        one.setFaults(place, [{ kind: 'error', method: 'eth_call', ...error, only }]);
      await follow(one);
      expect(running.status.verification?.mode).toBe(row.mode);
    },
  );

  it('that skips a height is refused before the sync', async () => {
    const one = aWorld({ skips: new Set([20]) });
    const running = await one.start([]);
    await expect(running.running).rejects.toMatchObject({
      code: 'CHAIN_SKIPS_HEIGHTS',
      message: expect.stringContaining('no block 20, although it has later ones'),
    });
  });

  it('that skips a height later: the index halts and says so', async () => {
    const one = aWorld({ skips: new Set([43]) });
    const running = await one.start([]);
    await one.expectRight(open);
    one.mine(4);
    await running.until('halted', ({ phase }) => phase === 'halted');
    expect(running.status.trouble).toMatch(/has no block 43, although it has later ones/);
  });
});
