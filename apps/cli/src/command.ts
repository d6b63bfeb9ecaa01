/** Commands as values: what each is called, takes and reads, and what it does. */
import { userInfo } from 'node:os';
import { type Argument, Command, CommanderError, type Option } from 'commander';
import { readSettings, sessionUrl, type SettingsClass, type SettingsSource } from '#libs/config';
import { createDatabase, type Database, StakeSetStore } from '#libs/db';
import { DEFAULT_STAKE_SET, PermanentError } from '#libs/domain';
import { type Operator, OPERATOR_NAME, operatorActor } from '#libs/operations';
import { type Clock, redact } from '#libs/platform';
import { KeyRing } from '#libs/signing';
import { LIST_MOST, ON_STAKE_SET } from './options.js';
import { jsonLine } from './output/text.js';

/** Ends a command with exit code 1 that has said what is wrong already. */
export class CommandFailed extends CommanderError {
  constructor() {
    super(1, 'lowmark.failed', 'The command has failed.');
  }
}

/** Where a command reads and writes; the standard streams in the program, memory in a test. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Puts a question to the person at the keyboard; absent where there is none. */
  readonly ask?: (question: string) => Promise<string>;
  /** All of the standard input. */
  readonly input?: () => Promise<string>;
}

export interface CommandContext {
  readonly source: () => SettingsSource;
  readonly terminal: Terminal;
  readonly clock: Clock;
}

/** One command. `Given` has its options, and its arguments by their names. */
export interface CommandSpec<Settings extends object = object, Given extends object = object> {
  readonly name: string;
  readonly description: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  /** Printed below the help. */
  readonly note?: string;
  /** Refuses options that do not fit together, before anything is read. */
  check?(given: Given): void;
  /** Read and validated before the action. */
  readonly settings?: SettingsClass<Settings>;
  action(call: Call<Settings>, given: Given): Promise<void>;
}

export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly (CommandSpec | CommandGroup)[];
}

/** For the types of a command's settings and options; the value itself is `spec`. */
export function command<Settings extends object, Given extends object>(
  spec: CommandSpec<Settings, Given>,
): CommandSpec {
  return spec;
}

/** The options that mean the same wherever they are. */
interface CommonOptions {
  readonly as?: string;
  readonly json?: true;
  readonly yes?: true;
  readonly limit?: number;
}

export class Call<Settings extends object = object> {
  readonly terminal: Terminal;
  readonly clock: Clock;

  constructor(
    private readonly context: CommandContext,
    /** `partner set` */
    readonly command: string,
    readonly settings: Settings,
    private readonly given: CommonOptions,
  ) {
    this.terminal = context.terminal;
    this.clock = context.clock;
  }

  /** For settings that are read only where they are needed. */
  get source(): SettingsSource {
    return this.context.source();
  }

  /** Who gives this command, as the audit and the timeline keep it. */
  get operator(): Operator {
    const { command } = this;
    return { actor: operatorActor(this.given.as ?? systemUser()), command };
  }

  /** @throws PermanentError where SECRETS_KEY is unusable */
  keyRing(this: { readonly settings: { readonly secretsKey: string } }): KeyRing {
    return KeyRing.parse(this.settings.secretsKey);
  }

  /** Opens the database for the length of the work: on the tables of a stake set where the settings name one. */
  withDatabase<T, Rest extends readonly unknown[]>(
    this: {
      readonly settings: {
        readonly databaseUrl: string;
        readonly databaseDirectUrl?: string;
        readonly stakeSet?: string;
      };
    },
    work: (database: Database, ...rest: Rest) => Promise<T>,
    ...rest: Rest
  ): Promise<T> {
    const { settings } = this;
    return withDatabase(
      sessionUrl(settings),
      (database) => work(database, ...rest),
      settings.stakeSet,
    );
  }

