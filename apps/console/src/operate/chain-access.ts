import { Inject, Injectable } from '@nestjs/common';
import { AllEndpointsFailedError, RpcPool } from '#libs/chain';
import { CLOCK, type Clock } from '#libs/platform';
import { HttpProblem } from '#libs/service';
import { ConsoleSettings } from '../console.env.js';

const TIMEOUT_MS = 4_000;

/** Calls to the chain, by the endpoints of RPC_URLS. The setting is optional for the console. */
@Injectable()
export class ChainAccess {
  private pool: RpcPool | undefined;

  constructor(
    private readonly settings: ConsoleSettings,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  get isSet(): boolean {
    return this.settings.rpcUrls !== undefined;
  }

  /**
   * Runs `question` with the endpoints that serve this chain.
   * @throws HttpProblem 503 where RPC_URLS is not set, or no endpoint answers
   */
  async ask<T>(chainId: number, question: (pool: RpcPool) => Promise<T>): Promise<T> {
    const { rpcUrls: urls } = this.settings;
    if (urls === undefined) throw notSet();
    try {
      if (this.pool === undefined) {
        const pool = new RpcPool({ urls, clock: this.clock, timeoutMs: TIMEOUT_MS });
        await pool.verifyChainId(chainId);
        this.pool = pool;
      }
      return await question(this.pool);
    } catch (error) {
      throw problemOf(error);
    }
  }
}

/** A 503 where all endpoints failed; any other error as it is. */
export function problemOf(error: unknown): unknown {
  if (!(error instanceof AllEndpointsFailedError)) return error;
  const message = 'No endpoint of RPC_URLS answers: look at the provider, then try again.';
  return new HttpProblem(503, message, {
    code: 'CHAIN_UNAVAILABLE',
    retryAfterSeconds: 5,
    cause: error,
  });
}

export function notSet(): HttpProblem {
  const message = 'RPC_URLS is not set for the console: set it, and restart the console.';
  return new HttpProblem(503, message, { code: 'SETTING_MISSING' });
}
