import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { Pool } from 'undici';
import { HttpProblem, REQUEST_ID_HEADER } from '#libs/service';
import { ConsoleSettings } from '../console.env.js';
import { bytesUpTo } from '../http/bytes-up-to.js';

const CONNECT_MS = 2_000;
/** Longer than the longest call to a partner that an answer waits for. */
const ANSWER_MS = 20_000;
/** More than twice the size of a page of a hundred redemptions. */
const MAX_ANSWER_BYTES = 1_048_576;
const RETRY_AFTER_SECONDS = 3;
/** Headers of a request that are passed on. All others, cookies above all, are withheld from the service. */
const PASSED_ON = ['idempotency-key', 'accept'] as const;
const PASSED_BACK = ['content-type', 'retry-after'] as const;

export interface ServiceAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

/** Sends players' requests to the redemption service, each once, with the player's session token and address. */
@Injectable()
export class RedemptionService implements OnApplicationShutdown {
  private readonly pool: Pool;

  constructor({ redemptionUrl }: ConsoleSettings) {
    this.pool = new Pool(redemptionUrl, {
      connect: { timeout: CONNECT_MS },
    });
  }

  /**
   * @param path path of the redemption service, with its query
   * @throws HttpProblem 503 where the service does not answer; 502 where its answer is too large
   */
  async ask(request: FastifyRequest, path: string, token?: string): Promise<ServiceAnswer> {
    const { method } = request;
    try {
      const answer = await this.pool.request({
        method,
        path,
        headers: headersOf(request, token),
        // A limit on the whole answer, also if it comes byte by byte.
        signal: AbortSignal.timeout(ANSWER_MS),
        ...(method === 'POST' && { body: JSON.stringify(request.body ?? {}) }),
      });
      const { statusCode: status } = answer;
      const body = await bytesUpTo(MAX_ANSWER_BYTES, answer.body);
      if (body !== undefined) {
        return { status, headers: chosen(answer.headers, PASSED_BACK), body };
      }
    } catch (error) {
      throw unavailable(error);
    }
    throw new HttpProblem(502, 'The answer of the redemption service is too large.', {
      code: 'ANSWER_TOO_LARGE',
    });
  }

  /** The browsers have got their answers or were left, so what the service still owes is of no use. */
  onApplicationShutdown(): Promise<void> {
    return this.pool.destroy();
  }
}

function headersOf(request: FastifyRequest, token: string | undefined): Record<string, string> {
  return {
    ...chosen(request.headers, PASSED_ON),
    ...(request.method === 'POST' && { 'content-type': 'application/json' }),
    'x-forwarded-for': request.ip,
    [REQUEST_ID_HEADER]: request.id,
    ...(token !== undefined && { authorization: `Bearer ${token}` }),
  };
}

function chosen(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  names: readonly string[],
): Record<string, string> {
  const found = names.map((name) => [name, headers[name]] as const);
  return Object.fromEntries(
    found.filter((one): one is [string, string] => typeof one[1] === 'string'),
  );
}

/**
 * The failed request may have been carried out. A page that redeems repeats the request with the same Idempotency-Key.
 */
function unavailable(cause: unknown): HttpProblem {
  const message =
    'Redemptions cannot be reached at the moment. Nothing is lost: try again shortly.';
  return new HttpProblem(503, message, { cause, retryAfterSeconds: RETRY_AFTER_SECONDS });
}
