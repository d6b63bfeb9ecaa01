import { readFile, rename, writeFile } from 'node:fs/promises';
import { StackError } from '../stack.error.js';

/** A partner's credential as `partner create` prints it, with the database that stores it. */
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
  /** Suffix of the user names. Users belong to the whole server, where another stack may have users too. */
  readonly suffix: string;
  readonly passwords: Readonly<Record<string, string>>;
}

/** Secrets of the services, and of the callback that the redemption service and the reference partner share. */
export interface Secrets {
  readonly secretsKey: string;
  /** Key of the MACs of the redemptions' rows. */
  readonly evidenceKey: string;
  readonly partnerCallback: PartnerCallbackKeys;
}

/**
 * `.data/stack.json`: data for later starts, and the addresses of the running stack for `npm run cli`. Only its owner
 * can read it.
 */
export interface StackFile extends Partial<Secrets> {
  /** URL of the operator's user, with which `npm run cli` connects. */
  readonly databaseUrl?: string;
  /** URL of the api's user, to run another replica of the api. */
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
  /** A wallet with points, for trying by hand; with EIP-55 checksum. */
  readonly player?: string;
  readonly partner?: StackPartner;
  /** Password of the embedded PostgreSQL, made together with it. */
  readonly embeddedPassword?: string;
  readonly databaseUsers?: DatabaseUsers;
  /** Whether the stack made chain and vault, so that `voucherSignerKey` is the vault's signer. */
  readonly isLocalChain?: boolean;
  /** Signs and cancels the vouchers of the local chain's vault. */
  readonly voucherSignerKey?: string;
  /** Publishes the roots of days in the local chain's registry. */
  readonly registryPrivateKey?: string;
}

/** The file in memory; `set` returns when its changes are on disk. */
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

/** Writes JSON atomically, readable only by its owner. */
export async function writePrivateJson(path: string, value: unknown): Promise<void> {
  const unfinished = `${path}.part`;
  await writeFile(unfinished, JSON.stringify(value, null, 2) + '\n', { mode: 0o600 });
  await rename(unfinished, path);
}

/** The parsed file; undefined where it does not exist. */
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
