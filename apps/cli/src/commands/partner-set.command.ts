import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { CallbackStore } from '#libs/db';
import { KeyRing } from '#libs/signing';
import {
  addCallbackOptions,
  type CallbackOptions,
  hasCallbackOptions,
  readCallbackCredential,
} from '../callback/callback-options.js';
import { auditedOptions, callbackFields, privateNote } from '../callback/callback-text.js';
import { mergeCallback } from '../callback/merge-callback.js';
import { PartnerSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { onPartner } from '../operator/on-partner.js';
import { OptionError } from '../option.error.js';
import { fieldLines } from '../output/fields.js';
import { withDatabase } from '../with-database.js';

type Options = CallbackOptions & { readonly as?: string };

/** `partner set`: how a partner is called and what may be redeemed with it; what is not given stays as it is. */
export function partnerSetCommand(context: CommandContext): Command {
  const command = new Command('set')
    .description('set how a partner is called and what may be redeemed with it')
    .argument('<name>', 'name or id of the partner')
    .addOption(actorOption());
  return addCallbackOptions(command).action(async (partner: string, options: Options) => {
    await setCallback(context, partner, options);
  });
}

async function setCallback(
  { source, terminal }: CommandContext,
  partner: string,
  options: Options,
): Promise<void> {
  if (!hasCallbackOptions(options)) {
    throw new OptionError('Nothing to set: `partner set --help` lists what can be.');
  }
  const settings = readSettings(PartnerSettings, source());
  const keyRing = KeyRing.parse(settings.secretsKey);
  const credential = await readCallbackCredential(options, terminal);
  const command = {
    command: 'partner set',
    arguments: auditedOptions(options, credential),
    actor: actorOf(options),
  };
  const callback = await withDatabase(settings.databaseUrl, (database) =>
    onPartner(database, partner, command, ({ partnerId }, audit) =>
      new CallbackStore(database).change(
        partnerId,
        (before, { partnerName }) =>
          mergeCallback(before, { options, credential, keyRing, partnerName }),
        audit,
      ),
    ),
  );
  terminal.out(fieldLines([['partner', callback.partnerName], ...callbackFields(callback)]));
  terminal.err(privateNote(callback));
}
