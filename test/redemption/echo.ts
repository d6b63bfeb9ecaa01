import { type PartnerAnswer, type PartnerCall } from '#libs/testing';

/** How it goes wrong, or not. */
export type Mode = 'honest' | 'unsigned' | 'refusing' | 'broken';

/**
 * How a partner behaves that says everything it knows in every answer: the headers it got and the secret it was given, in fields and
 * in header lines, whole and cut.
 */
export class Echo {
  mode: Mode = 'honest';
  /** Whether balances are told honestly in any mode: without one nothing can be redeemed. */
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
