import { Injectable } from '@nestjs/common';
import { readVaultFacts, type RpcPool } from '#libs/chain';
import { Database, IndexStore, type IndexState, ReconciliationStore } from '#libs/db';
import { type Address, parseAddress } from '#libs/domain';
import { tokensText } from '#libs/operations';
import { ConsoleSettings } from '../../console.env.js';
import { ChainAccess, notSet } from '../chain-access.js';
import { type VaultBody } from './overview.dto.js';

/** An address without a role in any vault. The doctor, not this page, reports which keys have a role. */
const NO_KEY = parseAddress(`0x${'0'.repeat(39)}1`) as Address;

/** Balances and limits of the vaults at the chain's newest block. No stored figure is as current. */
@Injectable()
export class VaultFigures {
  constructor(
    private readonly database: Database,
    private readonly settings: ConsoleSettings,
    private readonly chain: ChainAccess,
  ) {}

  /** The vault of the settings, and the vaults that the ledger knows on this chain. @throws HttpProblem 503 */
  async all(): Promise<VaultBody[]> {
    if (!this.chain.isSet) throw notSet();
    const index = await new IndexStore(this.database).state();
    if (index === undefined) return [];
    const vaults = await this.addresses(index.chainId);
    return this.chain.ask(index.chainId, (pool) =>
      Promise.all(vaults.map((vault) => vaultBody(pool, index, vault))),
    );
  }

  private async addresses(chainId: number): Promise<Address[]> {
    const { vaultContract } = this.settings;
    const known = await new ReconciliationStore(this.database).checkpoints(chainId);
    const named = known.map(({ vault }) => vault);
    return [...new Set(vaultContract === undefined ? named : [vaultContract, ...named])];
  }
}

async function vaultBody(pool: RpcPool, index: IndexState, vault: Address): Promise<VaultBody> {
  const { chainId, tokenContract: token, tokenSymbol, tokenDecimals } = index;
  const facts = await readVaultFacts(pool, { place: { chainId, vault }, token, signer: NO_KEY });
  const tokens = (tokenAmount: bigint): string => tokensText({ tokenAmount, tokenDecimals });
  return {
    chainId,
    address: vault,
    tokenSymbol,
    isVault: facts.hasOurVoucherDomain,
    isPaused: facts.isPaused,
    balance: tokens(facts.balance),
    windowCap: tokens(facts.windowCap),
    remainingInWindow: tokens(facts.remainingInWindow),
    windowSeconds: Number(facts.windowSeconds),
  };
}
