/** Migrations that tests add to those of a clone. */
import type { Clone } from './clone.js';

const MIGRATIONS = 'libs/db/src/migrations/index.ts';

/** Only adds a table, so the version before may start on it. */
export const NEXT = `class {
    name = 'Next9000000000000';
    olderMayStart = true;
    async up(runner) { await runner.query('CREATE TABLE partners.next (at timestamptz)'); }
    async down() {}
  }`;

export const FAILING = `class {
    name = 'Fails9999999999999';
    async up() { throw new Error('forced'); }
    async down() {}
  }`;

/** @returns the text of before */
export function addMigration(clone: Clone, migration: string): string {
  const before = clone.read(MIGRATIONS);
  const added = before.replace(/,?\s*\];\s*$/, `,\n  ${migration},\n];\n`);
  if (added === before) throw new Error('the list of migrations does not end as expected');
  clone.write(MIGRATIONS, added);
  return before;
}

export function setMigrations(clone: Clone, text: string): void {
  clone.write(MIGRATIONS, text);
}
