/** The lists of the newest sealed days, from which proofs and exports are made. */
import {
  type Address,
  type DayLeaf,
  type DayLow,
  DayList,
  LAST_ADDRESS,
  type NodeHash,
  siblingsOf,
} from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressBytes, addressOf, nodeOf } from '../connection/rows.js';
import { type SealedDay } from './sealed-day.js';

/** Leaves in a row: few enough to read the row of one wallet fast. */
export const LEAVES_IN_CHUNK = 256;
/** Nodes in a row. One node is cut out of the row without reading the rest. */
export const NODES_IN_CHUNK = 1024;
const CHUNKS_IN_PAGE = 8;

type Revision = Pick<SealedDay, 'day' | 'revision'>;

const CHUNK_OF_WALLET = named<Revision & { wallet: Buffer }>(
  'sealed_chunk_of_wallet',
  `SELECT l.leaves, l.indices, (SELECT encode(n.first_wallet, 'hex') FROM staking.sealed_leaves n
      WHERE n.day = l.day AND n.revision = l.revision AND n.chunk = l.chunk + 1) AS next
    FROM staking.sealed_leaves l WHERE l.day = :day AND l.revision = :revision AND l.first_wallet <= :wallet
    ORDER BY l.first_wallet DESC LIMIT 1`,
);

const NODES = named<Revision & { nodes: number[] }>(
  'sealed_nodes',
  `SELECT encode(substring(c.nodes FROM (n.node % ${NODES_IN_CHUNK}) * 32 + 1 FOR 32), 'hex') AS node
    FROM unnest(:nodes::int[]) WITH ORDINALITY AS n (node, place)
    JOIN staking.sealed_nodes c ON c.day = :day AND c.revision = :revision AND c.chunk = n.node / ${NODES_IN_CHUNK}
    ORDER BY n.place`,
);

const LEAVES = named<Revision & { from: number }>(
  'sealed_leaves',
  `SELECT leaves FROM staking.sealed_leaves WHERE day = :day AND revision = :revision
    AND chunk >= :from AND chunk < :from + ${CHUNKS_IN_PAGE} ORDER BY chunk`,
);

const HAS_LIST = named<Revision>(
  'sealed_has_list',
  `SELECT EXISTS (SELECT FROM staking.sealed_leaves WHERE day = :day AND revision = :revision AND chunk = 0) AS is`,
);

interface ChunkRow {
  leaves: Buffer;
  indices: Buffer;
  next: string | null;
}

export class SealedListStore {
  constructor(private readonly database: Database) {}

  /** Whether the lists of a day are kept. */
  async has({ day, revision }: Revision): Promise<boolean> {
    const [row] = await this.database.query<{ is: boolean }>(HAS_LIST({ day, revision }));
    return row?.is === true;
  }

  /**
   * The leaf that proves a wallet's low, which is the wallet's own or the one that encloses the wallet, and the nodes
   * that lead to the day's root.
   * @returns undefined where the lists of the day are not kept
   */
  async prove(
    { day, revision }: Revision,
    wallet: Address,
  ): Promise<{ readonly leaf: DayLeaf; readonly proof: readonly NodeHash[] } | undefined> {
    const bytes = addressBytes(wallet);
    const [row] = await this.database.query<ChunkRow>(
      CHUNK_OF_WALLET({ day, revision, wallet: bytes }),
    );
    if (row === undefined) return undefined;
    const list = new DayList(row.leaves);
    const place = list.countUpTo(wallet) - 1;
    const following = row.next === null ? LAST_ADDRESS : addressOf(row.next);
    const next = place + 1 < list.length ? list.at(place + 1).wallet : following;
    const nodes = siblingsOf(row.indices.readUInt32BE(place * 4));
    const found = await this.database.query<{ node: string }>(NODES({ day, revision, nodes }));
    // The lists may have been deleted between the two reads.
    if (found.length < nodes.length) return undefined;
    return { leaf: { ...list.at(place), next }, proof: found.map(({ node }) => nodeOf(node)) };
  }

  /**
   * The leaves of a day as they are stored: ordered by wallet, with the leaves of both ends, 256 in each chunk but the
   * last one. No connection is held between two chunks.
   * @param from number of the first chunk, from 0 on
   * @returns nothing where the lists of the day are not kept; ends early where they are deleted meanwhile
   */
  async *chunks({ day, revision }: Revision, from = 0): AsyncGenerator<Buffer> {
    for (let first = from; ; first += CHUNKS_IN_PAGE) {
      const asked = LEAVES({ day, revision, from: first });
      const rows = await this.database.query<{ leaves: Buffer }>(asked);
      for (const { leaves } of rows) yield leaves;
      if (rows.length < CHUNKS_IN_PAGE) return;
    }
  }

  /** All wallets of a day with a low above zero, in ascending order, one array for each chunk. @returns as `chunks` */
  async *pages(revision: Revision): AsyncGenerator<DayLow[]> {
    for await (const leaves of this.chunks(revision)) {
      yield [...new DayList(leaves)].filter(({ low }) => low > 0n);
    }
  }
}
