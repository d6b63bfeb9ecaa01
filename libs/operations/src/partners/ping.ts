import { isUtf8 } from 'node:buffer';
import {
  CallbackStore,
  type PartnerAudit,
  type PartnerIdentity,
  PartnerMissingError,
  RedemptionStore,
  RedemptionViews,
} from '#libs/db';
import {
  type CallOutcome,
  canonicalJson,
  LowmarkError,
  parseAddress,
  type PartnerId,
} from '#libs/domain';
import {
  type AnswerResult,
  callOutcome,
  type CallResult,
  newRequestId,
  PartnerClient,
  PartnerEndpoint,
  type PartnerEndpointFields,
} from '#libs/partner-client';
import { explain, type Reply } from '#libs/partner-sdk/answers';
import { explainSignature } from '#libs/partner-sdk/conformance';
import { hashApiKey, signedContent } from '#libs/signing';
import { OptionError } from '../operation.error.js';
import { Field } from '../operation/field.js';
import { OnPartner } from '../operation/on-partner.js';
import { type OperationContext } from '../operation/operation.js';

const DEFAULT_SECONDS = 10;

/**
 * Reads a balance as the redemption service does, and reports everything that was signed, but never the secret. Moves
 * no points; the call is logged.
 */
export class PingPartner extends OnPartner<PingReport> {
  static readonly spec = {
    command: 'partner ping',
    description: 'read a balance and show what is signed, by whom and how; changes nothing',
    role: 'operator',
    needs: 'secretsKey',
  } as const;

  @Field({
    type: 'wallet',
    help: 'the wallet of a player',
    label: 'The wallet of a player',
    option: '--address <0x…>',
    required: true,
    audited: parseAddress,
  })
  readonly address!: string;

  /** Limit on the whole call. */
  timeoutSeconds?: number;
  allowPrivate?: boolean | undefined;

  /** @throws PartnerUnknownError, PartnerMissingError */
  protected async change(
    context: OperationContext,
    { partnerId: partner }: PartnerIdentity,
    { actor, note }: PartnerAudit,
  ): Promise<PingReport> {
    const pinged = await this.readBalance(context, partner);
    const outcome = pinged.outcome.kind;
    await new RedemptionViews(context.database).audit(actor, { ...note, outcome }, { partner });
    return pingReport(pinged);
  }

  private async readBalance(
    { database, clock, keyRing, allowPrivate = false }: OperationContext,
    partnerId: PartnerId,
  ): Promise<Pinged> {
    const address = parseAddress(this.address);
    if (address === undefined)
      throw new OptionError('The address must be 0x and 40 hex digits.', 'address');
    const callback = await new CallbackStore(database).find(partnerId);
    if (callback === undefined) throw new PartnerMissingError();
    const { url: baseUrl, key: apiKey, secretCiphertext, partnerName } = callback;
    const sharedSecret = keyRing().open(secretCiphertext, hashApiKey(apiKey));
    const endpoint = new ObservedEndpoint({ partnerId, baseUrl, apiKey, sharedSecret });
    const { timeoutSeconds = DEFAULT_SECONDS } = this;
    const timeouts = { readMs: timeoutSeconds * 1000 };
    const policy = { allowPrivate: this.allowPrivate ?? allowPrivate };
    const client = new PartnerClient({ clock, policy, timeouts });
    const calls = new RedemptionStore(database);
    const requestId = newRequestId(clock);
    await calls.beginBalanceCall(partnerId, requestId);
    const result = await client.call(endpoint, { step: 'balance', address }, { requestId });
    await calls.endCall({ requestId, outcome: result.kind, record: result.record });
    const outcome = callOutcome({ step: 'balance', address }, result);
    return { partner: { partnerId, partnerName }, endpoint, requestId, result, outcome, address };
  }
}

const LONGEST_CONTENT = 2048;

export interface Pinged {
  readonly partner: PartnerIdentity;
  readonly endpoint: ObservedEndpoint;
  readonly requestId: string;
  readonly result: CallResult;
  readonly outcome: CallOutcome<'balance'>;
  readonly address: string;
}

export type PingReport = ReturnType<typeof pingReport>;

