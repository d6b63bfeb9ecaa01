import { type Address } from '#libs/domain';
import { type IndexRows } from '../oracle.js';
import { type MemoryTables } from './memory-tables.js';

/** A rollback may leave the total of a day that has no change any more. */
export function memoryRows({ changes, days, totals }: MemoryTables): IndexRows {
  const known = new Set([...days.values()].flatMap((rows) => rows.map(({ day }) => day)));
  return {
    changes: textsOf(changes, (wallet, { block, seconds, balance }) =>
      [wallet, block, seconds, balance].join(' '),
    ),
    days: textsOf(days, (wallet, { day, low, closing }) =>
      [wallet, day, low ?? '-', closing].join(' '),
    ),
    totals: new Set([...totals].filter(([day]) => known.has(day)).map((row) => row.join(' '))),
  };
}

/** The texts of each list of rows; a write replaces the list. */
const texts = new WeakMap<readonly object[], readonly string[]>();

function textsOf<R extends object>(
  tables: ReadonlyMap<Address, readonly R[]>,
  textOf: (wallet: Address, row: R) => string,
): Set<string> {
  const found = new Set<string>();
  for (const [wallet, rows] of tables) {
    let known = texts.get(rows);
    if (known === undefined) {
      known = rows.map((row) => textOf(wallet, row));
      texts.set(rows, known);
    }
    for (const text of known) found.add(text);
  }
  return found;
}
