import { sessionUrl } from '#libs/config';
import {
  LedgerRestoreStore,
  letOlderStart,
  migrate,
  prepareLogins,
  requireLoginUrls,
  RestoreNotNotedError,
} from '#libs/db';
import { MigrateSettings } from '../cli.env.js';
import { command, type Terminal, withDatabase } from '../command.js';
import { option } from '../options.js';

interface Given {
  readonly letOlderStart?: readonly string[];
}

/** Updates the schema and creates the programs' users; or allows an older program to start with the newer schema. */
export const migrateCommand = command({
  name: 'migrate',
  description: 'bring the database schema up to date; safe to run twice and from two places',
  options: [
    option(
      '--let-older-start <migration...>',
      'migrate nothing: let programs start that do not know these migrations, as SCHEMA_NEWER names them',
    ),
  ],
  settings: MigrateSettings,
  async action({ settings, terminal }, { letOlderStart: named }: Given) {
    const databaseUrl = sessionUrl(settings);
    const { stakeSets = [], serviceDatabaseUrls: urls } = settings;
    if (named !== undefined) {
      const names = [...new Set(named.flatMap((text) => text.split(',')))].filter(Boolean);
      await letOlderStart(databaseUrl, names);
      terminal.out(
        `Programs that do not know ${names.join(', ')} may start, until \`migrate\` is run again.\n`,
      );
      return;
    }
    if (urls !== undefined) requireLoginUrls(databaseUrl, urls);
    const applied = await migrate(databaseUrl, { stakeSets });
    terminal.out(
      applied.length === 0
        ? 'The schema is up to date.\n'
        : `Applied ${applied.length}: ${applied.join(', ')}\n`,
    );
    await tellUnnotedRestore(databaseUrl, terminal);
    if (urls === undefined) return;
    const isPooled = settings.databaseDirectUrl !== undefined;
    const users = await prepareLogins(databaseUrl, urls, { isPooled });
    terminal.out(`Users with the rights of their programs: ${users.join(', ')}\n`);
  },
});

/** `./lowmark up` shows this output. */
async function tellUnnotedRestore(databaseUrl: string, terminal: Terminal): Promise<void> {
  const { unnoted } = await withDatabase(databaseUrl, (database) =>
    new LedgerRestoreStore(database).standing(),
  );
  if (unnoted !== undefined) terminal.out(`${new RestoreNotNotedError().message}\n`);
}