export function pingReport(pinged: Pinged) {
  const { partner, endpoint, requestId, result, outcome, address } = pinged;
  const { record } = result;
  const mistakes = endpoint.mistakes(`?address=${address}`);
  const { isUsable, code, rule = null, says, remedy } = explain({ ...record.finding, mistakes });
  return {
    partner,
    url: endpoint.baseUrl,
    good: isUsable,
    finding: code,
    rule,
    says,
    mend: remedy ?? 'Nothing.',
    requestId,
    // What we signed; null where nothing was signed.
    request: endpoint.sent ?? null,
    answer: result.kind === 'answer' ? answerOf(result, endpoint) : null,
    outcome: outcomeText(outcome),
    phase: result.phase,
    cause: record.cause ?? null,
    error: record.error ?? null,
    remoteAddress: record.remoteAddress ?? null,
    timings: record.timings,
    // The partner's clock minus ours.
    clockDifferenceSeconds: record.clockDifferenceSeconds ?? null,
  };
}

const FITS = { valid: 'bytes', canonical: 'canonical form', missing: null, wrong: null } as const;

function answerOf(result: AnswerResult, endpoint: ObservedEndpoint) {
  const { status, verdict, record, reply } = result;
  const expected = endpoint.expected(reply);
  return {
    status,
    verdict,
    // Which form of the body the signature covers; null where it covers none, or there is no signature.
    signatureFits: FITS[reply.signature],
    signature: record.answerHeaders['x-api-signature'] ?? null,
    // The content that the signature should cover. The partner may repeat a secret in its answer, so secrets are
    // redacted.
    expected: expected
      ? { ...expected, content: endpoint.redact(expected.content).slice(0, LONGEST_CONTENT) }
      : null,
    body: record.excerpt,
  };
}

function outcomeText(outcome: CallOutcome<'balance'>): string {
  switch (outcome.kind) {
    case 'succeeded':
      return `${outcome.answer.points.toString()} points, player ${outcome.answer.partnerUserId}, chain ${outcome.answer.chain}`;
    case 'refused':
      return `refused: ${outcome.code}`;
    case 'unknown':
    case 'nothing-sent':
      return `${outcome.kind}: ${outcome.reason}`;
  }
}

type CallIdentity = Parameters<PartnerEndpoint['sign']>[0];

interface SignedText {
  /** METHOD + PATH + X-API-REQUEST + BODY. */
  readonly content: string;
  readonly signature: string;
}

/** An endpoint that records what it signs and verifies, and does not reveal the secret. */
export class ObservedEndpoint extends PartnerEndpoint {
  sent: SignedText | undefined;
  private identity: CallIdentity | undefined;
  private answered: Uint8Array | undefined;
  private given: string | undefined;
  readonly #secret: string;

  constructor(fields: PartnerEndpointFields) {
    super(fields);
    this.#secret = fields.sharedSecret;
  }

  override sign(call: CallIdentity, body: string): string {
    const signature = super.sign(call, body);
    this.sent = { content: signedContent({ ...call, body }), signature };
    this.identity = call;
    return signature;
  }

  override verify(call: CallIdentity, body: Uint8Array, signature: string): boolean {
    // The first call passes the body as received, and a later call passes its canonical form.
    this.answered ??= body;
    this.given ??= signature;
    return super.verify(call, body, signature);
  }

  /**
   * Known mistakes that make exactly the signature of the answer; empty where none does.
   * @param query of the request, which is not part of the signed content
   */
  mistakes(query: string): readonly string[] {
    const { identity, answered, given } = this;
    const body = answered === undefined ? undefined : textOf(answered);
    if (identity === undefined || body === undefined || given === undefined) return [];
    const path = identity.path + query;
    return explainSignature({ ...identity, path, secret: this.#secret, body, given }).mistakes;
  }

  /**
   * The content and signature that the answer should have: over its bytes, or over the canonical form of its JSON where
   * the answer has no signature or a signature over that form. Undefined where there is neither.
   */
  expected({ json, signature }: Reply): SignedText | undefined {
    const { answered } = this;
    const isOverBytes = answered !== undefined && signature !== 'canonical';
    const body = isOverBytes ? textOf(answered) : canonicalText(json);
    if (this.identity === undefined || body === undefined) return undefined;
    const content = signedContent({ ...this.identity, body });
    return { content, signature: super.sign(this.identity, body) };
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : undefined;
}

function canonicalText(json: Reply['json']): string | undefined {
  if (json === undefined) return undefined;
  try {
    return canonicalJson(json.value);
  } catch (error) {
    if (error instanceof LowmarkError) return undefined;
    throw error;
  }
}
