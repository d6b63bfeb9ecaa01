import { Command } from 'commander';
import { readSettings } from '#libs/config';
import { migrate } from '#libs/db';
import { MigrateSettings } from '../cli.env.js';
import { type CommandContext } from '../command-context.js';

/** `migrate`: brings the schema up to date. */
export function migrateCommand({ source, terminal }: CommandContext): Command {
  return new Command('migrate')
    .description('bring the database schema up to date; safe to run twice and from two places')
    .action(async () => {
      const settings = readSettings(MigrateSettings, source());
      const applied = await migrate(settings.databaseUrl);
      terminal.out(
        applied.length === 0
          ? 'The schema is up to date.\n'
          : `Applied ${applied.length}: ${applied.join(', ')}\n`,
      );
    });
}
