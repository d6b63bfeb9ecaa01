import { ServiceProgram } from '../restarts/service-program.js';

export interface ConsoleProgramOptions {
  readonly port: number;
  readonly databaseUrl: string;
  readonly redemptionUrl: string;
  readonly testWalletRpcUrl: string;
}

/** The console as a separate process. */
export class ConsoleProgram extends ServiceProgram {
  /** Resolves when the console is ready to serve. */
  static async start(options: ConsoleProgramOptions): Promise<ConsoleProgram> {
    const { port, redemptionUrl } = options;
    return new ConsoleProgram('console', port, {
      DATABASE_URL: options.databaseUrl,
      CONSOLE_PORT: String(port),
      LISTEN_HOST: '127.0.0.1',
      CONSOLE_ORIGIN: `http://127.0.0.1:${port}`,
      REDEMPTION_URL: redemptionUrl,
      CONSOLE_TEST_WALLET_RPC_URL: options.testWalletRpcUrl,
      CONSOLE_NETWORK: 'Local chain, ETH',
      // Lets tests give each player a separate address by `X-Forwarded-For`.
      TRUSTED_PROXIES: 'loopback',
      LOG_LEVEL: 'error',
    }).untilReady();
  }
}
