/** Client of the one node that the program asks. Its answers are believed, so users name a node that they trust. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BaseError, createPublicClient, http, HttpRequestError, type PublicClient } from 'viem';
import { type Address } from '#libs/domain';
import { UncheckedError } from './verify.error.js';
import { type Hex, type RawLog } from './effect-decoder.js';

const TIMEOUT_MS = 30_000;
const RETRIES = 4;
const RETRY_DELAY_MS = 400;

export interface Block {
  readonly number: bigint;
  /** Unix time in seconds. */
  readonly seconds: number;
  readonly hash: Hex;
}

export interface LogRange {
  readonly addresses: readonly Address[];
  readonly topics: readonly Hex[];
  readonly from: bigint;
  readonly to: bigint;
}

export type LogAnswer =
  | { readonly logs: readonly RawLog[] }
  /** `passing`: the node could not be reached or limits the rate; a smaller range would not help. */
  | { readonly failure: string; readonly isTransient: boolean };

export class NodeClient {
  readonly client: PublicClient;
  /** Requests logs without retries: a refused range is made smaller instead. */
  private readonly once: PublicClient;

  constructor(private readonly url: string) {
    const options = { timeout: TIMEOUT_MS, retryDelay: RETRY_DELAY_MS };
    this.client = createPublicClient({ transport: http(url, { ...options, retryCount: RETRIES }) });
    this.once = createPublicClient({ transport: http(url, { ...options, retryCount: 0 }) });
  }

  chainId(): Promise<number> {
    return this.asked('the chain id', () => this.client.getChainId());
  }

  /** @param number undefined: the newest block */
  block(number?: bigint): Promise<Block> {
    const name = number === undefined ? 'the newest block' : `block ${number}`;
    return this.asked(name, async () => {
      const block = await this.client.getBlock(
        number === undefined ? { blockTag: 'latest' } : { blockNumber: number },
      );
      if (number !== undefined && block.number !== number) throw new Error('it sent another one');
      return { number: block.number, seconds: Number(block.timestamp), hash: block.hash };
    });
  }

  async logs({ addresses, topics, from, to }: LogRange): Promise<LogAnswer> {
    const [fromBlock, toBlock] = [from, to].map((number): Hex => `0x${number.toString(16)}`);
    const filter = { address: addresses, topics: [topics], fromBlock, toBlock };
    try {
      const request = { method: 'eth_getLogs', params: [filter] } as never;
      const logs: unknown = await this.once.request(request);
      if (Array.isArray(logs)) return { logs: logs as RawLog[] };
      return { failure: 'it answered eth_getLogs without a list', isTransient: false };
    } catch (error) {
      return { failure: this.words(error), isTransient: isPassing(error) };
    }
  }

  /** @throws UncheckedError whose message names `what` and the host, never the URL */
  async asked<T>(what: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      throw this.silence(what, this.words(error));
    }
  }

  /** Names the node by its host, since its URL often holds a key. */
  silence(what: string, failure: string): UncheckedError {
    const { host } = new URL(this.url);
    return new UncheckedError(`The node at ${host} does not tell ${what}: ${failure}`);
  }

  private words(error: unknown): string {
    const text =
      error instanceof BaseError
        ? [error.shortMessage, error.details].filter((part) => part !== '').join(' ')
        : String(error instanceof Error ? error.message : error);
    const { host, href } = new URL(this.url);
    const shown = text.replaceAll(this.url, host).replaceAll(href, host);
    return shown.replaceAll(/\s+/g, ' ').slice(0, 300);
  }
}

const TOO_MANY_REQUESTS = 429;

function isPassing(error: unknown): boolean {
  const found =
    error instanceof BaseError ? error.walk((one) => one instanceof HttpRequestError) : null;
  if (!(found instanceof HttpRequestError)) return false;
  return found.status === undefined || found.status === TOO_MANY_REQUESTS;
}

/** Exponential backoff, 10 s at most. */
export function backoff(attempt: number): Promise<void> {
  return sleep(Math.min(RETRY_DELAY_MS * 2 ** attempt, 10_000));
}
