import { Controller, Get } from '@nestjs/common';
import { ForPlayers } from '../auth/audience.js';
import { ConsoleSettings } from '../console.env.js';

export interface PlayerConfig {
  /** The test wallet, with accounts of a local chain (null: all of them); null where there is no test wallet. */
  readonly testWallet: { readonly accounts: readonly string[] | null } | null;
  /** Description of the network, for wallets that do not know it. */
  readonly network: {
    readonly name: string | null;
    readonly coin: string;
    readonly rpcUrl: string | null;
  };
}

/** What the players' page needs to know of the console before it calls the redemption service. */
@ForPlayers()
@Controller('player/config')
export class PlayerConfigController {
  constructor(private readonly settings: ConsoleSettings) {}

  @Get()
  config(): PlayerConfig {
    const { consoleTestWalletRpcUrl } = this.settings;
    const { consoleNetworkName, consoleNetworkCoin, consoleNetworkRpcUrl } = this.settings;
    const { consoleTestWalletAccounts: accounts = null } = this.settings;
    return {
      testWallet: consoleTestWalletRpcUrl === undefined ? null : { accounts },
      network: {
        name: consoleNetworkName ?? null,
        coin: consoleNetworkCoin,
        rpcUrl: consoleNetworkRpcUrl ?? null,
      },
    };
  }
}
