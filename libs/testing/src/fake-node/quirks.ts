/** Habits and bugs of real nodes and providers, each as people reported it, as faults of a fake node. */
import { type Fault } from './fault.js';
import { type Log } from './logs.js';
import { type NodeCall } from './node-call.js';

export interface Quirk {
  readonly name: string;
  /** A report of it, or of one of its kind. */
  readonly source: string;
  /** New faults for one node, because some of them count requests. */
  readonly faults: () => readonly Fault[];
  /** The finality of the index; default: by depth. */
  readonly finality?: 'finalized';
  /**
   * What an index says that has no other endpoint; it is not ready then. Absent: its balances are right. With another
   * endpoint they are right in any case.
   */
  readonly alone?: RegExp;
  /** Old blocks only have it, so that an index that has them already is right. */
  readonly isOfOldBlocks?: true;
  /** Some answers lack logs. */
  readonly losesLogs?: true;
}

type Kind = 'eth_getLogs' | 'eth_getBlockReceipts';

/** Changes the logs of answers: those of eth_getLogs, or also those of receipts. */
function changedLogs(
  change: (logs: readonly Log[], call: NodeCall) => unknown,
  ...kinds: readonly Kind[]
): Fault {
  return {
    kind: 'lie',
    change: ({ method, ...call }, result) => {
      if (!Array.isArray(result) || !kinds.includes(method as Kind)) return undefined;
      if (method === 'eth_getLogs') return change(result as Log[], { method, ...call });
      return (result as { logs: readonly Log[] }[]).map((receipt) => ({
        ...receipt,
        logs: change(receipt.logs, { method, ...call }),
      }));
    },
  };
}

function eachLog(change: (log: Log) => object, ...kinds: readonly Kind[]): Fault {
  return changedLogs((logs) => logs.map((log) => ({ ...log, ...change(log) })), ...kinds);
}

function eachHeader(change: (header: Log) => object): Fault {
  return {
    kind: 'lie',
    change: ({ method }, result) => {
      if (method !== 'eth_getBlockByNumber' || result === null) return undefined;
      const header = result as Log;
      return { ...header, ...change(header) };
    },
  };
}

/** As a number if it is even, else with leading zeros. */
const oddQuantity = (hex: unknown): unknown =>
  Number(hex) % 2 === 0 ? Number(hex) : `0x${String(hex).slice(2).padStart(16, '0')}`;
const byHash = ({ params }: NodeCall): boolean => typeof params[1] === 'object';
const upper = (hex: unknown): string => `0x${String(hex).slice(2).toUpperCase()}`;
export const isSelector =
  (selector: string) =>
  ({ params }: NodeCall): boolean =>
    (params[0] as { readonly data?: string }).data?.startsWith(selector) === true;

const BOTH = ['eth_getLogs', 'eth_getBlockReceipts'] as const;
/** Logs that a node gives at once. The largest block of the tests has more of one event. */
const CAP = 10;
const SYMBOL = '0x95d89b41';
export const TOTAL_STAKED = '0x817b1cd2';
const EVERY = 6;
/** Blocks below this one are pruned. */
const PRUNED_BELOW = 25;

function everySixth(status: number): () => readonly Fault[] {
  return () => {
    let requests = 0;
    return [{ kind: 'status', status, when: () => ++requests % EVERY === 0 }];
  };
}

/** Blocks after this one are new, at first: at most five of the tests' forty. */
const OLD_UP_TO = 35;

/** Leaves the logs of each new block out of the first answers that should have them. */
function lateLogs(answers: number): Fault {
  const left = new Map<unknown, number>();
  return changedLogs((logs) => {
    const late = new Set<unknown>();
    for (const { blockNumber } of logs) {
      const isNew = Number(blockNumber) > OLD_UP_TO;
      if (isNew && !late.has(blockNumber) && (left.get(blockNumber) ?? 0) < answers) {
        late.add(blockNumber);
        left.set(blockNumber, (left.get(blockNumber) ?? 0) + 1);
      }
    }
    return logs.filter(({ blockNumber }) => !late.has(blockNumber));
  }, 'eth_getLogs');
}

