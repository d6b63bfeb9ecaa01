import { Controller, Get } from '@nestjs/common';
import { ForPlayers } from '../auth/audience.js';
import { ConsoleSettings } from '../console.env.js';
import { type Network } from './network.js';

export interface PlayerConfig {
  /** The test wallet, with accounts of a local chain (null: all of them); null where there is no test wallet. */
  readonly testWallet: { readonly accounts: readonly string[] | null } | null;
  /** Description of the network, for wallets that do not know it. */
  readonly network: Network | typeof UNKNOWN_NETWORK;
}

/** The page shows the id of the chain in place of the name. */
const UNKNOWN_NETWORK = { name: null, coin: 'ETH', rpcUrl: null };

/** What the players' page needs to know of the console before it calls the redemption service. */
@ForPlayers()
@Controller('player/config')
export class PlayerConfigController {
  constructor(private readonly settings: ConsoleSettings) {}

  @Get()
  config(): PlayerConfig {
    const { consoleTestWalletRpcUrl } = this.settings;
    const { consoleTestWalletAccounts: accounts = null, consoleNetwork } = this.settings;
    return {
      testWallet: consoleTestWalletRpcUrl === undefined ? null : { accounts },
      network: consoleNetwork ?? UNKNOWN_NETWORK,
    };
  }
}
