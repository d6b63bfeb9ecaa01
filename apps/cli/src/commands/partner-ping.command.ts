import {
  CallbackStore,
  type Database,
  PartnerMissingError,
  RedemptionStore,
  RedemptionViews,
} from '#libs/db';
import { type Address } from '#libs/domain';
import { callOutcome, newRequestId, PartnerClient } from '#libs/partner-client';
import { hashApiKey, type KeyRing } from '#libs/signing';
import { onPartner } from '../audited.js';
import { CommandFailed } from '../cli.errors.js';
import { PartnerSettings } from '../cli.env.js';
import { type Call, command } from '../command.js';
import { argument, AS, JSON_LINE, option, positiveInteger, required, wallet } from '../options.js';
import { ObservedEndpoint, type Pinged, pingReport, pingText } from '../partner/ping-report.js';

export const PARTNER = argument('<name>', 'name or id of the partner');

interface Given {
  readonly name: string;
  readonly address: Address;
  readonly timeout: number;
  readonly allowPrivate?: boolean;
}

/** Reads a balance as the service would, and shows all that is signed on the way; never the secret. */
export const ping = command({
  name: 'ping',
  description: 'read a balance and show what is signed, by whom and how; changes nothing',
  arguments: [PARTNER],
  options: [
    required('--address <0x…>', 'the wallet of a player', wallet),
    option('--timeout <seconds>', 'for the whole call', positiveInteger, 10),
    option('--allow-private', 'development: call http and private addresses'),
    JSON_LINE,
    AS,
  ],
  settings: PartnerSettings,
  async action(call, given: Given) {
    const keyRing = call.keyRing();
    const { name, address } = given;
    const report = await onPartner(call, name, { address }, async (database, who, audit) => {
      const { partnerId: partner } = who;
      const pinged = await readBalance(call, database, { ...given, keyRing, partnerId: partner });
      const note = { ...audit.note, outcome: pinged.outcome.kind };
      await new RedemptionViews(database).audit(audit.actor, note, { partner });
      return pingReport(pinged);
    });
    call.print(report, pingText(report));
    if (!report.good) throw new CommandFailed();
  },
});

async function readBalance(
  { clock }: Call,
  database: Database,
  given: Given & { readonly keyRing: KeyRing; readonly partnerId: string },
): Promise<Pinged> {
  const { keyRing, partnerId, address, timeout, allowPrivate = false } = given;
  const callback = await new CallbackStore(database).find(partnerId);
  if (callback === undefined) throw new PartnerMissingError();
  const { url: baseUrl, key: apiKey, secretCiphertext, capabilities, partnerName } = callback;
  const sharedSecret = keyRing.open(secretCiphertext, hashApiKey(apiKey));
  const endpoint = new ObservedEndpoint({ partnerId, baseUrl, apiKey, sharedSecret });
  const timeouts = { readMs: timeout * 1000 };
  const client = new PartnerClient({ clock, policy: { allowPrivate }, timeouts });
  const calls = new RedemptionStore(database);
  const requestId = newRequestId(clock);
  await calls.beginBalanceCall(partnerId, requestId);
  const result = await client.call(endpoint, { step: 'balance', address }, { requestId });
  await calls.endCall({ requestId, outcome: result.kind, record: result.record });
  const outcome = callOutcome({ step: 'balance', address }, result, { capabilities });
  return { partner: { partnerId, partnerName }, endpoint, requestId, result, outcome, address };
}