function blocksIn({ params }: NodeCall): readonly [number, number] {
  const { fromBlock, toBlock } = params[0] as Record<string, string>;
  return [Number(fromBlock), Number(toBlock)];
}

function isBatch(calls: readonly NodeCall[]): boolean {
  return calls.length > 1;
}

function isWide(call: NodeCall): boolean {
  if (call.method !== 'eth_getLogs') return false;
  const [from, to] = blocksIn(call);
  return to - from >= 5;
}

export const QUIRKS: readonly Quirk[] = [
  {
    name: 'the time of every log is zero',
    source: 'hyperledger/fabric-x-evm#210, l2beat/l2beat#11842, ethereum/go-ethereum#32334',
    faults: () => [eachLog(() => ({ blockTimestamp: '0x0' }), ...BOTH)],
  },
  {
    name: 'the time of every log is in milliseconds',
    source: 'l2beat/l2beat#11842 (another form of the field at Sonic)',
    faults: () => [
      eachLog(
        (log) => ({
          blockTimestamp: `0x${(Number(log['blockTimestamp']) * 1000).toString(16)}`,
        }),
        ...BOTH,
      ),
    ],
  },
  {
    name: 'every header is dated in milliseconds',
    source: '0xPolygon/polygon-edge#398, matter-labs/anvil-zksync#274',
    faults: () => [
      eachHeader(({ timestamp }) => ({
        timestamp: `0x${(Number(timestamp) * 1000).toString(16)}`,
      })),
    ],
    alone: /127\.0\.0\.1:\d+#\d: block \d+ is dated \d{13} \(Unix seconds\)/,
  },
  {
    name: 'every block but the first is dated 0',
    source: 'oasisprotocol/oasis-core#424',
    faults: () => [
      eachHeader(({ number, timestamp }) => ({
        timestamp: Number(number) === 0 ? timestamp : '0x0',
      })),
    ],
    alone: /127\.0\.0\.1:\d+#\d: block \d+ is dated 0/,
  },
  {
    name: 'logs are newest first',
    source: 'hiero-ledger/hiero-json-rpc-relay#699, moonbeam-foundation/moonbeam#1130',
    faults: () => [changedLogs((logs) => [...logs].reverse(), ...BOTH)],
  },
  {
    name: 'logs are numbered within their transaction',
    source: '0xPolygon/zkevm-node#3446',
    faults: () => [eachLog(() => ({ logIndex: '0x0' }), ...BOTH)],
  },
  {
    name: 'all logs of a block have the same place',
    source: 'iotaledger/wasp-legacy#2352, ethereum/aleth#4147',
    faults: () => [eachLog(() => ({ transactionIndex: '0x0', logIndex: '0x0' }), ...BOTH)],
  },
  {
    name: 'every log is sent twice',
    source: 'graphprotocol/graph-node#1208',
    faults: () => [changedLogs((logs) => logs.flatMap((log) => [log, log]), 'eth_getLogs')],
    alone: /127\.0\.0\.1:\d+#\d: a log is doubled/,
  },
  {
    name: 'the logs are an object',
    source: 'smartbch/smartbch#67 (another form of the result)',
    faults: () => [{ kind: 'result', method: 'eth_getLogs', result: {} }],
    alone: /127\.0\.0\.1:\d+#\d: the logs are not a list/,
  },
  {
    name: 'a web page in place of every answer',
    source: 'INFURA/infura#85',
    faults: () => [{ kind: 'html' }],
    alone: /127\.0\.0\.1:\d+#\d: the answer is not JSON/,
  },
  {
    name: 'null in place of no logs',
    source: 'onflow/flow-evm-gateway#695, smartbch/smartbch#67',
    faults: () => [changedLogs((logs) => (logs.length === 0 ? null : logs), 'eth_getLogs')],
  },
  {
    name: 'logs of a replaced block, marked as removed',
    source: 'filecoin-project/lotus#12584',
    faults: () => [
      changedLogs(
        (logs) =>
          logs.flatMap((log) => [
            { ...log, blockHash: `0x${'de'.repeat(32)}`, removed: true },
            log,
          ]),
        'eth_getLogs',
      ),
    ],
  },
  {
    name: 'hex in upper case',
    source: 'ethereum/execution-apis, schemas: bytes are ^0x[0-9a-fA-F]*$ in several clients',
    faults: () => [
      eachLog(
        (log) => ({
          data: upper(log['data']),
          topics: (log['topics'] as string[]).map(upper),
          blockHash: upper(log['blockHash']),
        }),
        ...BOTH,
      ),
    ],
  },
  {
    name: 'quantities are numbers, or have leading zeros',
    source: 'skalenetwork/skaled#1821, hiero-ledger/hiero-json-rpc-relay#303',
    faults: () => [
      eachLog(
        ({ blockNumber, transactionIndex, logIndex }) => ({
          blockNumber: oddQuantity(blockNumber),
          transactionIndex: oddQuantity(transactionIndex),
          logIndex: oddQuantity(logIndex),
        }),
        ...BOTH,
      ),
      eachHeader(({ number, timestamp }) => ({
        number: oddQuantity(number),
        timestamp: oddQuantity(timestamp),
      })),
      {
        kind: 'lie',
        change: ({ method }, result) => (method === 'eth_chainId' ? Number(result) : undefined),
      },
    ],
  },
  {
    name: 'every bloom is 0x00',
    source: 'filecoin-project/lotus#10196, TrueBlocks/trueblocks-core#48',
    faults: () => [eachHeader(() => ({ logsBloom: '0x00' }))],
  },
  {
    name: 'logs of other contracts and events, too',
    source: 'oasisprotocol/oasis-web3-gateway#125, openethereum/parity-ethereum#11005',
    faults: () => [
      changedLogs(
        (logs) =>
          logs.flatMap((log) => [
            { ...log, address: `0x${'99'.repeat(20)}`, logIndex: '0x1000' },
            log,
            { ...log, topics: [`0x${'12'.repeat(32)}`], logIndex: '0x1001' },
          ]),
        'eth_getLogs',
      ),
    ],
  },
  {
    name: 'receipts without logs have null, and blocks with more than ten logs are read from them',
    source: 'erigontech/erigon#23325 (of its kind)',
    faults: () => [
      {
        kind: 'lie',
        change: ({ method }, result) => {
          if (method !== 'eth_getBlockReceipts' || !Array.isArray(result)) return undefined;
          return (result as Log[]).flatMap((one) => [one, { ...one, logs: null }]);
        },
      },
      {
        kind: 'result-limit',
        logs: CAP,
        error: { code: -32602, message: `Query returned more than ${CAP} results.` },
      },
    ],
  },
  {
    name: 'at most ten logs in an answer, also for one block',
    source: 'matter-labs/zksync-era#3412, trezor/blockbook#1692, zeta-chain/node#3265',
    faults: () => [
      {
        kind: 'result-limit',
        logs: CAP,
        error: {
          code: -32602,
          message: `Query returned more than ${CAP} results. Try with this block range [0x0, 0x0].`,
        },
      },
    ],
  },
  {
    name: 'an answer with more than ten logs is cut to ten',
    source: 'ethers-io/ethers.js#1389',
    faults: () => [changedLogs((logs) => logs.slice(0, CAP), 'eth_getLogs')],
    losesLogs: true,
  },
  {
    name: 'the logs of a block come two answers later than its header',
    source:
      'ethereum-optimism/op-geth#667, ethereum/go-ethereum#26098, bobanetwork/boba_legacy#239',
    faults: () => [lateLogs(2)],
    losesLogs: true,
  },
  {
    name: '-32001 for ranges of more than five blocks',
    source: 'ponder-sh/ponder#2239, enviodev/hyperindex#605',
    faults: () => [
      {
        kind: 'error',
        method: 'eth_getLogs',
        code: -32001,
        message: 'Unable to complete request at this time.',
        only: isWide,
      },
    ],
  },
  {
    name: '429 for ranges of more than five blocks',
    source: 'KyberNetwork/kyberswap-interface#3095',
    faults: () => [
      {
        kind: 'error',
        method: 'eth_getLogs',
        code: 429,
        message: 'Too Many Requests',
        only: isWide,
      },
    ],
  },
  ...[
    { code: -32001, message: 'Resource not found' },
    { code: -32000, message: 'archive node required: upgrade your plan' },
  ].map((error): Quirk => ({
    name: `"${error.message}" for ranges of more than five blocks`,
    source: 'ponder-sh/ponder#2239 (other words)',
    faults: () => [{ kind: 'error', method: 'eth_getLogs', ...error, only: isWide }],
  })),
  {
    name: 'the logs of more than five blocks are left out of the batch',
    source: 'satsuma-xyz/node-gateway#107 (of its kind)',
    faults: () => [{ kind: 'missing-answer', index: 0, when: (calls) => calls.some(isWide) }],
  },
  {
    name: '"execution reverted" for ranges of more than five blocks',
    source: 'erigontech/erigon#12247 (another failure of blocks that are run again for their logs)',
    faults: () => [
      {
        kind: 'error',
        method: 'eth_getLogs',
        code: 3,
        message: 'execution reverted',
        only: isWide,
      },
    ],
  },
  {
    name: '403 for ranges of more than five blocks',
    source: 'OffchainLabs/arbitrum-sdk#609 (a status alone, and not 413)',
    faults: () => [{ kind: 'status', status: 403, when: (calls) => calls.some(isWide) }],
  },
  {
    name: 'errors have the status 400, also in a batch',
    source: 'hiero-ledger/hiero-json-rpc-relay#4630, besu-eth/besu#549',
    faults: () => [{ kind: 'status-of-errors', status: 400 }],
  },
  {
    name: 'old logs are pruned, and answered with []',
    source: 'paradigmxyz/reth#21122, erigontech/erigon#16042',
    faults: () => [
      changedLogs(
        (logs) => logs.filter((log) => Number(log['blockNumber']) >= PRUNED_BELOW),
        'eth_getLogs',
      ),
      {
        kind: 'lie',
        change: ({ method, params }) =>
          method === 'eth_getBlockReceipts' && Number(params[0]) < PRUNED_BELOW ? [] : undefined,
      },
    ],
    alone: /127\.0\.0\.1:\d+#\d.*(?:pruned|no logs)/,
    isOfOldBlocks: true,
  },
  {
    name: 'headers of old blocks are null',
    source: 'besu-eth/besu#8833, openethereum/parity-ethereum#8663',
    faults: () => [
      {
        kind: 'result',
        method: 'eth_getBlockByNumber',
        result: null,
        only: ({ params }) => Number(params[0]) < PRUNED_BELOW,
      },
    ],
    alone: /127\.0\.0\.1:\d+#\d pruned block 0/,
    isOfOldBlocks: true,
  },
  {
    name: 'old logs are pruned, and refused',
    source: 'paradigmxyz/reth#21122 (with an error)',
    faults: () => [
      {
        kind: 'error',
        method: 'eth_getLogs',
        code: 4444,
        message: 'pruned history unavailable',
        only: (call) => blocksIn(call)[0] < PRUNED_BELOW,
      },
    ],
    alone: /127\.0\.0\.1:\d+#\d: eth_getLogs failed: pruned history/,
    isOfOldBlocks: true,
  },
  ...[
    undefined,
    { code: -39001, message: 'Unknown block' },
    { code: -32602, message: 'invalid argument 0: hex string without 0x prefix' },
  ].map((error): Quirk => {
    const call = {
      method: 'eth_getBlockByNumber',
      only: ({ params }: NodeCall) => params[0] === 'finalized',
    };
    return {
      name: `no finalized block: ${error?.message ?? 'null'}`,
      source: 'ethereum/execution-apis#879, node-real/bsc-erigon#376',
      finality: 'finalized',
      faults: () => [
        error ? { kind: 'error', ...call, ...error } : { kind: 'result', ...call, result: null },
      ],
      alone: /127\.0\.0\.1:\d+#\d: has no finalized block.* set FINALITY=depth/,
    };
  }),
  ...[
    { code: -32603, message: 'params[1].slice is not a function' },
    { code: -32000, message: 'header not found' },
  ].map((error): Quirk => ({
    name: `calls by a block's hash are refused: ${error.message}`,
    source: 'ConsenSys-archive/ganache#973, axonweb3/axon#1228',
    faults: () => [{ kind: 'error', method: 'eth_call', ...error, only: byHash }],
  })),
  {
    name: "calls by a block's hash are null",
    source: 'graphprotocol/graph-node#4439',
    faults: () => [{ kind: 'result', method: 'eth_call', result: null, only: byHash }],
  },
  {
    name: 'the total is null',
    source: 'graphprotocol/graph-node#4439 (at every block)',
    faults: () => [
      { kind: 'result', method: 'eth_call', result: null, only: isSelector(TOTAL_STAKED) },
    ],
    alone: /127\.0\.0\.1:\d+#\d: a call of a contract answered with something else than bytes/,
  },
  {
    name: 'the first eth_chainId is null',
    source: 'across-protocol/frontend#1609, AcalaNetwork/bodhi.js#457',
    faults: () => [{ kind: 'result', method: 'eth_chainId', result: null, times: 1 }],
  },
  {
    name: 'the first eth_chainId is that of another chain',
    source: 'AcalaNetwork/bodhi.js#457',
    faults: () => [{ kind: 'result', method: 'eth_chainId', result: '0x0', times: 1 }],
  },
  {
    name: 'the first eth_chainId is an error of a proxy',
    source: 'OpenZeppelin/defender-client#19',
    faults: () => [
      { kind: 'error', method: 'eth_chainId', code: -32603, message: 'no backend', times: 1 },
    ],
  },
  ...[null, '0x'].map((result): Quirk => ({
    name: `the first symbol() is ${result ?? 'null'}`,
    source: 'ethereum/go-ethereum#24078 (a node behind, behind a load balancer)',
    faults: () => [
      { kind: 'result', method: 'eth_call', result, only: isSelector(SYMBOL), times: 1 },
    ],
  })),
  {
    name: 'the first total is 0x',
    source: 'ethereum/go-ethereum#24078 (a node behind, behind a load balancer)',
    faults: () => [
      {
        kind: 'result',
        method: 'eth_call',
        result: '0x',
        only: isSelector(TOTAL_STAKED),
        times: 1,
      },
    ],
  },
  {
    name: 'the first eth_getCode is 0x',
    source: 'ethereum/go-ethereum#24078 (a node behind, behind a load balancer)',
    faults: () => [{ kind: 'result', method: 'eth_getCode', result: '0x', times: 1 }],
  },
  {
    name: 'the state of every block is pruned',
    source: 'MetaMask/metamask-extension#13322, 0xPolygon/bor#109',
    faults: () => [{ kind: 'pruned' }],
    alone: /127\.0\.0\.1:\d+#\d.*(?:missing trie node|state at block)/,
  },
  ...['GZIP', 'x-gzip', 'Gzip, identity'].map((coding): Quirk => ({
    name: `bodies in the coding ${coding}`,
    source: 'axios/axios#3181, oven-sh/bun#31521; RFC 9110, 8.4.1',
    faults: () => [{ kind: 'coded', coding }],
  })),
  {
    name: 'batches are reset, single requests are answered',
    source: 'category-labs/monad-bft#643, Alethio/memento#16 (another form of the failure)',
    faults: () => [{ kind: 'reset', when: isBatch }],
    alone: /127\.0\.0\.1:\d+#\d: takes no batch requests/,
  },
  {
    name: 'batches are never answered, single requests are',
    source: 'equilibriumco/pathfinder#2789',
    faults: () => [{ kind: 'never-answers', when: isBatch }],
    alone: /127\.0\.0\.1:\d+#\d: takes no batch requests/,
  },
  {
    name: '413 for batches of more than four calls',
    source: 'trustwallet/blockatlas#1406, steemit/jussi#140',
    faults: () => [{ kind: 'status', status: 413, when: (calls) => calls.length > 4 }],
  },
  {
    name: 'batches of more than four calls are reset',
    source: 'openethereum/parity-ethereum#8961 (the message gets lost)',
    faults: () => [{ kind: 'reset', when: (calls) => calls.length > 4 }],
  },
  ...[400, 402, 403].map((status): Quirk => ({
    name: `every sixth request is answered with ${status}`,
    source: 'graphprotocol/graph-node#3269, ApeWorX/web3.py#3091',
    faults: everySixth(status),
  })),
];
