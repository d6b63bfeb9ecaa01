import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Address, parseAddress, parseDay } from '#libs/domain';
import { readStakeRules, type StakeRule } from './stake-rules.js';
import { type ServiceApiOptions } from './service-api.js';
import { UsageError } from './verify.error.js';

export const USAGE = `Usage: lowmark-verify --contract ADDRESS --day DAY [--rpc URL] [options]

Reads the staking contract's events from a node, works out what every wallet kept staked on a UTC day, and the Merkle
root over it, and compares that with what the service says.

  --rpc URL                  the node, which is believed            or LOWMARK_RPC_URL, which no list of processes shows
  --contract ADDRESS         the staking contract; several times where balances of several add up
  --day DAY                  a UTC day that is over: 2026-11-20, or several: 2026-11-01..2026-11-20
  --events EVENTS            what changes a stake: a preset or a file, as the service's STAKE_EVENTS; default
                             staked-withdrawn
  --from-block N             the first block whose events count; default 0. From the block of the contract's creation
                             on it is quicker

What the chain is compared with, one at least:

  --api URL                  the service; the first wallet that differs is named
  --api-key-file FILE        the API key for it                     or LOWMARK_API_KEY
  --shared-secret-file FILE  the shared secret of the key           or LOWMARK_SHARED_SECRET; without it the service's
                             public keys vouch for its answers
  --registry ADDRESS         the SnapshotRegistry on the same chain, which holds the root of the day
  --root ROOT                a root that is known otherwise; of one day
  --list FILE                lines of {"walletAddress":"0x…","low":"123"}, ascending; of one day

  --json                     the result as JSON on standard output
  --help

Example: lowmark-verify --rpc http://localhost:8545 --contract 0x5FbDB2315678afecb367f032d93F642f64180aa3 \\
  --day 2026-11-20 --api https://staking.example --api-key-file api-key

Exit status: 0 all agree, 1 one differs, 2 something could not be checked, and nothing differs.`;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface CliArguments {
  readonly rpcUrl: string;
  readonly contracts: readonly [Address, ...Address[]];
  readonly days: { readonly first: number; readonly last: number };
  readonly rules: readonly StakeRule[];
  readonly fromBlock: bigint;
  readonly api: ServiceApiOptions | undefined;
  readonly registry: Address | undefined;
  readonly root: string | undefined;
  readonly list: string | undefined;
  readonly isJson: boolean;
}

const TEXT = { type: 'string' } as const;
const OPTIONS = {
  ...{ rpc: TEXT, day: TEXT, events: TEXT, 'from-block': TEXT, api: TEXT, registry: TEXT },
  ...{ root: TEXT, list: TEXT, 'api-key-file': TEXT, 'shared-secret-file': TEXT },
  contract: { type: 'string', multiple: true },
  json: { type: 'boolean' },
  help: { type: 'boolean' },
} as const;

const MOST_DAYS = 366;

/**
 * @returns undefined where help is asked for
 * @throws UsageError whose message holds no secret
 */
export function readArguments(
  args: readonly string[],
  environment: Environment,
): CliArguments | undefined {
  const values = parse(args);
  if (values.help === true) return undefined;
  const days = daysOf(values.day ?? missing('--day'));
  const { root, list, registry } = values;
  for (const [name, value] of Object.entries({ root, list })) {
    if (value !== undefined && days.first !== days.last)
      throw new UsageError(`--${name} is of one day.`);
  }
  if (root !== undefined && !/^0x[0-9a-f]{64}$/i.test(root)) {
    throw new UsageError('--root must be 0x and 64 hex digits.');
  }
  return {
    rpcUrl: urlOf(
      '--rpc',
      values.rpc ?? environment['LOWMARK_RPC_URL'] ?? missing('--rpc or LOWMARK_RPC_URL'),
    ),
    contracts: contractsOf(values.contract ?? []),
    days,
    rules: readStakeRules(values.events ?? 'staked-withdrawn'),
    fromBlock: blockOf(values['from-block'] ?? '0'),
    api: apiOf(values, environment),
    registry: registry === undefined ? undefined : addressOf('--registry', registry),
    root: root?.toLowerCase(),
    list,
    isJson: values.json === true,
  };
}

type Values = ReturnType<typeof parsed>;

function parse(args: readonly string[]): Values {
  try {
    return parsed(args);
  } catch {
    // Node's own message repeats the arguments, and a secret may be among them by mistake.
    throw new UsageError(
      'There is an option that is not known, or one without its value. Try --help.',
    );
  }
}

function parsed(args: readonly string[]) {
  return parseArgs({ args: [...args], options: OPTIONS, strict: true, allowPositionals: false })
    .values;
}

function daysOf(text: string): { first: number; last: number } {
  const [from = '', to = from, ...rest] = text.split('..');
  const [first, last] = [parseDay(from), parseDay(to)];
  if (first === undefined || last === undefined || first > last || rest.length > 0) {
    throw new UsageError('--day must be a day such as 2026-11-20, or 2026-11-01..2026-11-20.');
  }
  if (last - first >= MOST_DAYS) throw new UsageError(`--day must be ${MOST_DAYS} days at most.`);
  return { first, last };
}

function contractsOf(texts: readonly string[]): readonly [Address, ...Address[]] {
  const [first, ...others] = texts.map((text) => addressOf('--contract', text));
  return first === undefined ? missing('--contract') : [first, ...others];
}

function addressOf(name: string, text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new UsageError(`${name} must be 0x and 40 hex digits.`);
  return address;
}

function blockOf(text: string): bigint {
  if (!/^\d{1,15}$/.test(text)) throw new UsageError('--from-block must be the number of a block.');
  return BigInt(text);
}

/** A URL may hold a key, so errors never repeat it. */
function urlOf(name: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return text;
  throw new UsageError(`${name} must be a URL that begins with https:// or http://.`);
}

function apiOf(values: Values, environment: Environment): ServiceApiOptions | undefined {
  if (values.api === undefined) return undefined;
  const read = (option: 'api-key-file' | 'shared-secret-file', variable: string) => {
    const file = values[option];
    return file === undefined ? environment[variable] || undefined : secretOf(option, file);
  };
  return {
    url: urlOf('--api', values.api),
    apiKey: read('api-key-file', 'LOWMARK_API_KEY') ?? missing('--api-key-file or LOWMARK_API_KEY'),
    sharedSecret: read('shared-secret-file', 'LOWMARK_SHARED_SECRET'),
  };
}

/** Removes one line break at the end, which an editor adds to the secret. */
function secretOf(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    throw new UsageError(`The file of --${option} cannot be read (${code}).`);
  }
}

function missing(what: string): never {
  throw new UsageError(`${what} is missing. Try --help.`);
}
