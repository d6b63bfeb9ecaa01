/**
 * Operations: what an operator can do, each a class with its fields, its rules, its handler and its audit row. The
 * command line, the console and its pages derive their options, routes and forms from it.
 */
import {
  type Database,
  decimalText,
  type EvidenceSeal,
  type OperatorRole,
  type RegistryPlace,
} from '#libs/db';
import { parseDecimal } from '#libs/domain';
import { type Clock } from '#libs/platform';
import { type KeyRing } from '#libs/signing';
import { auditedText, type Operator } from '../audit/audited.js';
import {
  type FieldsClass,
  fieldsOf,
  type FieldSpec,
  isOfCommand,
  NONE,
  optionAttribute,
} from './field.js';

export interface OperationSpec {
  /** The command, by which the audit log and two-person approval name the operation. */
  readonly command: string;
  /** Help of the command. */
  readonly description: string;
  /** What it leads to, for the operator to read before. */
  readonly consequence?: string;
  /** The role that it needs on the pages. Absent: it has no page. */
  readonly role?: OperatorRole;
  /** Needs a sign-in of the last five minutes on the pages. */
  readonly isFresh?: true;
  /** A second operator may have to decide; see `forSecondOperator`. */
  readonly mayNeedSecond?: true;
  /** The command asks for a yes before; without a `consequence` here the operation asks itself. */
  readonly isConfirmed?: true;
  /** What it takes from the settings of the program. */
  readonly needs?: 'secretsKey' | 'evidenceKey' | 'consoleOrigin' | 'stakeSet' | 'registry';
}

/** What an operation works with. */
export interface OperationContext {
  readonly database: Database;
  readonly clock: Clock;
  /** `operator:NAME` of the operator who asked for it. */
  readonly actor: string;
  /** `operator:NAME` of the second operator, if one approved it. */
  readonly approvedBy?: string | undefined;
  /** Subject of the operator on the pages. */
  readonly subject?: string | undefined;
  /** @throws if the program has no SECRETS_KEY */
  readonly keyRing: () => KeyRing;
  /**
   * Vouches for rows of redemptions.
   * @param command with its arguments, for the refusal. @throws if the program has no EVIDENCE_KEY
   */
  readonly evidence?: (command: string) => EvidenceSeal;
  /** Asks the operator before anything is written, if the consequence depends on what is stored. Throws to refuse. */
  readonly confirm?: ((consequence: string) => Promise<void>) | undefined;
  /** Origin at which browsers reach the console. */
  readonly consoleOrigin?: string | undefined;
  /** The stake set of the database. */
  readonly stakeSet?: string | undefined;
  /** @throws if the stake set has no registry */
  readonly registry?: () => RegistryPlace;
  /** Development only: URLs may be http or lead to private addresses. */
  readonly allowPrivate?: boolean | undefined;
  /** Told of the progress of a long operation, in a few words. */
  readonly onProgress?: (text: string) => void;
}

/** What a second operator decides on. */
export interface SecondOperatorRequest {
  /** What it means, as both operators read it. */
  readonly summary: string;
  /** In USD; null: it moves no value, so no second operator decides. Absent: it has no upper bound. */
  readonly worthUsd?: string | null;
  /** Kept and shown with the arguments, and obeyed nowhere. */
  readonly shown?: Readonly<Record<string, unknown>>;
}

export abstract class Operation<Result = unknown> {
  /** Carries it out, with its audit row. */
  abstract perform(context: OperationContext): Promise<Result>;

  /**
   * What a second operator has to decide on; undefined if none has to. Refuses at once what could not be done. Called
   * only if actions of unlimited worth need a second operator.
   */
  forSecondOperator?(context: OperationContext): Promise<SecondOperatorRequest | undefined>;

  /** What came of it, in a sentence. */
  outcomeOf?(result: Result): string;
}

export function outcomeOf<Result>(operation: Operation<Result>, result: Result): string {
  return operation.outcomeOf?.(result) ?? 'Done.';
}

export interface OperationType<T extends Operation = Operation> extends FieldsClass<T> {
  new (): T;
  readonly spec: OperationSpec;
}

export type ResultOf<T> = T extends Operation<infer Result> ? Result : never;

/** An operation with these values of its fields. */
export function prepared<T extends Operation>(type: OperationType<T>, values: Partial<T>): T {
  return Object.assign(new type(), values);
}

/** Who carries out the operation, for its audit row. */
export function operatorOf(
  operation: Operation,
  { actor, approvedBy }: OperationContext,
): Operator {
  return { actor, approvedBy, command: specOf(operation).command };
}

export function specOf(operation: Operation): OperationSpec {
  return (operation.constructor as OperationType).spec;
}

/**
 * The values of the fields as an audit row has them: under the names of their options, secrets only as `given`. Fields
 * without an option are left out.
 */
export function auditedFields(values: object, type?: FieldsClass): Record<string, unknown> {
  const audited: Record<string, unknown> = {};
  const given = values as Readonly<Record<string, unknown>>;
  for (const [name, spec] of fieldsOf(type ?? (values.constructor as FieldsClass))) {
    const value = given[name];
    if (value === undefined) continue;
    if (spec.type === 'group') Object.assign(audited, auditedFields(value as object, spec.of()));
    else if (isOfCommand(spec)) audited[optionAttribute(spec)] = auditedValue(spec, value);
  }
  return audited;
}

function auditedValue(spec: FieldSpec, value: unknown): unknown {
  if (spec.audited !== undefined) return spec.audited(String(value));
  if (spec.type === 'secret') return 'given';
  if (spec.type === 'decimal' && value !== NONE) return decimalText(parseDecimal(String(value)));
  return typeof value === 'string' ? auditedText(value) : value;
}
