import {
  ChainReader,
  endpointName,
  ExecutionRevertedError,
  isTransient,
  parseFinality,
  providerOf,
  RangeSizer,
  RangeTooLargeError,
  RpcError,
  toQuantity,
  wideQuantity,
} from '#libs/chain';
import { type Address } from '#libs/domain';
import { duration } from '#libs/operations';
import { type Answer, type Check, check, fault, notChecked, ok, table, warning } from './checks.js';
import { type DoctorSettings } from './doctor.settings.js';
import { askEndpoint, reasonOf, type RpcAnswer } from './rpc-answer.js';
import { type Staking, type Subject } from './subject.js';

/** Tolerance for block times in the future: clocks differ a little, and some chains date their blocks ahead. */
const AHEAD_SECONDS = 30;
/** Largest tested range of `eth_getLogs`, in blocks; providers rarely allow more. */
const MOST_BLOCKS = 10_000;
/** Newest blocks among which skipped heights are looked for. */
const PROBED_BLOCKS = 128n;
/** With smaller ranges, the first sync of a long chain takes days. */
const SMALL_RANGE = 100;
const STATE_DEPTHS = [1_000_000n, 100_000n, 10_000n, 1000n, 128n, 0n] as const;
/** An address without a contract: a call succeeds wherever the node has the state. */
const NO_CONTRACT = '0x000000000000000000000000000000000000dead';
const REPLACE = 'Check its URL, its key and the way there, or take it out of RPC_URLS.';

/**
 * One check for each endpoint of RPC_URLS, or a check that reports that RPC_URLS is not set; and the check of their
 * providers.
 */
export function endpointChecks({ rpcUrls = [] }: DoctorSettings): readonly Check[] {
  const unset = check({ title: 'rpc', needs: ['RPC_URLS'], ask: () => undefined });
  const each = rpcUrls.map((url, index) =>
    endpointCheck(`rpc ${endpointName(new URL(url), index + 1)}`, index),
  );
  return [...(each.length === 0 ? [unset] : each), providersCheck];
}

function endpointCheck(title: string, index: number): Check {
  return table({
    title,
    needs: ['RPC_URLS'],
    read: (subject) => new Endpoint(subject, subject.pool.endpoints[index] ?? ''),
    rows: [
      { title, ask: chainAnswer, remedy: REPLACE, stopsOnFault: true },
      { title: `${title}: head`, ask: headAnswer, stopsOnFault: true },
      {
        title: `${title}: finality`,
        ask: finalityAnswer,
        remedy: 'Where the chain has no such blocks, set FINALITY=depth:<blocks>.',
      },
      { title: `${title}: heights`, ask: heightsAnswer },
      { title: `${title}: logs`, ask: logsAnswer },
      {
        title: `${title}: old logs`,
        ask: oldLogsAnswer,
        remedy:
          'Enough to follow the chain; the first sync and a reindexing need an endpoint that has them.',
      },
      { title: `${title}: state`, ask: stateAnswer },
    ],
  });
}

/**
 * Whether payouts are observed through two providers. With a single provider, an endpoint that denies a claim makes the
 * points go back although the tokens were paid.
 */
export const providersCheck = check({
  title: 'rpc providers',
  needs: ['RPC_URLS', 'VAULT_CONTRACT'],
  ask: ({ pool }) => {
    const providers = [...new Set(pool.endpoints.map(providerOf))];
    const list = providers.join(', ');
    return providers.length > 1
      ? ok(`${providers.length}: ${list}`)
      : warning(
          `only ${list}: what it says of a voucher has no second witness, so it can bring points back beside a claim`,
        );
  },
  remedy: 'Before real money is redeemed, name a second endpoint of another provider in RPC_URLS.',
});

interface SeenBlock {
  readonly number: bigint;
  readonly timestampSeconds: number;
}

interface LogRefusal {
  readonly why: string;
  /** Size that the endpoint proposes instead, in blocks. */
  readonly proposedBlocks?: number | undefined;
}

/** The next size to try. @returns 1 where the size is not the cause, or a smaller range might time out too */
function nextSizeAfter(error: Error, from: bigint): number | undefined {
  if (error instanceof RangeTooLargeError) return error.proposedBlocks(from);
  const mayBeSize = error instanceof RpcError && error.sizeMayExplain;
  return mayBeSize && error.code !== 'RPC_TIMEOUT' ? undefined : 1;
}

/** One endpoint, with the facts that its rows have found. */
class Endpoint {
  /** The newest block; set by the row "head". */
  latest: SeenBlock = { number: 0n, timestampSeconds: 0 };
  /** Number of blocks whose logs fit in one request; set by the row "logs". */
  range: number | undefined;

