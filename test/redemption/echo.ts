import { type PartnerAnswer, type PartnerCall } from '#libs/testing/partner';

/** The partner's behaviour: correct answers, or a kind of fault. */
export type Mode = 'honest' | 'unsigned' | 'refusing' | 'broken';

/**
 * A partner that repeats everything it knows in every answer: the request's headers and the shared secret, in fields
 * and in header lines, complete and partial.
 */
export class Echo {
  mode: Mode = 'honest';
  /** Whether the balance is answered correctly in every mode. Without a balance nothing can be redeemed. */
  readsHonestly = false;

  constructor(private readonly secret: string) {}

  answer({ path, body: { address }, headers }: PartnerCall): PartnerAnswer {
    const isRead = path === '/get-points-by-address';
    const mode = isRead && this.readsHonestly ? 'honest' : this.mode;
    const requestId = String(headers['x-api-request']);
    const key = String(headers['x-api-key']);
    const honest = isRead
      ? { partnerUserId: 'u', address, points: 1000, chain: 'x' }
      : { partnerTransactionId: `tx-${requestId}`, partnerRevertId: 'r' };
    const refused = {
      success: false,
      errorCode: 'ERR-AUTH-FAILED',
      errorMessage: `No: ${key} ${this.secret} ${String(headers['x-api-signature'])}`,
    };
    const body = JSON.stringify({
      yourHeaders: headers,
      yourSecret: this.secret,
      escaped: JSON.stringify({ secret: this.secret }),
      ...(mode === 'refusing' ? refused : { success: true, ...honest }),
    });
    return {
      body: mode === 'broken' ? body.slice(0, -1) : body,
      headers: { server: `Game ${this.secret} ${key}` },
      ...(mode === 'unsigned' && { signature: null }),
    };
  }
}
