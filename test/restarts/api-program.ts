import { freePort } from '#libs/devprocess';
import { ServiceProgram } from './service-program.js';

export interface ApiProgramOptions {
  readonly databaseUrl: string;
  /** Connection string past the pooler, where `databaseUrl` is a pooler's. */
  readonly databaseDirectUrl?: string;
  readonly secretsKey: string;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: a free port. */
  readonly port?: number;
  /** Default: not set. */
  readonly nodeEnv?: 'production';
  /** Folder of the compiled programs. Default: this clone. */
  readonly folder?: string;
}

/** The API as a separate process. */
export class ApiProgram extends ServiceProgram {
  /** Resolves when the API is ready to serve. */
  static async start(options: ApiProgramOptions): Promise<ApiProgram> {
    const { host = '127.0.0.1' } = options;
    const port = options.port ?? (await freePort());
    return new ApiProgram(
      'api',
      port,
      {
        DATABASE_URL: options.databaseUrl,
        DATABASE_DIRECT_URL: options.databaseDirectUrl ?? '',
        SECRETS_KEY: options.secretsKey,
        API_PORT: String(port),
        LISTEN_HOST: host,
        INDEX_MAX_LAG_SECONDS: '1000000000',
        ...(options.nodeEnv !== undefined && { NODE_ENV: options.nodeEnv }),
      },
      { folder: options.folder, host },
    ).untilReady();
  }
}
