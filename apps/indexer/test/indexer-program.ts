/** The indexer as an operator starts it: a process of its own, observed by its health page. Needs a build. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { testConstants } from '#libs/config';
import { freePort } from '#libs/devprocess';
import { type TestChain } from '#libs/testing/chain';
import { type TestDatabase } from '#libs/testing/database';
import { compileCache } from '#libs/testing/programs';

const GENEROUS_MS = 60_000;

interface Details {
  /** Readiness as a load balancer sees it. */
  readonly isReady: boolean;
  readonly phase?: string;
  readonly headBlock?: number | null;
}

export class IndexerProgram {
  private constructor(
    private readonly child: ChildProcess,
    private readonly port: number,
  ) {}

  /**
   * @param rpcUrl default: the URL of the chain
   * @param more settings, in place of those of the tests
   */
  static async start(
    chain: TestChain,
    database: Pick<TestDatabase, 'urlAs'>,
    rpcUrl = chain.rpc.url,
    more: Readonly<Record<string, string>> = {},
  ): Promise<IndexerProgram> {
    const port = await freePort();
    const { contracts } = chain;
    const child = spawn(process.execPath, ['dist/apps/indexer/src/main.js'], {
      stdio: ['ignore', 'ignore', 'inherit'],
      env: {
        ...compileCache(),
        DATABASE_URL: database.urlAs('indexer'),
        RPC_URLS: rpcUrl,
        CHAIN_ID: String(chain.chainId),
        FINALITY: 'depth:70',
        STAKE_CONTRACT: contracts.staking,
        STAKE_START_BLOCK: String(contracts.startBlock),
        TOKEN_CONTRACT: contracts.token,
        ...testConstants({ pollIntervalMs: 50, maxRangeBlocks: 5 }),
        INDEXER_PORT: String(port),
        LISTEN_HOST: '127.0.0.1',
        INDEX_MAX_LAG_SECONDS: '1000000000',
        ...more,
      },
    });
    return new IndexerProgram(child, port);
  }

  signal(name: 'SIGSTOP' | 'SIGCONT'): void {
    this.child.kill(name);
  }

  /**
   * Stops the process as an operator does.
   * @returns exit code and signal
   */
  async stop(): Promise<{ code: number | null; signal: string | null }> {
    const ended = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const [code, signal] = (await ended) as [number | null, string | null];
    return { code, signal };
  }

  /** Kills the process without a chance to clean up, even where it is stopped by SIGSTOP. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await ended;
  }

  /**
   * Waits until the health page reports a state.
   * @throws Error with the last report where the state is not reached within a minute
   */
  async until(what: string, reached: (details: Details) => boolean): Promise<void> {
    const deadline = Date.now() + GENEROUS_MS;
    for (;;) {
      const details = await this.details();
      if (details !== undefined && reached(details)) return;
      if (Date.now() > deadline) throw new Error(`not ${what}: ${JSON.stringify(details)}`);
      await sleep(50);
    }
  }

  async metrics(): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.port}/metrics`)).text();
  }

  /** Waits until this process leads and its index ends at the chain's newest block. */
  async level(chain: TestChain): Promise<void> {
    const newest = Number(await chain.player.head());
    await this.until(
      `level with block ${newest}`,
      ({ isReady, phase, headBlock }) => isReady && phase === 'following' && headBlock === newest,
    );
  }

  /** Undefined where the health page gives no phase. */
  async phase(): Promise<string | undefined> {
    return (await this.details())?.phase;
  }

  /** The newest indexed block; undefined where the process does not follow the chain. */
  async headFollowed(): Promise<number | undefined> {
    const details = await this.details();
    return details?.phase === 'following' ? (details.headBlock ?? undefined) : undefined;
  }

  standby(): Promise<void> {
    return this.until('standing by', ({ phase }) => phase === 'standby');
  }

  private async details(): Promise<Details | undefined> {
    const answer = await fetch(`http://127.0.0.1:${this.port}/health/ready`, {
      signal: AbortSignal.timeout(5000),
    }).catch(() => undefined);
    const health = (await answer?.json()) as
      { checks?: { index?: { details?: Omit<Details, 'isReady'> } } } | undefined;
    const details = health?.checks?.index?.details;
    return details && { ...details, isReady: answer?.status === 200 };
  }
}
