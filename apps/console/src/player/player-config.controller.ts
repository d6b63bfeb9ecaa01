import { Controller, Get } from '@nestjs/common';
import { ForPlayers } from '../auth/audience.js';
import { ConsoleSettings } from '../console.env.js';

export interface PlayerConfig {
  /** A wallet in the page whose accounts are those of a local chain; null: there is none. */
  readonly testWallet: { readonly accounts: readonly string[] | null } | null;
  /** What wallets are told of a network that they do not know. */
  readonly network: {
    readonly name: string | null;
    readonly coin: string;
    readonly rpcUrl: string | null;
  };
}

/** What the players' page has to know of the console before it asks anything of the redemption service. */
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
