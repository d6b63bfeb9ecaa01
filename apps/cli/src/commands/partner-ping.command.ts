import { Command, InvalidArgumentError } from 'commander';
import { readSettings } from '#libs/config';
import {
  CallbackStore,
  type Database,
  PartnerMissingError,
  RedemptionStore,
  RedemptionViews,
} from '#libs/db';
import { type Address, parseAddress } from '#libs/domain';
import { callOutcome, newRequestId, PartnerClient } from '#libs/partner-client';
import { hashApiKey, KeyRing } from '#libs/signing';
import { positiveInteger } from '../callback/number-parsers.js';
import { PartnerSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { CommandFailed } from '../command-failed.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { onPartner } from '../operator/on-partner.js';
import { jsonLine } from '../output/json-line.js';
import { ObservedEndpoint } from '../ping/observed-endpoint.js';
import { type Pinged, pingReport, pingText } from '../ping/ping-report.js';
import { withDatabase } from '../with-database.js';

interface Options {
  readonly address: Address;
  readonly timeout: number;
  readonly allowPrivate?: boolean;
  readonly json?: true;
  readonly as?: string;
}

/** `partner ping`: reads a balance as the service would, and shows all that is signed on the way; never the secret. */
export function partnerPingCommand(context: CommandContext): Command {
  return new Command('ping')
    .description('read a balance and show what is signed, by whom and how; changes nothing')
    .argument('<name>', 'name or id of the partner')
    .requiredOption('--address <0x…>', 'the wallet of a player', wallet)
    .option('--timeout <seconds>', 'for the whole call', positiveInteger, 10)
    .option('--allow-private', 'development: call http and private addresses')
    .option('--json', 'print one line of JSON')
    .addOption(actorOption())
    .action(async (partner: string, options: Options) => {
      const settings = readSettings(PartnerSettings, context.source());
      const keyRing = KeyRing.parse(settings.secretsKey);
      const command = {
        command: 'partner ping',
        arguments: { address: options.address },
        actor: actorOf(options),
      };
      const report = await withDatabase(settings.databaseUrl, (database) =>
        onPartner(database, partner, command, async ({ partnerId }, { actor, note }) => {
          const pinged = await ping({ context, database, keyRing }, partnerId, options);
          const outcome = pinged.outcome.kind;
          await new RedemptionViews(database).audit(
            actor,
            { ...note, outcome },
            { partner: partnerId },
          );
          return pingReport(pinged);
        }),
      );
      context.terminal.out(options.json === true ? jsonLine(report) : pingText(report));
      if (!report.good) throw new CommandFailed();
    });
}

interface Parts {
  readonly context: CommandContext;
  readonly database: Database;
  readonly keyRing: KeyRing;
}

async function ping(
  { context: { clock }, database, keyRing }: Parts,
  partnerId: string,
  { address, timeout, allowPrivate = false }: Options,
): Promise<Pinged> {
  const callback = await new CallbackStore(database).find(partnerId);
  if (callback === undefined) throw new PartnerMissingError();
  const { url: baseUrl, key: apiKey, secretCiphertext, capabilities, partnerName } = callback;
  const sharedSecret = keyRing.open(secretCiphertext, hashApiKey(apiKey));
  const endpoint = new ObservedEndpoint({ partnerId, baseUrl, apiKey, sharedSecret });
  const client = new PartnerClient({
    clock,
    policy: { allowPrivate },
    timeouts: { readMs: timeout * 1000 },
  });
  const calls = new RedemptionStore(database);
  const requestId = newRequestId(clock);
  await calls.beginBalanceCall(partnerId, requestId);
  const result = await client.call(endpoint, { step: 'balance', address }, { requestId });
  await calls.endCall({ requestId, outcome: result.kind, record: result.record });
  const outcome = callOutcome({ step: 'balance', address }, result, { capabilities });
  return { partner: { partnerId, partnerName }, endpoint, requestId, result, outcome, address };
}

function wallet(text: string): Address {
  const address = parseAddress(text);
  if (address === undefined) throw new InvalidArgumentError('Expected 0x and 40 hex digits.');
  return address;
}
