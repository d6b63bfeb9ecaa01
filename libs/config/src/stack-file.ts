import { readFileSync } from 'node:fs';
import { type SettingsSource } from './read-settings.js';

/** File in which `npm start` writes the addresses and keys of the running stack, readable only by its owner. */
export const STACK_FILE = '.data/stack.json';

/** The fields of the file that `npm run cli` uses. */
interface Stack {
  readonly apiDatabaseUrl?: string;
  readonly databaseUrl?: string;
  readonly secretsKey?: string;
  readonly chainId?: number;
  readonly rpcUrl?: string;
  readonly tokenContract?: string;
  readonly vaultContract?: string;
  readonly vaultStartBlock?: string;
  readonly registryAddress?: string;
  readonly voucherSignerKey?: string;
  readonly isLocalChain?: boolean;
  readonly consoleUrl?: string;
}

/**
 * The environment; where it names no database, the database of the stack in this clone with its keys. A database and
 * the keys of its secrets belong together, so both come from the same source; the same holds for a chain and its
 * contracts.
 */
export function environmentOrStack(
  environment: SettingsSource = process.env,
  path = STACK_FILE,
  program: 'api' | 'cli' = 'cli',
): SettingsSource {
  if (isSet(environment, 'DATABASE_URL')) return environment;
  const stack = readStack(path);
  if (stack === undefined) return environment;
  return {
    ...(isSet(environment, 'RPC_URLS') ? environment : { ...environment, ...chainOf(stack) }),
    DATABASE_URL: program === 'api' ? stack.apiDatabaseUrl : stack.databaseUrl,
    SECRETS_KEY: stack.secretsKey,
    SECRETS_KEY_FILE: undefined,
    CONSOLE_ORIGIN: environment['CONSOLE_ORIGIN'] ?? stack.consoleUrl,
  };
}

function isSet(environment: SettingsSource, name: string): boolean {
  return Boolean(environment[name]) || Boolean(environment[`${name}_FILE`]);
}

function chainOf(stack: Stack): SettingsSource {
  return {
    CHAIN_ID: stack.chainId === undefined ? undefined : String(stack.chainId),
    RPC_URLS: stack.rpcUrl,
    TOKEN_CONTRACT: stack.tokenContract,
    VAULT_CONTRACT: stack.vaultContract,
    VAULT_START_BLOCK: stack.vaultStartBlock,
    REGISTRY_ADDRESS: stack.registryAddress,
    ...(stack.isLocalChain === true && signerOf(stack)),
  };
}

/** The signer's key of the local chain's vault; of no use with another vault. */
function signerOf({ voucherSignerKey }: Stack): SettingsSource {
  if (voucherSignerKey === undefined) return {};
  return {
    VOUCHER_SIGNER_KEY: voucherSignerKey,
    VOUCHER_SIGNER_KEY_FILE: undefined,
    VAULT_CANCELLER_KEY: voucherSignerKey,
    VAULT_CANCELLER_KEY_FILE: undefined,
  };
}

function readStack(path: string): Stack | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return JSON.parse(text) as Stack;
}
