import { type MigrationInterface, type QueryRunner } from 'typeorm';

/**
 * Lets an operator who goes back to an older program say of a migration that this program may start on it; see let-older-start.ts.
 */
export class OlderStart1760000000012 implements MigrationInterface {
  readonly name = 'OlderStart1760000000012';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      'ALTER TABLE lowmark.migration ADD COLUMN older_may_start boolean NOT NULL DEFAULT false',
    );
    await runner.query(
      `COMMENT ON COLUMN lowmark.migration.older_may_start IS 'a program that does not know this migration may start all the same'`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE lowmark.migration DROP COLUMN older_may_start');
  }
}
