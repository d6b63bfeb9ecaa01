import { createKeccak256 } from '#libs/keccak';
import { NodeClient } from './node-client.js';
import { Comparer, type Comparison } from './comparison.js';
import { type Published, SnapshotRegistry } from './registry.js';
import { ServiceApi } from './service-api.js';
import { ChainDays } from './chain-days.js';
import { EXIT_STATUS, factsOf, jsonOf, resultOf, textOf } from './report.js';
import { UncheckedError, UsageError } from './verify.error.js';
import { type CliArguments, type Environment, readArguments, USAGE } from './arguments.js';

export interface Terminal {
  readonly args: readonly string[];
  readonly environment: Environment;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

const PROGRESS_MS = 2000;

export async function runCli(terminal: Terminal): Promise<0 | 1 | 2> {
  const { err } = terminal;
  let doing = '';
  const timer = setInterval(() => {
    if (doing !== '') err(`${doing}\n`);
  }, PROGRESS_MS);
  try {
    const given = readArguments(terminal.args, terminal.environment);
    if (given === undefined) {
      terminal.out(`${USAGE}\n`);
      return 0;
    }
    return await check(given, terminal, (text) => (doing = text));
  } catch (error) {
    // A TypeError of the SDK says what is wrong with the address or the credential of the api.
    const isSaid =
      error instanceof UncheckedError || error instanceof UsageError || error instanceof TypeError;
    if (!isSaid) throw error;
    err(`${error.message}\n`);
    return EXIT_STATUS.unchecked;
  } finally {
    clearInterval(timer);
  }
}

async function check(
  given: CliArguments,
  { out, err }: Terminal,
  onProgress: (text: string) => void,
): Promise<0 | 1 | 2> {
  const { rpcUrl, contracts, rules, fromBlock, days, isJson } = given;
  const node = new NodeClient(rpcUrl);
  const chainId = await node.chainId();
  const { registry, root, list } = given;
  const api = given.api && new ServiceApi(given.api, `eip155:${chainId}:${contracts[0]}`);
  const others = { ...(api && { api }), ...(root && { root }), ...(list && { list }) };
  await api?.requireAccess();
  const roots = registry && new SnapshotRegistry(node, registry);
  await roots?.requireContracts(chainId, contracts);
  const published: ReadonlyMap<number, Published> =
    (await roots?.published(days)) ?? new Map<number, Published>();
  const keccak = await createKeccak256();
  const reading = { node, keccak, contracts, rules, fromBlock, days, onProgress };
  const comparer = new Comparer(others, onProgress);
  const comparisons: Comparison[] = [];
  const shown: object[] = [];
  for await (const day of new ChainDays(reading).days()) {
    const found = await comparer.compare(day, published.get(day.day));
    const checked = { chain: factsOf(day), comparisons: found };
    comparisons.push(...found);
    if (isJson) shown.push(jsonOf(checked));
    else out(`${textOf(checked)}\n`);
  }
  const result = resultOf(comparisons);
  if (isJson) {
    out(`${JSON.stringify({ version: 1, chainId, contracts, result, days: shown }, null, 2)}\n`);
  }
  if (Object.keys(others).length === 0 && registry === undefined) {
    err('There is nothing to compare with: give --api, --registry, --root or --list.\n');
  }
  return EXIT_STATUS[result];
}
