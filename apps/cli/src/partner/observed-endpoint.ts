import { isUtf8 } from 'node:buffer';
import { canonicalJson, LowmarkError } from '#libs/domain';
import { PartnerEndpoint, type PartnerEndpointFields } from '#libs/partner-client';
import { explainSignature, signedContent } from '#libs/signing';

type CallIdentity = Parameters<PartnerEndpoint['sign']>[0];

export interface SignedText {
  /** METHOD + PATH + X-API-REQUEST + BODY. */
  readonly content: string;
  readonly signature: string;
}

/** A partner's endpoint that remembers what it signed and what it was asked to verify; still without showing the secret. */
export class ObservedEndpoint extends PartnerEndpoint {
  sent: SignedText | undefined;
  /** What of the answer's body its signature is over; undefined while it fits neither. */
  signatureFits: 'bytes' | 'canonical form' | undefined;
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
    // The bytes as they came are asked about first, their canonical form after them.
    this.answered ??= body;
    this.given ??= signature;
    const fits = super.verify(call, body, signature);
    if (fits) this.signatureFits = body === this.answered ? 'bytes' : 'canonical form';
    return fits;
  }

  /**
   * Which mistakes make exactly the signature that the answer came with; empty where none that is known does.
   * @param query of the request, which is not signed
   */
  mistakes(query: string): readonly string[] {
    const { identity, answered, given } = this;
    const body = answered === undefined ? undefined : textOf(answered);
    if (identity === undefined || body === undefined || given === undefined) return [];
    const path = identity.path + query;
    return explainSignature({ ...identity, path, secret: this.#secret, body, given }).mistakes;
  }

  /**
   * What the answer should have been signed with: over its bytes, or over the canonical form of its JSON where it came without a
   * signature, or with one over that form. Undefined where there is neither.
   */
  expected(answer: { readonly json: unknown } | undefined): SignedText | undefined {
    const { answered } = this;
    const isOverBytes = answered !== undefined && this.signatureFits !== 'canonical form';
    const body = isOverBytes ? textOf(answered) : canonicalText(answer);
    if (this.identity === undefined || body === undefined) return undefined;
    const content = signedContent({ ...this.identity, body });
    return { content, signature: super.sign(this.identity, body) };
  }
}

function textOf(bytes: Uint8Array): string | undefined {
  return isUtf8(bytes) ? Buffer.from(bytes).toString('utf8') : undefined;
}

function canonicalText(answer: { readonly json: unknown } | undefined): string | undefined {
  if (answer === undefined) return undefined;
  try {
    return canonicalJson(answer.json);
  } catch (error) {
    if (error instanceof LowmarkError) return undefined;
    throw error;
  }
}
