import { Command, CommanderError } from 'commander';
import { environmentOrStack, type SettingsSource, STACK_FILE } from '#libs/config';
import { LowmarkError } from '#libs/domain';
import { type Clock, redact, systemClock, version } from '#libs/platform';
import { type CommandContext } from './command-context.js';
import { auditCommand } from './commands/audit.command.js';
import { doctorCommand } from './commands/doctor.command.js';
import { ledgerCommand } from './commands/ledger.command.js';
import { migrateCommand } from './commands/migrate.command.js';
import { partnerCommand } from './commands/partner.command.js';
import { planSyncCommand } from './commands/plan-sync.command.js';
import { priceCommand } from './commands/price.command.js';
import { reconciliationCommand } from './commands/reconciliation.command.js';
import { redemptionCommand } from './commands/redemption.command.js';
import { secretsCommand } from './commands/secrets.command.js';
import { signCommand } from './commands/sign.command.js';
import { type Terminal } from './commands/terminal.js';
import { isNotMigrated } from './not-migrated.js';

const HELP = `
Settings come from the environment; where it has no DATABASE_URL, from the stack
that \`npm start\` runs in this clone (${STACK_FILE}).`;

/** All commands. Nothing is read before one of them runs. */
export function createProgram(context: CommandContext): Command {
  const program = new Command('lowmark')
    .description('Commands for the operator of Lowmark')
    .version(version())
    .addHelpText('after', HELP);
  program.addCommand(doctorCommand(context));
  program.addCommand(planSyncCommand(context));
  program.addCommand(migrateCommand(context));
  program.addCommand(partnerCommand(context));
  program.addCommand(redemptionCommand(context));
  program.addCommand(reconciliationCommand(context));
  program.addCommand(priceCommand(context));
  program.addCommand(ledgerCommand(context));
  program.addCommand(auditCommand(context));
  program.addCommand(secretsCommand(context));
  program.addCommand(signCommand(context));
  return program;
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
  const program = createProgram({ source, terminal, clock });
  direct(program, terminal);
  try {
    await program.parseAsync(argv, { from: 'user' });
    return 0;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    terminal.err(`${explain(error)}\n`);
    return 1;
  }
}

/** Makes a command and its children return to us with their errors, and write where we say. */
function direct(command: Command, terminal: Terminal): void {
  const writeErr = (text: string): void => {
    // Commander repeats the values that it refuses.
    terminal.err(redact(text));
  };
  command.exitOverride().configureOutput({ writeOut: terminal.out, writeErr });
  for (const child of command.commands) direct(child, terminal);
}

function explain(error: unknown): string {
  if (isNotMigrated(error)) {
    return 'The database has no schema yet: run `npm run migrate` first.';
  }
  if (error instanceof LowmarkError) return `${redact(error.message)} [${error.code}]`;
  return redact(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
