import { type Address } from '#libs/domain';
import { type Database } from '../connection/database.js';
import { named } from '../connection/named.js';
import { addressOf } from '../rows.js';
import { beginVault } from './vault-claims.js';

/** A vault that redemptions of this ledger may have been paid by. */
export interface KnownVault {
  readonly vault: Address;
  /** Nothing of it that matters is older. */
  readonly startBlock: bigint;
}

/** Those that claims were read of, and those that plans name. */
const KNOWN = named<{ chainId: number }>(
  'vaults_known',
  `SELECT encode(vault, 'hex') AS vault, min(start_block)::text AS start_block FROM (
      SELECT vault, start_block FROM redemption.reconciliation_checkpoint WHERE chain_id = :chainId
      UNION ALL
      SELECT plan_vault, min(plan_from_block) FROM redemption.redemption WHERE plan_chain_id = :chainId GROUP BY plan_vault) AS v
    GROUP BY vault ORDER BY vault`,
);

/** Today's vault and those that it replaced, as far as the ledger names them. */
export class KnownVaults {
  constructor(private readonly database: Database) {}

  /** Before anything is planned on it, so that a backup of any later moment names it. One that is known stays as it is. */
  async add(chainId: number, { vault, startBlock }: KnownVault): Promise<void> {
    await beginVault(this.database, { chainId, vault }, startBlock);
  }

  /** Reads every redemption: not for each of them. @throws DatabaseUnavailableError, DatabaseRefusedError */
  async of(chainId: number): Promise<KnownVault[]> {
    const rows = await this.database.query<{ vault: string; start_block: string }>(
      KNOWN({ chainId }),
    );
    return rows.map(({ vault, start_block: start }) => ({
      vault: addressOf(vault),
      startBlock: BigInt(start),
    }));
  }
}
