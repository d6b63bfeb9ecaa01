import {
  CallbackStore,
  type Database,
  PartnerMissingError,
  RedemptionStore,
  RedemptionViews,
} from '#libs/db';
import { type Address } from '#libs/domain';
import { callOutcome, newRequestId, PartnerClient } from '#libs/partner-client';
import { type Clock } from '#libs/platform';
import { hashApiKey, type KeyRing } from '#libs/signing';
import { onPartner, type Operator } from '../audit/audited.js';
import { ObservedEndpoint, type Pinged, type PingReport, pingReport } from './ping-report.js';

export interface Ping {
  /** Name or id. */
  readonly partner: string;
  /** The wallet of a player. */
  readonly address: Address;
  /** For the whole call. */
  readonly timeoutSeconds: number;
  /** Development: http and private addresses are called. */
  readonly allowPrivate?: boolean | undefined;
}

interface PingContext {
  readonly database: Database;
  readonly clock: Clock;
  readonly keyRing: KeyRing;
}

/**
 * Reads a balance as the service would, and reports all that is signed on the way; never the secret. Changes nothing.
 * @throws PartnerUnknownError, PartnerMissingError
 */
export function pingPartner(
  context: PingContext,
  operator: Operator,
  ping: Ping,
): Promise<PingReport> {
  const { database } = context;
  const given = { partner: ping.partner, arguments: { address: ping.address } };
  return onPartner(database, operator, given, async ({ partnerId: partner }, audit) => {
    const pinged = await readBalance(context, partner, ping);
    const note = { ...audit.note, outcome: pinged.outcome.kind };
    await new RedemptionViews(database).audit(audit.actor, note, { partner });
    return pingReport(pinged);
  });
}

async function readBalance(
  { database, clock, keyRing }: PingContext,
  partnerId: string,
  { address, timeoutSeconds, allowPrivate = false }: Ping,
): Promise<Pinged> {
  const callback = await new CallbackStore(database).find(partnerId);
  if (callback === undefined) throw new PartnerMissingError();
  const { url: baseUrl, key: apiKey, secretCiphertext, capabilities, partnerName } = callback;
  const sharedSecret = keyRing.open(secretCiphertext, hashApiKey(apiKey));
  const endpoint = new ObservedEndpoint({ partnerId, baseUrl, apiKey, sharedSecret });
  const timeouts = { readMs: timeoutSeconds * 1000 };
  const client = new PartnerClient({ clock, policy: { allowPrivate }, timeouts });
  const calls = new RedemptionStore(database);
  const requestId = newRequestId(clock);
  await calls.beginBalanceCall(partnerId, requestId);
  const result = await client.call(endpoint, { step: 'balance', address }, { requestId });
  await calls.endCall({ requestId, outcome: result.kind, record: result.record });
  const outcome = callOutcome({ step: 'balance', address }, result, { capabilities });
  return { partner: { partnerId, partnerName }, endpoint, requestId, result, outcome, address };
}
