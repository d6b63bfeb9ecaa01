import { type RedemptionStore } from '#libs/db';
import {
  type Address,
  type BalanceAnswer,
  type CallOutcome,
  type UnknownReason,
} from '#libs/domain';
import { newRequestId } from '#libs/partner-client';
import { type Clock } from '#libs/platform';
import { UserError } from '../http/user.error.js';
import { type PartnerEntry } from '../partner/partner-directory.js';
import { type PartnerCaller } from '../steps/partner-caller.js';

export interface PointsParts {
  readonly store: Pick<RedemptionStore, 'beginBalanceCall' | 'endCall'>;
  readonly caller: Pick<PartnerCaller, 'call'>;
  readonly clock: Clock;
}

const RETRY_AFTER_SECONDS = 10;

/** The partner may answer another time; whatever else it says is nonsense. */
const SILENCE: readonly UnknownReason[] = [
  'timeout',
  'reset',
  'half-answer',
  'crash',
  'too-slow',
  'server-error',
  'rate-limited',
  'error-internal',
];

/** How many points a player has, by the partner's own account. */
export class PointsService {
  constructor(private readonly parts: PointsParts) {}

  /** @throws UserError 404, 502, 503; DatabaseUnavailableError */
  async read(partner: PartnerEntry, address: Address): Promise<BalanceAnswer> {
    const { store, caller, clock } = this.parts;
    const requestId = newRequestId(clock);
    await store.beginBalanceCall(partner.endpoint.partnerId, requestId);
    const call = { step: 'balance', address } as const;
    const { outcome, end } = await caller.call(partner, { call, address, requestId });
    await store.endCall(end);
    return answerOf(outcome);
  }
}

function answerOf(outcome: CallOutcome<'balance'>): BalanceAnswer {
  switch (outcome.kind) {
    case 'succeeded':
      return outcome.answer;
    case 'refused':
      if (outcome.code !== 'ERR-USER-NOT-FOUND') throw nonsense();
      throw new UserError(404, 'USER_NOT_FOUND', 'The partner knows no player with this wallet.');
    case 'nothing-sent':
      throw unavailable(outcome.retryAfterSeconds);
    case 'unknown':
      throw SILENCE.includes(outcome.reason) ? unavailable(outcome.retryAfterSeconds) : nonsense();
  }
}

function unavailable(retryAfterSeconds = RETRY_AFTER_SECONDS): UserError {
  const message = 'The partner does not answer at the moment. Try again later.';
  return new UserError(503, 'PARTNER_UNAVAILABLE', message, {
    retryAfterSeconds: Math.max(1, Math.ceil(retryAfterSeconds)),
  });
}

function nonsense(): UserError {
  return new UserError(502, 'PARTNER_ERROR', 'The partner’s answer could not be used.');
}
