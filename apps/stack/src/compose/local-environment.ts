import { type LocalVault, type StakingDeployment } from '#libs/devchain';
import { type Address } from '#libs/domain';

/** What is to be known of a local chain. */
interface LocalFacts {
  /** As the services reach it. */
  readonly rpcUrl: string;
  /** Of the redemption service, as a browser on this machine reaches it. */
  readonly serviceUrl: string;
  readonly chainId: number;
  readonly contracts: Pick<StakingDeployment, 'staking' | 'token' | 'startBlock'>;
  readonly vault: LocalVault;
  /** The players of the reference partner. */
  readonly redeemers: readonly Address[];
}

/** Points each player has at first. */
const POINTS = 1_000_000;

/**
 * What the services have to be told of a local chain, as the text of a file for `node --env-file`: addresses and settings of
 * development, no secret.
 */
export function localEnvironment(facts: LocalFacts): string {
  const { rpcUrl, serviceUrl, chainId, contracts, vault, redeemers } = facts;
  const { port } = new URL(serviceUrl);
  const variables = {
    RPC_URLS: rpcUrl,
    CHAIN_ID: chainId,
    STAKE_CONTRACT: contracts.staking,
    STAKE_START_BLOCK: contracts.startBlock,
    TOKEN_CONTRACT: contracts.token,
    VAULT_CONTRACT: vault.vault,
    VAULT_START_BLOCK: vault.startBlock,
    PRICE_SOURCE: 'fixed:0.15',
    PRICE_MAX_CHANGE: 999,
    PRICE_MAX_CHANGE_PER_HOUR: 999,
    WALLET_DAILY_TOKEN_BUDGET: 1_000_000,
    // A voucher that was left to expire may be tried again at once.
    VOUCHER_COOL_DOWN_SECONDS: 0,
    SIWE_DOMAINS: `127.0.0.1:${port},localhost:${port}`,
    ALLOW_PRIVATE_PARTNERS: true,
    // Long enough to claim by hand, short enough to see one time out.
    VOUCHER_TTL_SECONDS: 300,
    PAYOUT_EXPIRY_MARGIN_SECONDS: 0,
    PAYOUT_POLL_MS: 500,
    PARTNER_PLAYERS: redeemers.map((wallet) => `${wallet}=${POINTS}`).join(','),
  };
  const lines = Object.entries(variables).map(([name, value]) => `${name}=${String(value)}\n`);
  return lines.join('');
}

/** The name under which the reference partner is known to the service of `./lowmark local up`. */
export const REFERENCE_PARTNER = 'reference';
