import { ServiceProgram } from '../restarts/service-program.js';

export interface ConsoleProgramOptions {
  readonly port: number;
  /** Address on which the console listens. */
  readonly host: string;
  /** The origin under which browsers reach the console. */
  readonly origin: string;
  readonly databaseUrl: string;
  readonly redemptionUrl: string;
  readonly testWalletRpcUrl: string;
}

/** The console as a separate process. */
export class ConsoleProgram extends ServiceProgram {
  /** Resolves when the console is ready to serve. */
  static async start(options: ConsoleProgramOptions): Promise<ConsoleProgram> {
    const { port, host } = options;
    const settings = {
      DATABASE_URL: options.databaseUrl,
      CONSOLE_PORT: String(port),
      LISTEN_HOST: host,
      CONSOLE_ORIGIN: options.origin,
      REDEMPTION_URL: options.redemptionUrl,
      CONSOLE_TEST_WALLET_RPC_URL: options.testWalletRpcUrl,
      CONSOLE_NETWORK: 'Local chain, ETH',
      TRUSTED_PROXIES: 'loopback',
      LOG_LEVEL: 'error',
    };
    return new ConsoleProgram('console', port, settings, { host }).untilReady();
  }
}
