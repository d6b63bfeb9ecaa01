/** A stand-in for `docker …` as the pages and ./lowmark use it, checked against docker-compose.yml. */
import { existsSync } from 'node:fs';
import { dump } from 'js-yaml';
import { type Answer, type Machine } from './machine.js';
import { plainDocker } from './plain-docker.js';

/** Options of `docker compose` and of its commands that take a value. */
const WITH_WORD = [
  ...['--ansi', '--progress', '--env-file', '--project-name', '--profile'],
  ...[
    '--entrypoint',
    '--scale',
    '--since',
    '--exit-code-from',
    '--signal',
    '--tail',
    '--timeout',
    '-e',
    '-u',
  ],
];

interface Parsed {
  readonly options: Readonly<Record<string, string>>;
  readonly rest: readonly string[];
}

export async function composeCommand(
  machine: Machine,
  words: readonly string[],
  input: string,
): Promise<Answer> {
  if (words[0] !== 'compose') return plainDocker(machine, words);
  const before = parse(words.slice(1));
  const [verb = '', ...more] = before.rest;
  const { options, rest } = parse(more);
  const { containers } = machine;
  const profile = before.options['--profile'];
  if (profile !== undefined) containers.requireProfile(profile);
  switch (verb) {
    case 'config':
      return { out: '--services' in options ? listed(containers.names) : dump(containers.config) };
    case 'exec':
    case 'run':
      return runIn(machine, { verb, options, rest }, input);
    case 'up':
      containers.requireServices(rest);
      return up(machine, options, rest);
    case 'stop':
      containers.requireServices(rest);
      if (rest.length === 0 || rest.includes('indexer')) await containers.stopIndexer();
      return machine.checkOnly('docker compose stop');
    case 'ps':
      containers.requireServices(rest);
      return '--quiet' in options
        ? { out: listed(containers.replicas(rest[0] ?? '')) }
        : machine.checkOnly('docker compose ps');
    case 'rm':
      // No container has ended, so there is nothing to remove.
      return {};
    case 'kill':
    case 'build':
    case 'down':
    case 'logs':
    case 'restart':
      containers.requireServices(rest);
      return machine.checkOnly(`docker compose ${verb}`);
    default:
      throw new Error(`No stand-in knows: docker ${words.join(' ')}`);
  }
}

async function runIn(
  machine: Machine,
  { verb, options, rest }: Parsed & { readonly verb: 'exec' | 'run' },
  input: string,
): Promise<Answer> {
  const { containers } = machine;
  const [service = '', ...command] = rest;
  containers.requireServices([service]);
  // The proxy has loaded all existing certificates at its start.
  if (service === 'proxy' && command.includes('has-new-tls')) return { code: 1 };
  if (service === 'proxy') return { out: containers.proxyStatus };
  if (service === 'backups') {
    const script = (command[0] ?? '').replace('/usr/local/lib/lowmark/', 'deploy/pgbackrest/');
    if (!existsSync(script)) throw new Error(`There is no ${script}`);
    return machine.checkOnly('docker compose exec backups');
  }
  if (command.at(-1) === 'database_url') {
    // The URL in the file where PostgreSQL is a container.
    return { out: 'postgresql://lowmark:…@postgres:5432/lowmark\n' };
  }
  const [name, value] = (options['-e'] ?? '').split('=');
  const added = name ? { [name]: value ?? '' } : {};
  const called =
    verb === 'exec' ? command : containers.called(service, command, options['--entrypoint']);
  return machine.inContainer(service, called, { input, added });
}

async function up(
  machine: Machine,
  options: Parsed['options'],
  rest: readonly string[],
): Promise<Answer> {
  const { containers } = machine;
  const oneShot = options['--exit-code-from'];
  if (oneShot !== undefined) {
    return machine.inContainer(oneShot, containers.called(oneShot, []), { input: '' });
  }
  const [scaled = '', count] = (options['--scale'] ?? '').split('=');
  for (const service of rest) containers.scale(service, service === scaled ? Number(count) : 0);
  const isAll = rest.length === 0;
  const migrated = isAll
    ? await machine.inContainer('migrate', containers.called('migrate', []), { input: '' })
    : {};
  if ((migrated.code ?? 0) === 0 && (isAll || rest.includes('indexer')))
    await containers.startIndexer();
  return { ...machine.checkOnly('docker compose up'), ...migrated };
}

function listed(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}

/** Parses options up to the first word that is not an option. */
function parse(words: readonly string[]): Parsed {
  const options: Record<string, string> = {};
  let at = 0;
  for (; words[at]?.startsWith('-') === true; at++) {
    const name = words[at] ?? '';
    options[name] = WITH_WORD.includes(name) ? (words[++at] ?? '') : '';
  }
  return { options, rest: words.slice(at) };
}