  constructor(
    readonly subject: Subject,
    /** Host and position in RPC_URLS; never the URL, which may contain a key. */
    private readonly name: string,
  ) {}

  ask(method: string, ...params: readonly unknown[]): Promise<RpcAnswer> {
    return askEndpoint(this.subject.pool, this.name, { method, params });
  }

  /** @returns the block; undefined where it does not exist; a text where the endpoint refuses to give it */
  async blockAt(tag: string): Promise<SeenBlock | string | undefined> {
    const { value, error } = await this.ask('eth_getBlockByNumber', tag, false);
    if (error === undefined) return seenBlock(value);
    // A temporary failure says nothing about the node's blocks.
    if (isTransient(error)) throw error;
    return reasonOf(error);
  }

  /** Undefined where the endpoint returns the logs. */
  async refusesLogs(from: bigint, to: bigint): Promise<LogRefusal | undefined> {
    const address = contractsToRead(await this.subject.staking(), this.subject.settings);
    const filter = { address, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
    const { value, error } = await this.ask('eth_getLogs', filter);
    if (error === undefined) {
      // Some nodes answer null where there are no logs.
      return Array.isArray(value) || value === null
        ? undefined
        : { why: 'answers with something else than a list' };
    }
    return { why: reasonOf(error), proposedBlocks: nextSizeAfter(error, from) };
  }

  /** A block at or soon after `from` whose logs the endpoint has pruned. */
  async lostLogs(from: bigint): Promise<bigint | undefined> {
    const reader = new ChainReader(this.subject.pool);
    return (await reader.endpointsWithoutLogs(from, [this.name])).get(this.name);
  }

  /** One of the newest heights that the chain skips. */
  async skippedHeight(): Promise<bigint | undefined> {
    const { number } = this.latest;
    const from = number > PROBED_BLOCKS ? number - PROBED_BLOCKS : 0n;
    return new ChainReader(this.subject.pool).skippedHeight({ from, to: number }, this.name);
  }

  /** The reason why the endpoint does not give the state of a block; undefined where it does. */
  async refusesState(block: bigint): Promise<string | undefined> {
    const call = { to: NO_CONTRACT, data: '0x' };
    const { value, error } = await this.ask('eth_call', call, toQuantity(block));
    if (error instanceof ExecutionRevertedError) return undefined;
    if (error !== undefined) return reasonOf(error);
    return typeof value === 'string' ? undefined : 'answers with something else than bytes';
  }
}

/** @returns undefined where the value is no block header */
function seenBlock(value: unknown): SeenBlock | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const header = value as Readonly<Record<string, unknown>>;
  const [number, seconds] = [wideQuantity(header['number']), wideQuantity(header['timestamp'])];
  if (number === undefined || seconds === undefined) return undefined;
  return { number, timestampSeconds: Number(seconds) };
}

function contractsToRead(
  { contracts }: Staking,
  { vaultContract }: DoctorSettings,
): readonly Address[] {
  if (contracts.length > 0) return contracts;
  return vaultContract === undefined ? [] : [vaultContract];
}

async function chainAnswer(endpoint: Endpoint): Promise<Answer> {
  const expected = await endpoint.subject.chainId();
  const { value, error } = await endpoint.ask('eth_chainId');
  if (error !== undefined) return fault(reasonOf(error));
  const chainId = wideQuantity(value);
  if (chainId === undefined) return fault('does not tell its chain id');
  return expected !== undefined && chainId !== BigInt(expected)
    ? fault(
        `serves chain ${chainId}, and CHAIN_ID is ${expected}`,
        'Take it out of RPC_URLS, or correct CHAIN_ID.',
      )
    : ok(`answers; chain ${chainId}`);
}

/** The newest block and its age, which also shows a wrong clock. */
async function headAnswer(endpoint: Endpoint): Promise<Answer> {
  const latest = await endpoint.blockAt('latest');
  if (latest === undefined || typeof latest === 'string') {
    return fault(latest ?? 'has no newest block', 'Ask its operator, or use another endpoint.');
  }
  endpoint.latest = latest;
  const { clock, settings } = endpoint.subject;
  const ageMs = clock.nowMs() - latest.timestampSeconds * 1000;
  if (ageMs < -AHEAD_SECONDS * 1000) {
    return warning(
      `block ${latest.number} is of the future, by ${duration(-ageMs)}`,
      'Check the clock of this machine (NTP); if it is right, the clock of the chain is wrong.',
    );
  }
  const found = `block ${latest.number}, ${duration(ageMs)} old`;
  return ageMs <= settings.indexMaxLagSeconds * 1000
    ? ok(found)
    : warning(
        `${found}, more than INDEX_MAX_LAG_SECONDS (${settings.indexMaxLagSeconds})`,
        'The node is behind (use another), the chain stands still (wait), or the clock of this machine is ahead (NTP).',
      );
}

