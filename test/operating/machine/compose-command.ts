/** `docker …` as the pages write it, held against docker-compose.yml. */
import { type Answer, type Machine } from './machine.js';

/** Options of `docker compose VERB` that take a word. */
const WITH_WORD = ['--name', '--entrypoint', '--scale', '--since', '--profile', '-e', '-u'];

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
  if (verb === 'exec' || verb === 'run') {
    const [service = '', ...command] = rest;
    containers.requireServices([service]);
    const [name, value] = (options['-e'] ?? '').split('=');
    const added = name ? { [name]: value ?? '' } : {};
    const called =
      verb === 'exec' ? command : containers.called(service, command, options['--entrypoint']);
    if ('-d' in options) {
      await containers.startNamed(options['--name'] ?? '', service, called);
      return {};
    }
    return machine.inContainer(service, called, { input, added });
  }
  containers.requireServices(rest);
  const all = rest.length === 0;
  if (verb === 'stop') {
    if (all || rest.includes('indexer')) await containers.stopIndexer();
    return machine.checkOnly('docker compose stop');
  }
  if (verb === 'up') {
    const withMigration = all || !('--no-deps' in options || rest.join() === 'postgres');
    const migrated = withMigration
      ? await machine.inContainer('migrate', ['node', 'dist/apps/cli/src/main.js', 'migrate'], {
          input,
        })
      : {};
    if ((migrated.code ?? 0) === 0 && (all || rest.includes('indexer')))
      await containers.startIndexer();
    return { ...machine.checkOnly('docker compose up'), ...migrated };
  }
  if (
    verb === 'build' ||
    verb === 'down' ||
    verb === 'logs' ||
    verb === 'ps' ||
    verb === 'restart'
  ) {
    return machine.checkOnly(`docker compose ${verb}`);
  }
  throw new Error(`No stand-in knows: docker ${words.join(' ')}`);
}

async function plainDocker(machine: Machine, words: readonly string[]): Promise<Answer> {
  const { containers } = machine;
  const [verb = '', ...rest] = words;
  const last = rest.at(-1) ?? '';
  if (verb === 'tag') {
    containers.requireImage(rest[0] ?? '');
    return machine.checkOnly('docker tag');
  }
  if (verb === 'logs') {
    containers.named(last);
    return machine.checkOnly('docker logs');
  }
  if (verb === 'inspect') return { out: `${await containers.named(last).health()}\n` };
  if (verb === 'stop') {
    await containers.named(last).stop();
    return {};
  }
  if (verb === 'rm') {
    containers.remove(last);
    return {};
  }
  throw new Error(`No stand-in knows: docker ${words.join(' ')}`);
}

/** Up to the first word that is no option. */
function parse(words: readonly string[]): Parsed {
  const options: Record<string, string> = {};
  let at = 0;
  for (; words[at]?.startsWith('-') === true; at++) {
    const name = words[at] ?? '';
    options[name] = WITH_WORD.includes(name) ? (words[++at] ?? '') : '';
  }
  return { options, rest: words.slice(at) };
}