  /** Lets a person say yes to what cannot be taken back, unless --yes has. @throws PermanentError NOT_CONFIRMED */
  async confirm(consequence: string): Promise<void> {
    const { ask } = this.terminal;
    if (this.given.yes === true) return;
    if (ask === undefined) {
      throw notConfirmed(`${consequence} Nobody is there to confirm it: add --yes.`);
    }
    const answer = await ask(`${consequence}\nType yes to go on: `);
    if (answer.trim().toLowerCase() !== 'yes') {
      throw notConfirmed('Not confirmed: nothing was changed.');
    }
  }

  /** The value as one line of JSON with --json, else the text. */
  print(value: unknown, text: string): void {
    this.terminal.out(this.given.json === true ? jsonLine(value) : text);
  }

  /** A list in the same way, and without --json whether it may go on. @param count of what was found */
  printList(value: unknown, text: string, count: number): void {
    this.print(value, text);
    if (this.given.json !== true && count >= this.limit) {
      this.terminal.err('There may be more: --limit shows them.\n');
    }
  }

  /** The most that a list shows: as --limit says, within reason. */
  get limit(): number {
    return Math.min(this.given.limit ?? LIST_MOST, LIST_MOST);
  }
}

/** Opens a database for the length of the work. @param stakeSet whose tables the work means by those of the default set */
export async function withDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
  stakeSet = DEFAULT_STAKE_SET,
): Promise<T> {
  const database = await createDatabase({ url, applicationName: 'lowmark cli', poolSize: 1 });
  try {
    return await work(await new StakeSetStore(database).open(stakeSet));
  } finally {
    await database.close();
  }
}

/** For commander. Errors come back to the caller, and texts go to the terminal. */
export function commanderOf(
  spec: CommandSpec | CommandGroup,
  context: CommandContext,
  parents?: readonly string[],
): Command {
  const { out, err } = context.terminal;
  const command = new Command(spec.name)
    .description(spec.description)
    .exitOverride()
    // Commander repeats the values that it refuses.
    .configureOutput({
      writeOut: out,
      writeErr: (text) => {
        err(redact(text));
      },
    });
  if ('commands' in spec) {
    // The program itself is not in the name of a command.
    const path = parents === undefined ? [] : [...parents, spec.name];
    for (const child of spec.commands) command.addCommand(commanderOf(child, context, path));
    return command;
  }
  for (const argument of spec.arguments ?? []) command.addArgument(argument);
  for (const option of spec.options ?? []) command.addOption(option);
  if (spec.note !== undefined) command.addHelpText('after', spec.note);
  return command.action(async () => {
    const named = command.registeredArguments.map((argument, index): [string, unknown] => [
      argument.name(),
      command.processedArgs[index],
    ]);
    const given = { ...command.opts(), ...Object.fromEntries(named) };
    spec.check?.(given);
    const ofCall = { ...context, source: sourceFor(spec, given, context) };
    const settings = spec.settings ? readSettings(spec.settings, ofCall.source()) : {};
    const name = [...(parents ?? []), spec.name].join(' ');
    await spec.action(new Call(ofCall, name, settings, given), given);
  });
}

/** The settings, with that of the option which stands for one. */
function sourceFor(
  { options = [] }: CommandSpec,
  given: { readonly stakeSet?: string },
  { source }: CommandContext,
): CommandContext['source'] {
  const { stakeSet } = given;
  if (stakeSet === undefined || !options.includes(ON_STAKE_SET)) return source;
  return () => ({ ...source(), STAKE_SET: stakeSet });
}

function notConfirmed(message: string): PermanentError {
  return new PermanentError('NOT_CONFIRMED', message);
}

function systemUser(): string {
  const { uid } = process.getuid === undefined ? { uid: 0 } : { uid: process.getuid() };
  try {
    const { username } = userInfo();
    return OPERATOR_NAME.test(username) ? username : `uid-${uid}`;
  } catch (error) {
    // A container may run under a number that no user has.
    if (!(error instanceof Error)) throw error;
    return `uid-${uid}`;
  }
}
