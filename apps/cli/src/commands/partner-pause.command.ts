import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { CallbackStore } from '#libs/db';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { onPartner } from '../operator/on-partner.js';
import { printable } from '../output/printable.js';
import { withDatabase } from '../with-database.js';

const WORDS = {
  pause: {
    paused: true,
    description: 'take no new redemptions with a partner; those under way go on',
    done: 'takes no new redemptions; those under way go on.',
  },
  resume: {
    paused: false,
    description: 'take redemptions with a partner again',
    done: 'takes redemptions again.',
  },
} as const;

/** `partner pause` and `partner resume`: the kill switch. */
export function partnerPauseCommand(
  { source, terminal }: CommandContext,
  name: 'pause' | 'resume',
): Command {
  const { paused, description, done } = WORDS[name];
  return new Command(name)
    .description(description)
    .argument('<name>', 'name or id of the partner')
    .addOption(actorOption())
    .action(async (partner: string, options: { readonly as?: string }) => {
      const settings = readSettings(OperatorSettings, source());
      const command = { command: `partner ${name}`, actor: actorOf(options) };
      const { partnerName } = await withDatabase(settings.databaseUrl, (database) =>
        onPartner(database, partner, command, async (who, audit) => {
          await new CallbackStore(database).pause(who.partnerId, paused, audit);
          return who;
        }),
      );
      terminal.out(`${printable(partnerName)} ${done}\n`);
    });
}
