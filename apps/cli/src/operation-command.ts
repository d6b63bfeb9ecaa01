/** Makes the command of an operation from its fields. */
import { type Argument, InvalidArgumentError, type Option } from 'commander';
import { type SetRegistry, type SettingsClass } from '#libs/config';
import { type Database } from '#libs/db';
import { PermanentError } from '#libs/domain';
import {
  accepts,
  evidenceKeys,
  expectedOf,
  type FieldsClass,
  fieldsOf,
  type FieldSpec,
  NONE,
  type Operation,
  type OperationContext,
  type OperationSpec,
  type OperationType,
  optionAttribute,
  optionName,
  outcomeOf,
  prepared,
  type ResultOf,
} from '#libs/operations';
import { KeyRing } from '#libs/signing';
import {
  AdoptSettings,
  ConsoleLinkSettings,
  OperatorSettings,
  PartnerSettings,
  placeOf,
  RegistrySettings,
  StakeSetSettings,
} from './cli.env.js';
import { type Call, command, type CommandSpec, type Terminal } from './command.js';
import { argument, AS, JSON_LINE, ON_STAKE_SET, option, YES } from './options.js';
import { progressOf } from './output/progress.js';
import { readSecret } from './partner/credential.js';

export const PARTNER = argument('<name>', 'name or id of the partner');

/** Argument of a command on one partner. */
export interface PartnerArgument {
  readonly name: string;
}

type Given = Readonly<Record<string, unknown>>;

/** What a command has besides the fields of its operation. */
interface Additions<T extends Operation> {
  readonly note?: string;
  /** What is printed names the partner. */
  readonly namesPartner?: true;
  /** The result can be printed as JSON. */
  readonly hasJson?: true;
  readonly options?: readonly Option[];
  /** Shows the operator what is stored, and returns the values that follow from it; undefined: there is nothing to do. */
  readonly prepare?: (call: Call, context: OperationContext) => Promise<Partial<T> | undefined>;
  /** Completes the values of the fields from these options. */
  readonly amend?: (values: Partial<T>, given: Given) => Partial<T>;
  /** Tells what was done. Default: the outcome of the operation, in a sentence. */
  readonly print?: (call: Call, result: ResultOf<T>, operation: T) => void;
}

export function commandOf<T extends Operation>(
  type: OperationType<T>,
  additions: Additions<T> = {},
): CommandSpec {
  const { note, namesPartner, hasJson, options = [], amend, prepare } = additions;
  const { print = printOutcome } = additions;
  const { spec } = type;
  const isOnPartner = fieldsOf(type).has('partner');
  return command({
    name: spec.command.split(' ').at(-1) ?? '',
    description: spec.description,
    arguments: [...(isOnPartner ? [PARTNER] : []), ...argumentsOf(type)],
    options: [
      ...optionsOf(type),
      ...options,
      ...(hasJson === true ? [JSON_LINE] : []),
      ...(spec.isConfirmed === true ? [YES] : []),
      AS,
    ],
    ...(note !== undefined && { note }),
    settings: settingsOf(spec),
    async action(call: Call<OperationSettings>, given: Given & PartnerArgument) {
      const read = (await valuesOf(type, given, call.terminal)) as Partial<T>;
      const operation = prepared(type, amend === undefined ? read : amend(read, given));
      const context = contextOf(call);
      const perform = async (database: Database): Promise<void> => {
        const found = await prepare?.(call, { ...context, database });
        if (prepare !== undefined && found === undefined) return;
        Object.assign(operation, found);
        const confirm = spec.isConfirmed && ((text: string) => call.confirm(text));
        if (spec.consequence !== undefined) await confirm?.(spec.consequence);
        const asks = spec.consequence === undefined ? confirm : undefined;
        const result = await operation.perform({ ...context, database, confirm: asks });
        print(call, result as ResultOf<T>, operation);
      };
      await (isOnPartner
        ? call.withPartner(
            given.name,
            (database, { partnerId }) => {
              Object.assign(operation, { partner: partnerId });
              return perform(database);
            },
            { isTold: namesPartner !== true },
          )
        : call.withDatabase(perform));
    },
  });
}

function printOutcome<T extends Operation>(call: Call, result: ResultOf<T>, operation: T): void {
  call.terminal.out(`${outcomeOf<unknown>(operation, result)}\n`);
}

interface OperationSettings extends OperatorSettings {
  readonly secretsKey?: string;
  readonly evidenceKey?: string;
  readonly consoleOrigin?: string;
  readonly stakeSet?: string;
  readonly chainId?: number;
  readonly registryAddress?: readonly SetRegistry[];
}

const SETTINGS = {
  secretsKey: PartnerSettings,
  evidenceKey: AdoptSettings,
  consoleOrigin: ConsoleLinkSettings,
  stakeSet: StakeSetSettings,
  registry: RegistrySettings,
};

function settingsOf({ needs }: OperationSpec): SettingsClass<OperationSettings> {
  return needs === undefined ? OperatorSettings : SETTINGS[needs];
}

