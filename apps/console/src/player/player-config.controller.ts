import { Controller, Get } from '@nestjs/common';
import { ConsoleSettings } from '../console.env.js';

export interface PlayerConfig {
  /** Null: no wallets of other devices. */
  readonly walletConnectProjectId: string | null;
  /** Whether the page has a wallet of its own, whose accounts are those of a local chain. */
  readonly hasTestWallet: boolean;
}

/** What the players' page has to know of the console before it asks anything of the redemption service. */
@Controller('player/config')
export class PlayerConfigController {
  constructor(private readonly settings: ConsoleSettings) {}

  @Get()
  config(): PlayerConfig {
    const { walletconnectProjectId = null, consoleTestWalletRpcUrl } = this.settings;
    return {
      walletConnectProjectId: walletconnectProjectId,
      hasTestWallet: consoleTestWalletRpcUrl !== undefined,
    };
  }
}
