import { type Command, CommanderError } from 'commander';
import { environmentOrStack, type SettingsSource, STACK_FILE } from '#libs/config';
import { isNotMigrated } from '#libs/db';
import { LowmarkError } from '#libs/domain';
import { type Clock, redact, systemClock, version } from '#libs/platform';
import { type CommandContext, commanderOf, type Terminal } from './command.js';
import { auditCommand } from './commands/audit.command.js';
import { consoleCommands } from './commands/console.command.js';
import { doctorCommand } from './commands/doctor.command.js';
import { indexCommands } from './commands/index.command.js';
import { ledgerCommands } from './commands/ledger.command.js';
import { migrateCommand } from './commands/migrate.command.js';
import { partnerCommands } from './commands/partner.command.js';
import { priceCommands } from './commands/price.command.js';
import { reconciliationCommands } from './commands/reconciliation.command.js';
import { redemptionCommands } from './commands/redemption.command.js';
import { registryCommands } from './commands/registry.command.js';
import { secretsCommands } from './commands/secrets.command.js';
import { signCommand } from './commands/sign.command.js';

const LOWMARK = {
  name: 'lowmark',
  description: 'Commands for the operator of Lowmark',
  commands: [
    doctorCommand,
    migrateCommand,
    partnerCommands,
    consoleCommands,
    redemptionCommands,
    reconciliationCommands,
    priceCommands,
    ledgerCommands,
    auditCommand,
    indexCommands,
    registryCommands,
    secretsCommands,
    signCommand,
  ],
};
const NOTE = `
Settings come from the environment; where it has no DATABASE_URL, from the stack
that \`npm start\` runs in this clone (${STACK_FILE}).`;

/** All commands. No setting is read before a command runs. */
export function createProgram(context: CommandContext): Command {
  return commanderOf(LOWMARK, context).version(version()).addHelpText('after', NOTE);
}

/**
 * Runs one command line, without the names of program and script.
 * @returns the exit code: 0, or 1 after an explanation on `terminal.err`
 */
export async function runCli(
  argv: readonly string[],
  terminal: Terminal,
  source: () => SettingsSource = environmentOrStack,
  clock: Clock = systemClock,
): Promise<number> {
  try {
    await createProgram({ source, terminal, clock }).parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    terminal.err(`${explain(error)}\n`);
    return 1;
  }
}

function explain(error: unknown): string {
  if (isNotMigrated(error)) {
    return 'The database has no schema yet: run `npm run migrate` first.';
  }
  if (error instanceof LowmarkError) return `${redact(error.message)} [${error.code}]`;
  return redact(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