function contextOf(call: Call<OperationSettings>): Omit<OperationContext, 'database'> {
  const { secretsKey, evidenceKey, consoleOrigin, stakeSet } = call.settings;
  // An unusable key is refused before the database is opened.
  const keyRing = secretsKey === undefined ? undefined : KeyRing.parse(secretsKey);
  const evidence =
    evidenceKey === undefined ? undefined : evidenceKeys({ evidenceKey, secretsKey });
  return {
    clock: call.clock,
    ...(evidence !== undefined && { evidence: () => evidence }),
    actor: call.operator.actor,
    consoleOrigin,
    stakeSet,
    registry: () => placeOf(call.settings),
    onProgress: progressOf(call.terminal, call.clock),
    keyRing: () => {
      if (keyRing !== undefined) return keyRing;
      throw new PermanentError('SETTING_MISSING', 'This command does not read SECRETS_KEY.');
    },
  };
}

function argumentsOf(type: FieldsClass): Argument[] {
  return [...fieldsOf(type)].flatMap(([name, spec]) =>
    spec.argument === undefined
      ? []
      : [argument(spec.argument, spec.help, parserOf(type, name, spec))],
  );
}

function parserOf(type: FieldsClass, name: string, spec: FieldSpec) {
  return (text: string, before?: unknown): unknown => {
    const value = valueOf(spec, text, before);
    if (accepts(type, name, value)) return value;
    throw new InvalidArgumentError(refusalOf(spec, text));
  };
}

function optionsOf(type: FieldsClass): Option[] {
  return [...fieldsOf(type)].flatMap(([name, spec]): Option[] => {
    if (spec.type === 'group') return optionsOf(spec.of());
    if (spec.option === undefined) return [];
    if (spec.option === ON_STAKE_SET.flags) return [ON_STAKE_SET];
    const { option: flags, help } = spec;
    if (spec.type === 'flag') {
      const no = spec.helpOfNo;
      return [
        option(flags, help),
        ...(no === undefined ? [] : [option(flags.replace('--', '--no-'), no)]),
      ];
    }
    if (spec.type === 'secret') {
      const hint = spec.isName === true ? '' : '; - reads it from the standard input';
      const file = `${optionName(spec)}-file <path>`;
      return [
        option(flags, `${help}${hint}`),
        option(file, `the file that holds the ${placeholderOf(flags)}`),
      ];
    }
    const commas = 'isSome' in spec ? ', separated by commas' : '';
    const words = 'values' in spec ? `${commas}: ${spec.values.join(', ')}` : '';
    const form = spec.type === 'moment' ? `: ${expectedOf(spec)}` : '';
    const made = option(flags, `${help}${words}${form}`, parserOf(type, name, spec));
    if (spec.type === 'whole' && spec.default !== undefined) return [made.default(spec.default)];
    return [made.makeOptionMandatory(spec.required === true)];
  });
}

/** `key` of `--callback-key <key>`. */
function placeholderOf(flags: string): string {
  return flags.slice(flags.indexOf('<') + 1, -1);
}

/** @param before the words that were given before */
function valueOf(spec: FieldSpec, text: string, before: unknown): unknown {
  if (spec.type === 'whole') return /^\d+$/.test(text) ? Number(text) : text;
  if (spec.type !== 'words') return text;
  if (spec.isSome === true) return text.split(',').map((word) => word.trim());
  if (text === NONE) return [];
  return [...new Set([...(Array.isArray(before) ? (before as unknown[]) : []), text])];
}

function refusalOf(spec: FieldSpec, text: string): string {
  const fault = spec.type === 'text' ? spec.faultOf?.(text) : undefined;
  if (fault === undefined) return `Expected ${expectedOf(spec)}.`;
  return `The ${(spec.label ?? 'value').toLowerCase()} ${fault}.`;
}

/** The values of the fields, with secrets read from their sources. @throws OptionError, which contains no secret */
async function valuesOf(type: FieldsClass, given: Given, terminal: Terminal): Promise<object> {
  const values: Record<string, unknown> = {};
  for (const [name, spec] of fieldsOf(type)) {
    const value = await givenValue(spec, given, terminal);
    if (value !== undefined) values[name] = value;
  }
  return values;
}

async function givenValue(spec: FieldSpec, given: Given, terminal: Terminal): Promise<unknown> {
  if (spec.type === 'group') {
    const values = await valuesOf(spec.of(), given, terminal);
    return Object.keys(values).length === 0 ? undefined : values;
  }
  const attribute = optionAttribute(spec);
  const value = given[attribute];
  if (spec.type === 'flag') return value ?? (spec.required === true ? false : undefined);
  if (spec.type !== 'secret') return value;
  const file = given[`${attribute}File`] as string | undefined;
  const { isName } = spec;
  const source = { value: value as string | undefined, file, option: optionName(spec), isName };
  return readSecret(source, terminal);
}
