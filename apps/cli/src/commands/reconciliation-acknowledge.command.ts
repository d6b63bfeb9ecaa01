import { Command, InvalidArgumentError } from 'commander';
import { readSettings } from '#libs/config';
import { ClaimStore } from '#libs/db';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf, actorOption } from '../operator/actor.js';
import { audited } from '../operator/audited.js';
import { auditedText } from '../operator/audited-text.js';
import { withDatabase } from '../with-database.js';

const COMMAND = 'reconciliation acknowledge';
const ID = /^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|0x[0-9a-f]{64})$/i;
const LONGEST_NOTE = 255;

interface Options {
  readonly note: string;
  readonly as?: string;
}

/** `reconciliation acknowledge`: somebody has looked into a claim, and it is no alert any more. */
export function reconciliationAcknowledgeCommand(context: CommandContext): Command {
  const { source, terminal, clock } = context;
  return new Command('acknowledge')
    .description('take a claim that you have explained out of the alerts; it stays in the list')
    .argument('<id>', 'as `reconciliation list` has it', claimId)
    .requiredOption('--note <text>', 'what it was, for whoever comes after you', noteText)
    .addOption(actorOption())
    .action(async (id: string, { note, as }: Options) => {
      const settings = readSettings(OperatorSettings, source());
      const actor = actorOf(as === undefined ? {} : { as });
      await withDatabase(settings.databaseUrl, (database) =>
        audited(database, { actor, command: COMMAND, arguments: { id, note } }, {}, () =>
          new ClaimStore(database).acknowledge({
            id,
            note,
            actor,
            command: COMMAND,
            atMs: clock.nowMs(),
          }),
        ),
      );
      terminal.out(
        `Acknowledged. The alert ends with the next reconciliation, which the service makes within the hour.\n`,
      );
    });
}

function claimId(text: string): string {
  if (!ID.test(text)) {
    throw new InvalidArgumentError('Expected the id of a redemption, or 0x and 64 hex digits.');
  }
  return text.toLowerCase();
}

function noteText(text: string): string {
  const note = auditedText(text.trim());
  if (note === '' || Array.from(text.trim()).length > LONGEST_NOTE) {
    throw new InvalidArgumentError(`Expected 1 to ${LONGEST_NOTE} characters.`);
  }
  return note;
}
