/** Commands as values: name, arguments, options and settings of a command, and its action. */
import { userInfo } from 'node:os';
import { type Argument, Command, CommanderError, type Option } from 'commander';
import { readSettings, sessionUrl, type SettingsClass, type SettingsSource } from '#libs/config';
import { createDatabase, type Database, type PartnerIdentity, StakeSetStore } from '#libs/db';
import { DEFAULT_STAKE_SET, PermanentError } from '#libs/domain';
import {
  type Operator,
  OPERATOR_NAME,
  operatorActor,
  partnerLabel,
  resolveAudited,
} from '#libs/operations';
import { type Clock, redact } from '#libs/platform';
import { KeyRing } from '#libs/signing';
import { LIST_MOST, ON_STAKE_SET } from './options.js';
import { jsonLine } from './output/text.js';

/** Ends a command with exit code 1, after the command has explained the failure. */
export class CommandFailed extends CommanderError {
  constructor() {
    super(1, 'lowmark.failed', 'The command has failed.');
  }
}

/** Input and output of a command: the standard streams in the program, memory in a test. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Asks the person at the terminal; absent without a terminal. */
  readonly ask?: (question: string) => Promise<string>;
  readonly input?: () => Promise<string>;
}

export interface CommandContext {
  readonly source: () => SettingsSource;
  readonly terminal: Terminal;
  readonly clock: Clock;
}

/** One command. `Given` is the type of its options, and of its arguments by name. */
export interface CommandSpec<Settings extends object = object, Given extends object = object> {
  readonly name: string;
  readonly description: string;
  readonly arguments?: readonly Argument[];
  readonly options?: readonly Option[];
  readonly note?: string;
  /** Refuses invalid combinations of options, before any setting is read. */
  check?(given: Given): void;
  /** Class of the settings, read and validated before the action. */
  readonly settings?: SettingsClass<Settings>;
  action(call: Call<Settings>, given: Given): Promise<void>;
}

export interface CommandGroup {
  readonly name: string;
  readonly description: string;
  readonly commands: readonly (CommandSpec | CommandGroup)[];
}

/** Returns `spec`; infers the types of the command's settings and options. */
export function command<Settings extends object, Given extends object>(
  spec: CommandSpec<Settings, Given>,
): CommandSpec {
  return spec;
}

/** Options that have the same meaning in every command. */
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
    /** Name of the command, such as `partner set`. */
    readonly command: string,
    readonly settings: Settings,
    private readonly given: CommonOptions,
  ) {
    this.terminal = context.terminal;
    this.clock = context.clock;
  }

  /** The source of settings that a command reads only when it needs them. */
  get source(): SettingsSource {
    return this.context.source();
  }

  /** The operator of this command, as the audit and the timeline record it. */
  get operator(): Operator {
    const { command } = this;
    return { actor: operatorActor(this.given.as ?? systemUser()), command };
  }

  /** @throws PermanentError where SECRETS_KEY is invalid */
  keyRing(this: { readonly settings: { readonly secretsKey: string } }): KeyRing {
    return KeyRing.parse(this.settings.secretsKey);
  }

  /** Opens the database during the work, in the schema of the stake set that the settings name, if any. */
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

  /**
   * Opens the database, resolves what a person typed for a partner, tells which partner that is, and then works on it.
   * @param options `isTold`: whether it tells, for a result that does not
   * @throws PartnerUnknownError, PartnerAmbiguousError
   */
  withPartner<T>(
    this: Call<{ readonly databaseUrl: string; readonly databaseDirectUrl?: string }>,
    reference: string,
    work: (database: Database, partner: PartnerIdentity) => Promise<T>,
    { isTold = true } = {},
  ): Promise<T> {
    return this.withDatabase(async (database) => {
      const partner = await resolveAudited(database, this.operator, reference);
      if (isTold) this.terminal.err(`Partner: ${partnerLabel(partner)}\n`);
      return work(database, partner);
    });
  }

  /** Asks a person to confirm an irreversible change, unless --yes is given. @throws PermanentError NOT_CONFIRMED */
  async confirm(consequence: string): Promise<void> {
    const { ask } = this.terminal;
    if (this.given.yes === true) return;
    if (ask === undefined) {
      throw notConfirmed(`${consequence} There is no terminal to confirm it on: add --yes.`);
    }
    const answer = await ask(`${consequence}\nType yes to go on: `);
    if (answer.trim().toLowerCase() !== 'yes') {
      throw notConfirmed('Not confirmed: nothing was changed.');
    }
  }

  /** Prints the value as one line of JSON with --json, else the text. */
  print(value: unknown, text: string): void {
    this.terminal.out(this.given.json === true ? jsonLine(value) : text);
  }

  /** Prints a list like `print`; without --json also whether there may be more. @param count number of items found */
  printList(value: unknown, text: string, count: number): void {
    this.print(value, text);
    if (this.given.json !== true && count >= this.limit) {
      this.terminal.err('There may be more: --limit shows them.\n');
    }
  }

  /** Maximum length of a list: --limit, up to LIST_MOST. */
  get limit(): number {
    return Math.min(this.given.limit ?? LIST_MOST, LIST_MOST);
  }
}

/** Opens a database during the work. @param stakeSet stake set whose tables the work uses */
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

/** Converts a command to one of commander, which throws errors to the caller and writes texts to the terminal. */
export function commanderOf(
  spec: CommandSpec | CommandGroup,
  context: CommandContext,
  parents?: readonly string[],
): Command {
  const { out, err } = context.terminal;
  const command = new Command(spec.name)
    .description(spec.description)
    .exitOverride()
    // Redacted, because commander repeats the values that it refuses.
    .configureOutput({
      writeOut: out,
      writeErr: (text) => {
        err(redact(text));
      },
    });
  if ('commands' in spec) {
    // The name of a command does not contain the name of the program.
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

/** The source of settings, with the value of --stake-set as STAKE_SET. */
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
    // A container may run as a user id without a user name.
    if (!(error instanceof Error)) throw error;
    return `uid-${uid}`;
  }
}
