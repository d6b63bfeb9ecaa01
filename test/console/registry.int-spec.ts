/** Tests that the page of the registry shows the same as `registry status`. */
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { IndexStore, PublicationStore } from '#libs/db';
import { dayText } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { type RegistriesBody } from '../../apps/console/src/operate/registry/registry.controller.js';
import { VIEWER } from '../../apps/console/src/testing/console-harness.support.js';
import { seedIndex } from '../../apps/console/src/testing/operate-rows.support.js';
import { type Visitor } from '../../apps/console/src/testing/visitor.support.js';
import { DeskBench, get } from './desk.support.js';
import { FIRST, rootOf, seedPublications } from './registry-rows.support.js';

const PATH = '/api/operate/registries';
const REGISTRY = aWallet(0xe9);

let bench: DeskBench;
let viewer: Visitor;
beforeAll(async () => {
  bench = await DeskBench.start({ REGISTRY_ADDRESS: REGISTRY });
  bench.console.clock.set(Date.now());
  viewer = await bench.console.signedIn(VIEWER);
});
afterAll(() => bench.stop());

/** The output of the command. */
async function status(chainId: number): Promise<object> {
  const settings = { CHAIN_ID: String(chainId), REGISTRY_ADDRESS: REGISTRY };
  const { out } = await bench.cliWith(settings, 'registry', 'status', '--json');
  return JSON.parse(out) as object;
}

describe('the registry', () => {
  it('of an installation without an index has nothing to tell', async () => {
    expect(await get<RegistriesBody>(viewer, PATH)).toEqual({
      registries: [{ stakeSet: 'default', registry: REGISTRY, status: null }],
    });
  });

  it('has what is published, what waits and what differs, as the command has it', async () => {
    const { database, clock } = bench.console;
    await seedIndex(database, clock.nowMs());
    const { chainId = 0 } = (await new IndexStore(database).state()) ?? {};
    const place = { chainId, registry: REGISTRY };
    await seedPublications(database, place, clock.nowMs());
    const [one, ...more] = (await get<RegistriesBody>(viewer, PATH)).registries;
    expect(more).toEqual([]);
    expect(one?.status).toMatchObject({
      ...{ final: 2, lastDay: dayText(FIRST + 1), mined: 1, waiting: 1, different: 1, revised: 1 },
      revisedDays: [dayText(FIRST)],
    });
    expect(one?.status?.publications[0]).toMatchObject({ status: 'due', transactionHash: null });
    expect(one?.status?.publications.at(-1)).toMatchObject({
      ...{ day: dayText(FIRST), status: 'final', root: rootOf(FIRST), reason: null },
      transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
    });
    // The page does not show the nonce.
    const { registry, publications, ...others } = (await status(chainId)) as {
      registry: string;
      publications: object[];
    };
    const shown = {
      ...others,
      publications: publications.map((line) => ({ ...line, nonce: undefined })),
    };
    expect([one?.registry, one?.status]).toEqual([registry, shown]);
    // Publications of another registry are not shown.
    const other = new PublicationStore(database, { chainId, registry: aWallet(0xea) });
    const day = { day: FIRST, revision: 1, root: rootOf(1) };
    await other.add(day, 'default', clock.nowMs());
    expect((await get<RegistriesBody>(viewer, PATH)).registries).toEqual([one]);
  });
});

it('is not shown where REGISTRY_ADDRESS does not name it', async () => {
  const bare = await DeskBench.start({ REGISTRY_ADDRESS: `golf=${REGISTRY}` });
  try {
    const visitor = await bare.console.signedIn(VIEWER);
    expect(await get<RegistriesBody>(visitor, PATH)).toEqual({
      registries: [{ stakeSet: 'default', registry: null, status: null }],
    });
  } finally {
    await bare.stop();
  }
});
