import { type Address } from '#libs/domain';
import { pingPartner } from '#libs/operations';
import { CommandFailed } from '../cli.errors.js';
import { PartnerSettings } from '../cli.env.js';
import { command } from '../command.js';
import { argument, AS, JSON_LINE, option, positiveInteger, required, wallet } from '../options.js';
import { pingText } from '../partner/ping-text.js';

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
  async action(call, { name: partner, address, timeout: timeoutSeconds, allowPrivate }: Given) {
    const { clock, operator } = call;
    const keyRing = call.keyRing();
    const asked = { partner, address, timeoutSeconds, allowPrivate };
    const report = await call.withDatabase((database) =>
      pingPartner({ database, clock, keyRing }, operator, asked),
    );
    call.print(report, pingText(report));
    if (!report.good) throw new CommandFailed();
  },
});
