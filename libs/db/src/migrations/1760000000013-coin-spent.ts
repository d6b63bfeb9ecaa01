import { type MigrationInterface, type QueryRunner } from 'typeorm';

/** What the service's accounts may have spent on gas in a day, counted across processes and restarts. */
export class CoinSpent1760000000013 implements MigrationInterface {
  readonly name = 'CoinSpent1760000000013';
  readonly olderMayStart = true;

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(UP);
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP TABLE redemption.coin_spent');
  }
}

const UP = `
CREATE TABLE redemption.coin_spent (
  chain_id bigint NOT NULL CHECK (chain_id > 0),
  account bytea NOT NULL CHECK (octet_length(account) = 20),
  day date NOT NULL,
  wei numeric(78, 0) NOT NULL CHECK (wei >= 0 AND wei < 'Infinity'),
  transactions int NOT NULL CHECK (transactions > 0),
  PRIMARY KEY (chain_id, account, day)
);
COMMENT ON TABLE redemption.coin_spent IS 'the most that the transactions signed on a UTC day can cost, in the smallest unit of the chain''s coin; written before they are signed';
`;
