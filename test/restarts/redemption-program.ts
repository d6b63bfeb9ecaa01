import { freePort } from '#libs/devprocess';
import { EVIDENCE_KEY } from '#libs/testing/evidence';
import { VaultBench } from '#libs/testing/vault';
import { ServiceProgram } from './service-program.js';

export interface RedemptionProgramOptions {
  readonly databaseUrl: string;
  readonly secretsKey: string;
  readonly bench: VaultBench;
  /** Default: a free port. */
  readonly port?: number;
  /** Address on which the service listens. Default: 127.0.0.1. */
  readonly host?: string;
  /** Override the settings below. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The redemption service as a separate process. */
export class RedemptionProgram extends ServiceProgram {
  /** Resolves when the service is ready to serve. */
  static async start(options: RedemptionProgramOptions): Promise<RedemptionProgram> {
    const { bench, host = '127.0.0.1' } = options;
    const port = options.port ?? (await freePort());
    const settings = {
      DATABASE_URL: options.databaseUrl,
      SECRETS_KEY: options.secretsKey,
      EVIDENCE_KEY,
      CHAIN_ID: String(bench.chain.chainId),
      RPC_URLS: bench.chain.url,
      TOKEN_CONTRACT: bench.chain.contracts.token,
      VAULT_CONTRACT: bench.vault,
      VOUCHER_SIGNER_KEY: VaultBench.SIGNER_KEY,
      SIWE_DOMAINS: 'app.example.com',
      TRUSTED_PROXIES: 'loopback',
      ALLOW_PRIVATE_PARTNERS: 'true',
      REDEMPTION_PORT: String(port),
      LISTEN_HOST: host,
      ...options.settings,
    };
    return new RedemptionProgram('redemption', port, settings, { host }).untilReady();
  }
}
