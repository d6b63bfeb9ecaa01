import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { PublicationStore, PublicationViews } from '#libs/db';
import { dayText, type NodeHash } from '#libs/domain';
import { aWallet } from '#libs/testing/database';
import { CliBench } from './testing/cli-bench.support.js';

const FIRST = 20_310;
const place = { chainId: 5, registry: aWallet(0xe9) };
const settings = { CHAIN_ID: '5', REGISTRY_ADDRESS: place.registry };
const rootOf = (day: number): NodeHash => `0x${day.toString(16).padStart(64, '7')}` as NodeHash;

let bench: CliBench;
let store: PublicationStore;
beforeAll(async () => {
  bench = await CliBench.start();
  store = new PublicationStore(bench.database, place);
  for (const day of [FIRST, FIRST + 3]) {
    await seal(day, rootOf(day));
    await store.add({ day, revision: 1, root: rootOf(day) }, 'default', 1);
  }
  await store.final(FIRST, 3);
});
afterAll(() => bench.drop());

async function seal(day: number, root: NodeHash): Promise<void> {
  await bench.database.query({
    text: `INSERT INTO staking.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software, previous_root)
      SELECT $1, coalesce(max(revision), 0) + 1, decode($2, 'hex'), 1, 1, 1, decode(repeat('11', 32), 'hex'), 'test',
        (SELECT root FROM staking.sealed_day WHERE day = $1 ORDER BY revision DESC LIMIT 1)
      FROM staking.sealed_day WHERE day = $1`,
    values: [day, root.slice(2)],
  });
}

const run = (...argv: string[]) => bench.runWith({ settings }, 'registry', ...argv);

describe('registry acknowledge', () => {
  const text = dayText(FIRST + 3);

  it.each(['2026-02-30', '20310'])('takes no %s for a day', async (day) => {
    const { code, err } = await run('acknowledge', day, '--note', 'by hand');
    expect({ code, err }).toEqual({ code: 1, err: expect.stringContaining('Expected a day') });
  });

  it('refuses what waits for nothing, and audits that', async () => {
    const { code, err } = await run('acknowledge', text, '--note', 'by hand', '--as', 'ann');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('[PUBLICATION_NOT_FOUND]'),
    });
    expect(await bench.audit()).toMatchObject([
      { actor: 'operator:ann', outcome: 'refused: PUBLICATION_NOT_FOUND' },
    ]);
  });

  it('takes a day out of the alerts, and audits that; status shows both', async () => {
    await store.refused(FIRST + 3, 'the registry holds another', 4);
    const before = await run('status', '--json');
    expect(JSON.parse(before.out)).toMatchObject({
      ...{ final: 1, lastDay: dayText(FIRST), different: 1, revised: 0, waiting: 0 },
      publications: [
        { day: text, status: 'refused', acknowledged: false, root: rootOf(FIRST + 3) },
        { day: dayText(FIRST), status: 'final' },
      ],
    });
    const { code } = await run('acknowledge', text, '--note', 'by hand', '--as', 'ann');
    expect(code).toBe(0);
    expect(await bench.audit()).toContainEqual(
      expect.objectContaining({
        ...{ actor: 'operator:ann', command: 'registry acknowledge', outcome: 'acknowledged' },
        arguments: { day: text, registry: place.registry, note: 'by hand' },
      }),
    );
    const after = await run('status');
    expect(after.out).toMatch(/another root on chain +0\n/);
    expect(after.out).toMatch(/refused +0x7+4f59 +the registry holds another/);
  });
});

describe('registry status', () => {
  it('names days that were sealed again', async () => {
    await seal(FIRST, rootOf(9));
    const { out } = await run('status');
    expect(out).toMatch(new RegExp(`sealed again since +${dayText(FIRST)}\n`));
    expect(await new PublicationViews(bench.database, place).revised()).toEqual([FIRST]);
  });

  it('says which setting is missing', async () => {
    const none = await bench.runWith({ settings: { CHAIN_ID: '5' } }, 'registry', 'status');
    expect(none.err).toContain('REGISTRY_ADDRESS must be set');
    const given = { CHAIN_ID: '5', REGISTRY_ADDRESS: `golf=${place.registry}` };
    const other = await bench.runWith({ settings: given }, 'registry', 'status');
    expect(other.err).toMatch(/names no registry of the stake set default/);
  });
});
