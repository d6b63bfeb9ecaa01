import { Matches } from 'class-validator';
import {
  address,
  ALLOW_PRIVATE_PARTNERS_SETTING,
  commaList,
  CONSOLE_ORIGIN_SETTING,
  type DevelopmentSetting,
  EVIDENCE_KEY_SETTING,
  isLoopback,
  LISTEN_HOST_SETTING,
  MANAGEMENT_PORT_SETTING,
  NODE_ENV_SETTING,
  origin,
  PORTAL_DATABASE_URL_SETTING,
  REGISTRY_ADDRESS_SETTING,
  RPC_URLS_SETTING,
  SECRETS_KEY_SETTING,
  ServiceSettings,
  type SetRegistry,
  Setting,
  STAKE_EVENTS_SETTING,
  TRUSTED_PROXIES_SETTING,
  url,
  VAULT_CONTRACT_SETTING,
} from '#libs/config';
import { type OperatorRole } from '#libs/db';
import { type Address } from '#libs/domain';
import { groupRoles, operatorWallets } from './auth/operator-roles.js';
import { network, type Network } from './player/network.js';

/** @throws Error where the issuer is neither https nor on this machine, so that others could read the traffic */
function issuer(text: string): string {
  const { protocol } = new URL(url('http', 'https')(text));
  if (protocol === 'http:' && !isLoopback(text)) throw new Error('must be an https:// URL');
  return text;
}

const LOCAL_CHAIN = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\]|chain)$/;

/** @throws Error where the URL is neither on this machine nor the host `chain` of the local compose profile */
function localChain(text: string): string {
  const parsed = url('http')(text);
  if (LOCAL_CHAIN.test(new URL(parsed).hostname)) return parsed;
  throw new Error('must be on this machine (loopback) or the host "chain" of the local profile');
}

function addresses(text: string): string[] {
  return commaList(text).map(address);
}

/** The development setting by which the page offers a wallet whose accounts are open to every visitor. */
export function testWallet(rpcUrl: string | undefined): DevelopmentSetting {
  return {
    variable: 'CONSOLE_TEST_WALLET_RPC_URL',
    isGiven: rpcUrl !== undefined,
    why: 'gives the accounts of a local chain to every visitor. Unset it',
  };
}

/** Injection token of the `SettingsSource`, for the doctor, which reads the settings of other services. */
export const SETTINGS_SOURCE = Symbol('SettingsSource');

export class ConsoleSettings extends ServiceSettings {
  @Setting({ description: 'The port of the web pages.', default: '3003', min: 0, max: 65_535 })
  readonly consolePort!: number;

  @Setting(LISTEN_HOST_SETTING)
  readonly listenHost!: string;

  @Setting(MANAGEMENT_PORT_SETTING)
  readonly managementPort?: number;

  @Setting(CONSOLE_ORIGIN_SETTING)
  readonly consoleOrigin!: string;

  @Setting({
    description: 'Where the console reaches the redemption service.',
    default: 'http://127.0.0.1:3002',
    parse: origin,
  })
  readonly redemptionUrl!: string;

  @Setting({
    description: 'Where the console reaches the api.',
    default: 'http://127.0.0.1:3000',
    parse: origin,
  })
  readonly apiUrl!: string;

  @Setting({
    description:
      'Where the console asks for the indexer’s health and the progress of its sync: http://127.0.0.1:3001. Unset: the overview has what the database says.',
    optional: true,
    parse: origin,
  })
  readonly indexerUrl?: string;

  @Setting({
    description:
      'The Alertmanager whose open alerts the overview shows: http://127.0.0.1:9093. Unset: what the database and the services tell.',
    optional: true,
    parse: url('http', 'https'),
  })
  readonly alertmanagerUrl?: string;

  @Setting({ ...RPC_URLS_SETTING, optional: true })
  readonly rpcUrls?: string[];

  @Setting({ ...VAULT_CONTRACT_SETTING, optional: true })
  readonly vaultContract?: Address;

  @Setting(REGISTRY_ADDRESS_SETTING)
  readonly registryAddress?: readonly SetRegistry[];

  @Setting({ ...STAKE_EVENTS_SETTING, optional: true })
  readonly stakeEvents?: string;

  @Setting({
    description: 'Where partners reach the api, for the examples on their pages. Unset: API_URL.',
    optional: true,
    parse: origin,
  })
  readonly publicApiUrl?: string;

  @Setting(ALLOW_PRIVATE_PARTNERS_SETTING)
  readonly allowPrivatePartners!: boolean;

  @Setting(PORTAL_DATABASE_URL_SETTING)
  readonly portalDatabaseUrl?: string;

  @Setting({
    description:
      'Operators who sign in by wallet, and what each may do: 0x…=admin,0x…=operator,0x…=viewer. Unset: none.',
    optional: true,
    parse: operatorWallets,
  })
  readonly operators?: ReadonlyMap<Address, OperatorRole>;

  @Setting({
    description:
      'The OpenID Connect issuer by which operators and partners sign in, as it calls itself: https://login.example.com. Unset: none.',
    optional: true,
    parse: issuer,
  })
  readonly oidcIssuer?: string;

  @Setting({ description: 'What the issuer calls this console.', optional: true })
  readonly oidcClientId?: string;

  @Setting({
    description: 'The console’s secret at the issuer. Unset: a public client.',
    secret: true,
    optional: true,
  })
  readonly oidcClientSecret?: string;

  @Setting({
    description: 'The claim that lists the groups of a user.',
    default: 'groups',
  })
  readonly oidcGroupsClaim!: string;

  @Setting({
    description:
      'The groups whose members are operators, and their roles: staff=viewer,support=operator,ops=admin. Names with commas: {"cn=ops,dc=example":"admin"}. The highest counts. Unset: no operator signs in by OpenID Connect.',
    optional: true,
    parse: groupRoles,
  })
  readonly oidcRoles?: ReadonlyMap<string, OperatorRole>;

  @Setting({
    description:
      'An action on a redemption worth this many USD or more needs a second operator; 0: all that have a worth. If it is set, other actions always need one (docs/operating/console.md). Unset: none does.',
    optional: true,
  })
  @Matches(/^\d{1,15}(?:\.\d{1,18})?$/, { message: '$property must be a decimal number' })
  readonly approvalAboveUsd?: string;

  @Setting({ ...SECRETS_KEY_SETTING, optional: true })
  readonly secretsKey?: string;

  @Setting({ ...EVIDENCE_KEY_SETTING, optional: true })
  readonly evidenceKey?: string;

  @Setting({
    description:
      'Development only: a local chain whose unlocked accounts the players’ page offers as a test wallet, to try it without an extension. Loopback, or the host chain of the local profile. Refused where NODE_ENV is production.',
    optional: true,
    unlisted: true,
    parse: localChain,
  })
  readonly consoleTestWalletRpcUrl?: string;

  @Setting({
    description:
      'The accounts that the test wallet offers, separated by commas. Unset: all of the local chain.',
    optional: true,
    unlisted: true,
    parse: addresses,
  })
  readonly consoleTestWalletAccounts?: string[];

  @Setting({
    description:
      'The network on the players’ page and in wallets that do not know it: name, coin and a public RPC endpoint without a key (Base, ETH, https://mainnet.base.org). Without the endpoint players add the network themselves. Unset: chain and its id, with ETH.',
    optional: true,
    parse: network,
  })
  readonly consoleNetwork?: Network;

  @Setting(TRUSTED_PROXIES_SETTING)
  readonly trustedProxies?: string[];

  @Setting(NODE_ENV_SETTING)
  readonly nodeEnv?: string;
}
