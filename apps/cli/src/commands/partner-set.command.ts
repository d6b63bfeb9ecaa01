import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { CallbackStore, PartnerStore, type RateLimits } from '#libs/db';
import { KeyRing } from '#libs/signing';
import {
  addCallbackOptions,
  type CallbackOptions,
  hasCallbackOptions,
  readCallbackCredential,
} from '../callback/callback-options.js';
import {
  auditedOptions,
  callbackFields,
  notLiveNote,
  privateNote,
} from '../callback/callback-text.js';
import { mergeCallback } from '../callback/merge-callback.js';
import { addRateOptions, rateField } from '../callback/rate-options.js';
import { PartnerSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { onPartner } from '../operator/on-partner.js';
import { OptionError } from '../option.error.js';
import { type Field, fieldLines } from '../output/fields.js';
import { withDatabase } from '../with-database.js';

type Options = CallbackOptions & Partial<RateLimits> & { readonly as?: string };

/** `partner set`: a partner's limits, how it is called and what may be redeemed with it; what is not given stays as it is. */
export function partnerSetCommand(context: CommandContext): Command {
  const command = new Command('set')
    .description(
      'set how much a partner may ask, how it is called and what may be redeemed with it',
    )
    .argument('<name>', 'name or id of the partner')
    .addOption(actorOption());
  return addCallbackOptions(addRateOptions(command)).action(
    async (partner: string, options: Options) => {
      const fields = await setPartner(context, partner, options);
      context.terminal.out(fieldLines(fields));
    },
  );
}

/** All that was given or, where it is refused, nothing. */
async function setPartner(
  { source, terminal }: CommandContext,
  partner: string,
  options: Options,
): Promise<Field[]> {
  const { rate, burst } = options;
  const limits = { ...(rate && { rate }), ...(burst && { burst }) };
  const hasLimits = Object.keys(limits).length > 0;
  const hasCallback = hasCallbackOptions(options);
  if (!hasLimits && !hasCallback) {
    throw new OptionError('Nothing to set: `partner set --help` lists what can be.');
  }
  const settings = readSettings(PartnerSettings, source());
  const keyRing = KeyRing.parse(settings.secretsKey);
  const credential = await readCallbackCredential(options, terminal);
  const command = {
    command: 'partner set',
    arguments: { rate, burst, ...auditedOptions(options, credential) },
    actor: actorOf(options),
  };
  return withDatabase(settings.databaseUrl, (database) =>
    onPartner(database, partner, command, async ({ partnerId, partnerName }, audit) => {
      const name: Field = ['partner', partnerName];
      if (!hasCallback) {
        const store = new PartnerStore(database);
        return [name, rateField(await store.setRateLimits(partnerId, limits, audit))];
      }
      const change = { options, credential, keyRing, partnerName };
      const set = await new CallbackStore(database).change(
        partnerId,
        (before) => mergeCallback(before, change),
        { limits: hasLimits ? limits : undefined, audit },
      );
      terminal.err(privateNote(set.callback) + notLiveNote(set.callback));
      return [
        name,
        ...callbackFields(set.callback),
        ...(set.limits ? [rateField(set.limits)] : []),
      ];
    }),
  );
}
