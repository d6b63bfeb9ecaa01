import { type Command } from 'commander';
import { readSettings } from '#libs/config';
import { type UuidV7 } from '#libs/domain';
import { OperatorSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';
import { actorOf } from '../operator/actor.js';
import { printable } from '../output/printable.js';
import { withDatabase } from '../with-database.js';
import { type Operated, operate, type Operation } from './operate.js';
import { waitsFor } from './waits-for.js';

/** Runs one operation on one redemption and says what it led to. */
export async function runOperation(
  { source, terminal, clock }: CommandContext,
  {
    command,
    id,
    as,
  }: { readonly command: Command; readonly id: UuidV7; readonly as?: string | undefined },
  operation: Pick<Operation, 'event' | 'seal' | 'confirm' | 'arguments'>,
): Promise<void> {
  const settings = readSettings(OperatorSettings, source());
  const { before, after } = await withDatabase(settings.databaseUrl, (database) =>
    operate(database, clock, {
      ...operation,
      id,
      command: `redemption ${command.name()}`,
      actor: actorOf(as === undefined ? {} : { as }),
    }),
  );
  terminal.out(operatedText({ before, after }, clock.nowMs()));
}

function operatedText({ before, after }: Operated, nowMs: number): string {
  const moved =
    before.state === after.state ? `still ${after.state}` : `${before.state} -> ${after.state}`;
  return `Redemption ${after.id}: ${moved}.\nNext: ${printable(waitsFor({ redemption: after }, nowMs))}\n`;
}