async function finalityAnswer(endpoint: Endpoint): Promise<Answer> {
  const { latest, subject } = endpoint;
  const { finality: setting } = subject.settings;
  const finality = parseFinality(setting);
  const below = finality.kind === 'depth' ? latest.number - finality.blocks : 0n;
  const tag = finality.kind === 'tag' ? finality.tag : toQuantity(below < 0n ? 0n : below);
  const final = await endpoint.blockAt(tag);
  if (final === undefined || typeof final === 'string') {
    return fault(`no block for FINALITY=${setting}${final === undefined ? '' : `: ${final}`}`);
  }
  return ok(`block ${final.number} is final, ${latest.number - final.number} below the head`);
}

/** How many blocks of logs fit in one request, determined like the indexer does. */
async function logsAnswer(endpoint: Endpoint): Promise<Answer> {
  const { latest, subject } = endpoint;
  if (contractsToRead(await subject.staking(), subject.settings).length === 0) {
    return notChecked('STAKE_CONTRACT is not set, and there is no index');
  }
  const limits = { targetBytes: Infinity, maxBlocks: MOST_BLOCKS, initialBlocks: MOST_BLOCKS };
  const sizer = new RangeSizer(limits);
  let given = 0;
  while (sizer.size > given) {
    const { size } = sizer;
    const head = latest.number;
    const from = head >= BigInt(size) ? head - BigInt(size) + 1n : 0n;
    const refused = await endpoint.refusesLogs(from, head);
    if (refused === undefined) {
      given = size;
      sizer.succeeded(size, 0);
    } else if (size === 1) {
      return fault(
        `not even of one block: ${refused.why}`,
        'It cannot be indexed from: use an endpoint that serves eth_getLogs.',
      );
    } else sizer.refused(size, refused.proposedBlocks);
  }
  endpoint.range = given;
  const found = `of ${given}${given === MOST_BLOCKS ? ' or more' : ''} blocks at once`;
  return given < SMALL_RANGE
    ? warning(found, 'The first sync will be slow: use an endpoint with larger ranges for it.')
    : ok(found);
}

/** Whether the endpoint has the logs of the first indexed block. */
async function oldLogsAnswer(endpoint: Endpoint): Promise<Answer | undefined> {
  const { latest, range, subject } = endpoint;
  const { startBlock } = await subject.staking();
  if (range === undefined || startBlock === undefined || startBlock > latest.number) {
    return undefined;
  }
  const refused = await endpoint.refusesLogs(startBlock, startBlock + BigInt(range) - 1n);
  if (refused !== undefined) return warning(`not those of block ${startBlock}: ${refused.why}`);
  const lost = await endpoint.lostLogs(startBlock);
  return lost === undefined
    ? ok(`from block ${startBlock} on`)
    : warning(`not those of block ${lost}: pruned, and answered with an empty list`);
}

/** The indexer needs a block at every height. */
async function heightsAnswer(endpoint: Endpoint): Promise<Answer | undefined> {
  const skipped = await endpoint.skippedHeight();
  if (skipped === undefined) return undefined;
  return fault(
    `the chain has no block ${skipped}, although it has later ones`,
    'Chains that skip heights, such as Filecoin, are not supported.',
  );
}

/**
 * How far back the endpoint has the chain's state, with which the indexer compares the contract's total with the
 * events.
 */
async function stateAnswer(endpoint: Endpoint): Promise<Answer> {
  const { latest, subject } = endpoint;
  const { startBlock } = await subject.staking();
  if (startBlock === undefined) {
    return notChecked('STAKE_START_BLOCK is not set, and there is no index');
  }
  if (startBlock > latest.number) {
    return warning(
      `STAKE_START_BLOCK is ${startBlock}, above the head`,
      'Correct STAKE_START_BLOCK, or use a node that is not behind.',
    );
  }
  const refused = await endpoint.refusesState(startBlock);
  if (refused === undefined) return ok(`from block ${startBlock} on (archive)`);
  for (const depth of STATE_DEPTHS) {
    const block = latest.number - depth;
    if (block <= startBlock || (await endpoint.refusesState(block)) !== undefined) continue;
    return warning(
      depth === 0n ? 'of the newest block only' : `of the newest ${depth} blocks or so only`,
      'Enough to follow the chain; an archive endpoint lets the first sync and `audit` hold old blocks against the contract.',
    );
  }
  return warning(`none: ${refused}`, 'Use an endpoint that serves the state of the chain.');
}
