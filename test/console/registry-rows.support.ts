/**
 * Publications in every status: two final ones, of which one was sealed again later, one in a block, one refused, one
 * due. Support code, not a test.
 */
import { type Database, PublicationStore, type RegistryPlace } from '#libs/db';
import { type BlockHash, type NodeHash } from '#libs/domain';
import { aWallet } from '#libs/testing/database';

/** The first published day. */
export const FIRST = 20_310;
/** Markup, as a foreign node or registry could return it. */
export const REASON = `the registry holds <img src=x onerror="document.title='taken'">`;

export const rootOf = (day: number): NodeHash =>
  `0x${day.toString(16).padStart(64, '7')}` as NodeHash;
export const transactionOf = (day: number): BlockHash =>
  `0x${day.toString(16).padStart(64, 'a')}` as BlockHash;

export async function seedPublications(
  database: Database,
  place: RegistryPlace,
  nowMs: number,
): Promise<void> {
  const store = new PublicationStore(database, place);
  for (const offset of [0, 1, 2, 3, 4]) {
    const [day, root] = [FIRST + offset, rootOf(FIRST + offset)];
    await seal(database, day, root);
    await store.add({ day, revision: 1, root }, 'default', nowMs - 60_000);
    if (offset > 2) continue;
    await store.sign({
      ...{ day, root, nonce: offset, hash: transactionOf(day), account: aWallet(0xac) },
      ...{ gasPrice: 1n, gas: 48_000n, nowMs },
    });
    await store.mined(day);
    if (offset < 2) await store.final(day, nowMs);
  }
  await store.refused(FIRST + 3, REASON, nowMs);
  await seal(database, FIRST, rootOf(9));
}

async function seal(database: Database, day: number, root: NodeHash): Promise<void> {
  await database.query(
    {
      text: `INSERT INTO staking.sealed_day (day, revision, root, wallets, total, block_number, block_hash, software, previous_root)
        SELECT $1, coalesce(max(revision), 0) + 1, decode($2, 'hex'), 1, 1, 1, decode(repeat('11', 32), 'hex'), 'test',
          (SELECT root FROM staking.sealed_day WHERE day = $1 ORDER BY revision DESC LIMIT 1)
        FROM staking.sealed_day WHERE day = $1`,
    },
    [day, root.slice(2)],
  );
}
