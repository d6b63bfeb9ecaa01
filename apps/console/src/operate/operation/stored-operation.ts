/** Operations as a request of two-person approval stores them: plain JSON, with the secrets sealed. */
import { plainToInstance } from 'class-transformer';
import { validateSync } from 'class-validator';
import {
  type FieldsClass,
  fieldsOf,
  type FieldSpec,
  isOfCommand,
  type Operation,
  type OperationType,
  specOf,
} from '#libs/operations';
import { HttpProblem } from '#libs/service';
import { type KeyRing } from '#libs/signing';
import { SEALED } from '../../approvals/approval.dto.js';

type Values = Readonly<Record<string, unknown>>;

/** The values of the fields, except those that only the request needs. Of each secret there is only that it was given. */
export function storedValues(operation: Operation, keyRing: () => KeyRing): Values {
  const { plain, secrets } = separated(operation, operation.constructor as OperationType);
  const names = Object.keys(secrets);
  if (names.length === 0) return plain;
  const sealed = keyRing().seal(JSON.stringify(secrets), contextOf(operation));
  return {
    ...plain,
    ...Object.fromEntries(names.map((name) => [`new${capitalised(name)}`, true])),
    [SEALED]: sealed.toString('base64'),
  };
}

/** The operation of `storedValues`, validated again. @throws HttpProblem 409, PermanentError */
export function restoredOperation<T extends Operation>(
  type: OperationType<T>,
  stored: Values,
  keyRing: () => KeyRing,
): T {
  const operation = plainToInstance(type, joined(type, stored, {}));
  const { [SEALED]: sealed } = stored;
  const secrets =
    typeof sealed === 'string'
      ? (JSON.parse(keyRing().open(Buffer.from(sealed, 'base64'), contextOf(operation))) as Values)
      : {};
  const whole = plainToInstance(type, joined(type, stored, secrets));
  if (validateSync(whole).length === 0) return whole;
  throw new HttpProblem(409, 'The stored request is not of the form that this console writes.');
}

interface Separated {
  readonly plain: Values;
  readonly secrets: Values;
}

function separated(values: object, type: FieldsClass): Separated {
  const plain: Record<string, unknown> = {};
  const secrets: Record<string, unknown> = {};
  for (const [name, spec] of fieldsOf(type)) {
    const value = (values as Values)[name];
    if (value === undefined) continue;
    if (spec.type === 'group') {
      const inner = separated(value as object, spec.of());
      plain[name] = inner.plain;
      Object.assign(secrets, inner.secrets);
    } else if (spec.type === 'secret') secrets[name] = value;
    else if (isStored(spec)) plain[name] = value;
  }
  return { plain, secrets };
}

function isStored(spec: FieldSpec): boolean {
  return spec.inPath === true || spec.isStored === true || isOfCommand(spec);
}

function joined(type: FieldsClass, plain: Values, secrets: Values): Values {
  const values: Record<string, unknown> = {};
  for (const [name, spec] of fieldsOf(type)) {
    const value = spec.type === 'secret' ? secrets[name] : plain[name];
    if (value === undefined) continue;
    values[name] = spec.type === 'group' ? joined(spec.of(), value as Values, secrets) : value;
  }
  return values;
}

/** Binds the secrets to the operation and its partner. */
function contextOf(operation: Operation): Uint8Array {
  const { partner = '' } = operation as { readonly partner?: string };
  return Buffer.from(`approval of ${specOf(operation).command}: ${partner}`);
}

function capitalised(name: string): string {
  return `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
}
