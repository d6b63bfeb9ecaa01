import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** Lets the role that only reads see which migrations there are, so that a reader too refuses a database newer than itself. */
export class ReaderSeesSchema1760000000008 implements MigrationInterface {
  readonly name = 'ReaderSeesSchema1760000000008';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('GRANT USAGE ON SCHEMA lowmark TO lowmark_reader');
    await runner.query('GRANT SELECT ON lowmark.migration TO lowmark_reader');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('REVOKE SELECT ON lowmark.migration FROM lowmark_reader');
    await runner.query('REVOKE USAGE ON SCHEMA lowmark FROM lowmark_reader');
  }
}
