/** The best case of the database: round trips of one statement each, over one connection and over several at once. */
import pg from 'pg';
import { familyCpuSeconds } from '../support/program.js';

export interface BareSql {
  readonly selectsOnOne: number;
  readonly updatesOnOne: number;
  readonly selectsOnMany: number;
  readonly updatesOnMany: number;
  /**
   * CPU of this process and of PostgreSQL for an update, over several connections: with one connection both sleep and
   * wake for each update, at a cost that depends on what else the machine does.
   */
  readonly cpuMicrosecondsOfUpdate: number;
}

const TABLE = 'bare_round_trip';
const SELECT = { name: 'bare_select', text: 'SELECT 1' };
/** Each connection updates its own row, so that none waits for a lock. */
const UPDATE = { name: 'bare_update', text: `UPDATE ${TABLE} SET value = value + 1 WHERE id = $1` };

/**
 * Measures statements per second. Each statement is a transaction, so an update returns only after its commit, with the
 * server's configured durability.
 */
export async function measureBareSql(
  url: string,
  { connections, ms }: { readonly connections: number; readonly ms: number },
): Promise<BareSql> {
  const clients = Array.from(
    { length: connections },
    () => new pg.Client({ connectionString: url }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const [first] = clients;
  if (first === undefined) throw new Error('at least one connection is needed');
  try {
    await first.query(
      `CREATE TABLE ${TABLE} (id int PRIMARY KEY, value int) WITH (fillfactor = 50)`,
    );
    await first.query(`INSERT INTO ${TABLE} SELECT n, 0 FROM generate_series(0, ${connections}) n`);
    const measure = (part: readonly pg.Client[], isUpdate: boolean): Promise<number> =>
      perSecond(part, isUpdate, ms);
    const updatesOnOne = await measure([first], true);
    const selectsOnOne = await measure([first], false);
    const selectsOnMany = await measure(clients, false);
    const cpuBefore = familyCpuSeconds(process.pid);
    const updatesOnMany = await measure(clients, true);
    const cpuMicros = (familyCpuSeconds(process.pid) - cpuBefore) * 1e6;
    const cpuMicrosecondsOfUpdate = cpuMicros / (updatesOnMany * (ms / 1000));
    return { selectsOnOne, updatesOnOne, selectsOnMany, updatesOnMany, cpuMicrosecondsOfUpdate };
  } finally {
    await first.query(`DROP TABLE IF EXISTS ${TABLE}`);
    await Promise.all(clients.map((client) => client.end()));
  }
}

async function perSecond(
  clients: readonly pg.Client[],
  isUpdate: boolean,
  ms: number,
): Promise<number> {
  const startedAt = performance.now();
  const counts = await Promise.all(
    clients.map(async (client, id) => {
      let count = 0;
      for (; performance.now() - startedAt < ms; count += 1) {
        await (isUpdate ? client.query({ ...UPDATE, values: [id] }) : client.query(SELECT));
      }
      return count;
    }),
  );
  const seconds = (performance.now() - startedAt) / 1000;
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}
