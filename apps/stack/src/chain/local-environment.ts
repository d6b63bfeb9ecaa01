/** Settings of the services for a local chain: addresses and development values, no secrets. */
import { testConstants } from '#libs/config';
import { type LocalVault, type StakingDeployment } from '#libs/devchain';
import { type Address, dayText } from '#libs/domain';

/** The registry of published roots, and the first day that it covers. */
export interface LocalRegistry {
  readonly address: Address;
  readonly firstDay: number;
}

export interface LocalFacts {
  /** URL as the services reach it. */
  readonly rpcUrl: string;
  readonly chainId: number;
  readonly contracts: Omit<StakingDeployment, 'treasury'>;
  readonly vault: LocalVault;
}

type Variables = Readonly<Record<string, string>>;

/** Initial points of each player. */
const POINTS = 1_000_000;

export function chainVariables({ rpcUrl, chainId, contracts }: LocalFacts): Variables {
  return {
    RPC_URLS: rpcUrl,
    CHAIN_ID: String(chainId),
    STAKE_CONTRACT: contracts.staking,
    STAKE_START_BLOCK: String(contracts.startBlock),
    TOKEN_CONTRACT: contracts.token,
  };
}

export function vaultVariables({ vault }: LocalFacts): Variables {
  return { VAULT_CONTRACT: vault.vault, VAULT_START_BLOCK: String(vault.startBlock) };
}

export function registryVariables({ address, firstDay }: LocalRegistry): Variables {
  return { REGISTRY_ADDRESS: address, REGISTRY_FIRST_DAY: dayText(firstDay) };
}

const LOCAL_PRICE_USD = '0.15';

/**
 * A fixed price, and the bounds that keep the redemption service from quoting a price far from it, even if
 * the database has one.
 * @param source PRICE_SOURCE of the developer. Bounds are for the fixed price alone, since that of another is not known
 */
export function priceVariables(source: string = `fixed:${LOCAL_PRICE_USD}`): Variables {
  const usd = Number(/^fixed:(\d+(?:\.\d+)?)$/.exec(source)?.[1]);
  return {
    PRICE_SOURCE: source,
    ...(usd > 0 && { PRICE_BOUNDS_USD: `${usd / 10}..${usd * 10}` }),
  };
}

export const LOCAL_REDEMPTIONS: Variables = {
  WALLET_DAILY_TOKEN_BUDGET: '1000000',
  ALLOW_PRIVATE_PARTNERS: 'true',
  ...testConstants({
    // A wallet may redeem again at once after a voucher has expired.
    ...{ voucherCoolDownSeconds: 0, payoutExpiryMarginSeconds: 0, payoutPollMs: 500 },
    // A day is published as soon as it is sealed.
    ...{ registryDelaySeconds: 0, registryPollMs: 1000 },
  }),
};

/**
 * Test wallets of the web pages. The first wallet takes no part in the demonstration, to be left for trying by hand.
 */
export function testWallets(redeemers: readonly Address[]): string {
  return [...redeemers].reverse().join(',');
}

/** @param ports at which users sign in: of the web pages and of the redemption service */
export function siweDomains(...ports: readonly number[]): string {
  return ports.flatMap((port) => [`127.0.0.1:${port}`, `localhost:${port}`]).join(',');
}

/** The value of PARTNER_PLAYERS of the reference partner. */
export function playersOf(redeemers: readonly Address[]): string {
  return redeemers.map((wallet) => `${wallet}=${POINTS}`).join(',');
}

/**
 * All settings for docker compose, as the text of a file for `node --env-file`.
 * @param users URL of the redemption service and of the web pages as a browser on this machine reaches them, and the
 * wallets that have points
 */
export function localEnvironment(
  facts: LocalFacts,
  users: {
    readonly serviceUrl: string;
    readonly pagesUrl: string;
    readonly redeemers: readonly Address[];
  },
): string {
  const variables = {
    ...chainVariables(facts),
    ...vaultVariables(facts),
    ...priceVariables(),
    ...LOCAL_REDEMPTIONS,
    SIWE_DOMAINS: siweDomains(portOf(users.pagesUrl), portOf(users.serviceUrl)),
    // Long enough to claim by hand, short enough to watch a voucher expire.
    VOUCHER_TTL_SECONDS: '300',
    PARTNER_PLAYERS: playersOf(users.redeemers),
    CONSOLE_TEST_WALLET_ACCOUNTS: testWallets(users.redeemers),
  };
  return Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function portOf(url: string): number {
  return Number(new URL(url).port);
}
