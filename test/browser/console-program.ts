import { ServiceProgram } from '../restarts/service-program.js';

export interface ConsoleProgramOptions {
  readonly port: number;
  readonly databaseUrl: string;
  readonly redemptionUrl: string;
  /** Of a local chain. */
  readonly testWalletRpcUrl: string;
}

/** The server of the pages as a process of its own. */
export class ConsoleProgram extends ServiceProgram {
  /** Resolves when it is ready to serve. */
  static async start(options: ConsoleProgramOptions): Promise<ConsoleProgram> {
    const { port, redemptionUrl } = options;
    return new ConsoleProgram('console', port, {
      DATABASE_URL: options.databaseUrl,
      CONSOLE_PORT: String(port),
      CONSOLE_HOST: '127.0.0.1',
      CONSOLE_ORIGIN: `http://127.0.0.1:${port}`,
      REDEMPTION_URL: redemptionUrl,
      CONSOLE_TEST_WALLET_RPC_URL: options.testWalletRpcUrl,
      CONSOLE_NETWORK_NAME: 'Local chain',
      // So that each player has an address of its own.
      TRUSTED_PROXIES: 'loopback',
      LOG_LEVEL: 'error',
      SHUTDOWN_DELAY_MS: '0',
    }).untilReady();
  }
}
