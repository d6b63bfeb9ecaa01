/** A staking API whose answers the test chooses. Treated as a test file, but holds no tests. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import { sign, StakingClient, type StakingClientOptions } from '../index.js';
import { API_KEY, SECRET, WALLET } from '../testing/caller.support.js';

export type Answerer = (request: IncomingMessage, response: ServerResponse) => void;

export interface FakeApi {
  /** Sent in this order; the last answer repeats. */
  answers: Answerer[];
  /** The requests of this test. */
  requests: IncomingMessage[];
  readonly origin: string;
  client(options?: Partial<StakingClientOptions>): StakingClient;
}

/** Serves the tests of a file. */
export function aFakeApi(): FakeApi {
  const server = createServer((request, response) => {
    api.requests.push(request);
    const answer = api.answers.length > 1 ? api.answers.shift() : api.answers[0];
    answer?.(request, response);
  });
  const api: FakeApi = {
    answers: [],
    requests: [],
    get origin() {
      return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    },
    client: (options) =>
      new StakingClient({
        ...{ baseUrl: api.origin, apiKey: API_KEY, sharedSecret: SECRET },
        // The time at which the service says that it received each request.
        ...{ clock: { nowMs: () => Date.parse(BODY.requestedAt) }, ...options },
      }),
  };
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve)));
  beforeEach(() => {
    api.requests = [];
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return api;
}

/** Days up to the one before the request, with amounts whose average is 300. */
export function theDays(count: number, lastDay = '2026-11-20'): object[] {
  return Array.from({ length: count }, (_, place) => {
    const fromMs = Date.parse(lastDay) - (count - 1 - place) * 86_400_000;
    return {
      from: new Date(fromMs).toISOString(),
      to: new Date(fromMs + 86_400_000 - 1).toISOString(),
      snapshotAmount: 300 + (place - (count - 1) / 2) * 10,
    };
  });
}

export const BODY = {
  walletAddress: WALLET,
  requestedAt: '2026-11-21T12:00:02.123Z',
  tokenSymbol: 'SVC',
  tokenContract: '0x1111111111111111111111111111111111111111',
  stakeContract: '0x2222222222222222222222222222222222222222',
  averageStakedAmount: 300,
  exchangeRateToUSD: 0.0001,
  valueInUSD: 0.03,
  stakingSnapshots: theDays(7),
};

export interface Signed {
  readonly status?: number;
  readonly secret?: string;
  readonly headers?: Record<string, string>;
  /** The body that is sent in place of the signed one. */
  readonly sent?: string | Buffer;
}

export function signed(body: object | string, options: Signed = {}): Answerer {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const { status = 200, secret = SECRET, headers = {}, sent = text } = options;
  return ({ method = '', url = '' }, response) => {
    const signature = sign(secret, { method, url, body: text });
    response.writeHead(status, { 'x-api-signature': signature, ...headers }).end(sent);
  };
}

export const refusal = (
  status: number,
  code: string,
  message: string,
  options: Signed = {},
): Answerer => signed({ success: false, code, message }, { ...options, status });

/** The 404 of a wallet that never staked. */
export const noStake = (message: string): Answerer => {
  const { requestedAt } = BODY;
  return signed({ success: false, code: 'NOT_FOUND', message, requestedAt }, { status: 404 });
};

export const NONE = noStake(`No staking data for wallet ${WALLET}`);

export async function failure(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => undefined,
    (error: unknown) => error,
  );
}
