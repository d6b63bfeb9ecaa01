/** Everything that may happen to a call between us and the partner's records. */
import {
  balanceEvent,
  type BalanceEvent,
  deductEvent,
  type DeductEvent,
  revertEvent,
  type RevertEvent,
} from '../call-event.js';
import { needsBalance } from '../deduct-rules.js';
import { judgeReply, type PartnerReply } from '../partner-answer.js';
import {
  type CallOutcome,
  type DeductBody,
  type PartnerErrorCode,
  type PartnerRequest,
} from '../partner-call.js';
import { type OpenCall, type Redemption } from '../redemption.js';
import { type UuidV7 } from '../uuid-v7.js';
import { type ModelPartner, refusal } from './model-partner.js';

/** What the network, or a proxy of the partner, does to a call. */
export const FAULTS = [
  'none',
  'nothing-sent',
  'request-lost',
  'request-late',
  'reply-lost',
  'reply-unsigned',
  'reply-forged',
  'reply-garbled',
  'reply-502',
  'reply-429',
  'reply-internal',
  'reply-of-a-copy',
  'success-out-of-nowhere',
  // A proxy that answers with an unsigned refusal: to a call that it lets through, drops, or delivers later.
  'refusal-invented',
  'refusal-invented-call-dropped',
  'refusal-invented-call-held',
  'crash-before-call',
  'crash-after-call',
] as const;
export type Fault = (typeof FAULTS)[number];

const SIGNED: PartnerReply = { status: 200, contentType: 'application/json', signature: 'valid' };

/** What a proxy invents, in turn. */
const INVENTED: Readonly<Record<'deduct' | 'revert', readonly PartnerErrorCode[]>> = {
  deduct: ['ERR-INSUFFICIENT-POINTS', 'ERR-USER-NOT-FOUND', 'ERR-DUPLICATE-REQUEST'],
  revert: ['ERR-ALREADY-REVERTED', 'ERR-TRANSACTION-NOT-FOUND', 'ERR-INVALID-AMOUNT'],
};

function inventedReply(step: 'deduct' | 'revert', nowMs: number): PartnerReply {
  const codes = INVENTED[step];
  const code = codes[Math.floor(nowMs / 1000) % codes.length] ?? 'ERR-INTERNAL';
  const value = { ...refusal(code), partnerTransactionId: 'tx-bystander' };
  return { ...SIGNED, status: 422, signature: 'missing', json: { value } };
}

/** The outcome of a call under a fault; undefined where the caller has crashed. */
function callThrough<S extends 'deduct' | 'revert'>(
  fault: Fault,
  call: { readonly step: S; readonly address: DeductBody['address']; readonly nowMs: number },
  handle: () => object,
): CallOutcome<S> | undefined {
  const judged = (change: Partial<PartnerReply>): CallOutcome<S> =>
    judgeReply(call, { ...SIGNED, json: { value: handle() }, ...change });
  switch (fault) {
    case 'none':
      return judged({});
    case 'nothing-sent':
      return { kind: 'nothing-sent', reason: 'connection-refused' };
    case 'request-lost':
    case 'request-late':
      return { kind: 'unknown', reason: 'timeout' };
    case 'reply-lost':
      handle();
      return { kind: 'unknown', reason: 'reset' };
    case 'reply-unsigned':
      return judged({ signature: 'missing' });
    case 'reply-forged':
      return judged({ signature: 'wrong' });
    case 'reply-garbled':
      handle();
      return judged({ json: undefined });
    case 'reply-502':
      return judged({ status: 502, signature: 'missing' });
    case 'reply-429':
      return judgeReply(call, { ...SIGNED, status: 429, retryAfterSeconds: 9999 });
    case 'reply-internal':
      handle();
      return judged({ json: { value: refusal('ERR-INTERNAL') } });
    case 'reply-of-a-copy':
      handle();
      return judged({});
    case 'success-out-of-nowhere': {
      const value = { success: true, partnerTransactionId: 'tx-bystander', partnerRevertId: 'x' };
      return judgeReply(call, { ...SIGNED, signature: 'missing', json: { value } });
    }
    case 'refusal-invented':
      handle();
      return judgeReply(call, inventedReply(call.step, call.nowMs));
    case 'refusal-invented-call-dropped':
    case 'refusal-invented-call-held':
      return judgeReply(call, inventedReply(call.step, call.nowMs));
    case 'crash-before-call':
      return undefined;
    case 'crash-after-call':
      handle();
      return undefined;
  }
}

/** Whether the partner gets the call some time later. */
export function arrivesLate(fault: Fault): boolean {
  return fault === 'request-late' || fault === 'refusal-invented-call-held';
}

interface LateCall {
  readonly atMs: number;
  readonly request: PartnerRequest;
  readonly requestId: UuidV7;
}

export class ModelNetwork {
  private late: LateCall[] = [];

  constructor(private readonly partner: ModelPartner) {}

  get isBusy(): boolean {
    return this.late.length > 0;
  }

  delay(call: LateCall): void {
    this.late.push(call);
  }

  /** Delivers the late calls that are due. */
  deliver(nowMs: number): void {
    const due = this.late.filter(({ atMs }) => atMs <= nowMs);
    this.late = this.late.filter(({ atMs }) => atMs > nowMs);
    for (const { atMs, request, requestId } of due) this.partner.handle(request, requestId, atMs);
  }

  /**
   * What a worker learns of the balance; undefined where the player has the points, or no balance is needed.
   * @param pick 3: the answer is lost; 4: a proxy invents one
   */
  readBalance(
    redemption: Redemption,
    { pick, nowMs }: { readonly pick: number; readonly nowMs: number },
  ): BalanceEvent | undefined {
    if (!needsBalance(redemption, nowMs)) return undefined;
    if (pick === 3) return { type: 'balance-unknown', reason: 'timeout' };
    const { wallet: address } = redemption;
    const points = this.partner.balance;
    const value =
      pick === 4
        ? refusal('ERR-USER-NOT-FOUND')
        : { success: true, partnerUserId: 'u', address, points, chain: 'model' };
    const invented = pick === 4 && ({ status: 404, signature: 'missing' } as const);
    const reply = { ...SIGNED, ...invented, json: { value } };
    return balanceEvent(redemption, judgeReply({ step: 'balance', address }, reply));
  }

  /** The event that a worker learns; undefined where the worker has crashed. */
  call(
    openCall: OpenCall,
    made: { readonly fault: Fault; readonly request: PartnerRequest; readonly nowMs: number },
  ): DeductEvent | RevertEvent | undefined {
    const { fault, request, nowMs } = made;
    const { address } = request.body;
    const handle = () => this.partner.handle(request, openCall.requestId, nowMs);
    if (request.step === 'deduct') {
      const outcome = callThrough(fault, { step: 'deduct', address, nowMs }, handle);
      return outcome && deductEvent(openCall, outcome);
    }
    const outcome = callThrough(fault, { step: 'revert', address, nowMs }, handle);
    return outcome && revertEvent(openCall, outcome);
  }
}
