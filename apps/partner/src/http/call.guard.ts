import { timingSafeEqual } from 'node:crypto';
import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import { type FastifyRequest } from 'fastify';
import { canonicalJson, parseUuidV7, uuidV7Ms } from '#libs/domain';
import { CLOCK, type Clock } from '#libs/platform';
import { hashApiKey, verifySignature } from '#libs/signing';
import { PartnerSettings } from '../partner.env.js';
import { Refusal } from '../points/refusal.js';
import { SeenRequests } from '../store/seen-requests.js';
import { callPrefix } from './sign-answers.js';
import { parseStrictJson } from './strict-json.js';

/** How far the time in an X-API-REQUEST may be from this clock, either way. */
const FRESH_MS = 300_000;

/**
 * Lets a call through that comes from the service, is unchanged, is new and comes for the first time. The id is remembered
 * last, so that only the service can fill the table; a call that fails later needs a new one, as each attempt does.
 */
@Injectable()
export class CallGuard implements CanActivate {
  constructor(
    private readonly settings: PartnerSettings,
    private readonly seen: SeenRequests,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** @throws Refusal ERR-AUTH-FAILED, errors of the database */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { 'x-api-key': key, 'x-api-request': id, 'x-api-signature': signature } = request.headers;
    if (!this.isOurKey(key)) throw unauthenticated('X-API-KEY is missing or wrong.');
    if (!this.isSigned(request, signature)) {
      throw unauthenticated('X-API-SIGNATURE is missing or does not match.');
    }
    const requestId = typeof id === 'string' ? parseUuidV7(id) : undefined;
    if (requestId === undefined) {
      throw unauthenticated('X-API-REQUEST must be a UUID of version 7.');
    }
    const nowMs = this.clock.nowMs();
    if (Math.abs(nowMs - uuidV7Ms(requestId)) > FRESH_MS) {
      throw unauthenticated('X-API-REQUEST is more than 300 s from the clock here.');
    }
    if (!(await this.seen.isFirst(requestId, nowMs))) {
      throw unauthenticated('X-API-REQUEST was used before.');
    }
    return true;
  }

  /** Hashes have one length, so the comparison takes the same time whatever is sent. */
  private isOurKey(key: unknown): boolean {
    const ours = hashApiKey(this.settings.partnerApiKey);
    return typeof key === 'string' && timingSafeEqual(hashApiKey(key), ours);
  }

  private isSigned(request: FastifyRequest, signature: unknown): boolean {
    if (typeof signature !== 'string') return false;
    const prefix = callPrefix(request);
    const matches = (body: Uint8Array): boolean =>
      verifySignature(this.settings.partnerSharedSecret, Buffer.concat([prefix, body]), signature);
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    if (matches(body)) return true;
    // The service's bodies are canonical already. Somebody in between may print the same JSON in another way.
    const canonical = canonicalForm(body);
    return canonical !== undefined && matches(canonical);
  }
}

function canonicalForm(body: Buffer): Buffer | undefined {
  try {
    return Buffer.from(canonicalJson(parseStrictJson(body)));
  } catch {
    // Not JSON, or JSON that has no canonical form: then there is only the raw one.
    return undefined;
  }
}

function unauthenticated(message: string): Refusal {
  return new Refusal('ERR-AUTH-FAILED', message);
}
