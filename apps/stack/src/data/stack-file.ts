import { readFile, rename, writeFile } from 'node:fs/promises';
import { StackError } from '../stack.error.js';

/** A partner's credential as `partner create` prints it, with the database that knows it. */
export interface StackPartner {
  readonly name: string;
  readonly apiKey: string;
  readonly sharedSecret: string;
  /** `embedded`, or host and name of another database. */
  readonly database: string;
}

export interface PartnerCallbackKeys {
  readonly key: string;
  readonly secret: string;
}

/** The users that the stack makes in its database, kept for later starts. */
export interface DatabaseUsers {
  /** Users belong to the whole server, where another stack may have its own. */
  readonly suffix: string;
  readonly passwords: Readonly<Record<string, string>>;
}

/** What the services are told, and what the service and the reference partner share. */
export interface Secrets {
  readonly secretsKey: string;
  /** Makes the MACs of the redemptions' rows. */
  readonly evidenceKey: string;
  readonly anonSecret: string;
  readonly partnerCallback: PartnerCallbackKeys;
}

/**
 * `.data/stack.json`: what later starts need again, and where the running stack is, for `npm run cli`. Readable by its
 * owner only.
 */
export interface StackFile extends Partial<Secrets> {
  /** The operator's: what `npm run cli` connects as. */
  readonly databaseUrl?: string;
  /** The api's, for another replica of it. */
  readonly apiDatabaseUrl?: string;
  readonly apiUrl?: string;
  readonly indexerUrl?: string;
  readonly redemptionUrl?: string;
  readonly consoleUrl?: string;
  readonly partnerUrl?: string;
  readonly rpcUrl?: string;
  readonly chainId?: number;
  readonly stakeContract?: string;
  readonly tokenContract?: string;
  readonly vaultContract?: string;
  readonly vaultStartBlock?: string;
  readonly registryAddress?: string;
  /** A wallet with points, for trying by hand; with its checksum. */
  readonly player?: string;
  readonly partner?: StackPartner;
  /** Of the embedded PostgreSQL, made when it was. */
  readonly embeddedPassword?: string;
  readonly databaseUsers?: DatabaseUsers;
  /** Whether chain and vault are those that the stack made, and the signer below is the vault's. */
  readonly isLocalChain?: boolean;
  /** Signs and cancels the vouchers of the local chain's vault. */
  readonly voucherSignerKey?: string;
  /** Publishes the roots of days in the local chain's registry. */
  readonly registryPrivateKey?: string;
}

/** The file in memory; each `set` is on disk when it returns. */
export class StackFileStore {
  #content: StackFile = {};

  constructor(private readonly path: string) {}

  static async open(path: string): Promise<StackFileStore> {
    const store = new StackFileStore(path);
    store.#content = (await readJson(path)) ?? {};
    return store;
  }

  get content(): StackFile {
    return this.#content;
  }

  async set(part: StackFile): Promise<void> {
    this.#content = { ...this.#content, ...part };
    await writePrivateJson(this.path, this.#content);
  }
}

/** Writes JSON that only its owner can read; the file is complete or not touched. */
export async function writePrivateJson(path: string, value: unknown): Promise<void> {
  const unfinished = `${path}.part`;
  await writeFile(unfinished, JSON.stringify(value, null, 2) + '\n', { mode: 0o600 });
  await rename(unfinished, path);
}

/** The parsed file, or undefined where there is none. */
export async function readJson(path: string): Promise<unknown> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new StackError(`${path} is damaged; start over with: npm start -- --fresh`, { cause });
  }
}
