/** Decorators for the fields of answers: each one is a type of the contract, and takes the description of the field. */
import { type Type } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions, getSchemaPath } from '@nestjs/swagger';

export const ADDRESS = { type: 'string', pattern: '^0x[0-9a-f]{40}$' } as const;
export const UUID = { type: 'string', format: 'uuid' } as const;
export const TIME = { type: 'string', format: 'date-time' } as const;
const DECIMAL = { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]+)?$' } as const;
export const DAY = { type: 'string', format: 'date', description: 'A UTC day.' } as const;

export const Text = field({ type: 'string' });
export const TextOrNull = field({ type: 'string', nullable: true });
export const Time = field(TIME);
export const TimeOrNull = field({ ...TIME, nullable: true });
export const Day = field(DAY);
export const DayOrNull = field({ ...DAY, nullable: true });
export const Uuid = field(UUID);
export const UuidOrNull = field({ ...UUID, nullable: true });
export const Address = field(ADDRESS);
export const AddressOrNull = field({ ...ADDRESS, nullable: true });
/** An exact decimal number in tokens or US dollars, not in their smallest units. */
export const Decimal = field(DECIMAL);
export const DecimalOrNull = field({ ...DECIMAL, nullable: true });
/** A number as a text of digits, such as a block number or points. */
export const Digits = field({ type: 'string', pattern: '^[0-9]+$' });
export const DigitsOrNull = field({ type: 'string', pattern: '^[0-9]+$', nullable: true });

export const Flag = field({ type: 'boolean' });
export const FlagOrNull = field({ type: 'boolean', nullable: true });
export const Number = field({ type: 'number' });
export const NumberOrNull = field({ type: 'number', nullable: true });
export const Whole = field({ type: 'integer' });
export const WholeOrNull = field({ type: 'integer', nullable: true });
export const Count = field({ type: 'integer', minimum: 0 });
export const CountOrNull = field({ type: 'integer', minimum: 0, nullable: true });
export const Positive = field({ type: 'integer', minimum: 1 });
export const ChainId = Positive;
export const Json = field({ type: 'object', additionalProperties: true });
export const TextByName = field({ type: 'object', additionalProperties: { type: 'string' } });

export function Next(): PropertyDecorator {
  return TextOrNull('For `after`; null on the last page.');
}

export function OneOf(values: readonly string[], description?: string): PropertyDecorator {
  return field({ enum: [...values] })(description);
}

export function OneOfOrNull(values: readonly string[], description?: string): PropertyDecorator {
  return field({ type: 'string', enum: [...values], nullable: true })(description);
}

export function ListOf(type: Type | StringConstructor, description?: string): PropertyDecorator {
  return field({ type: [type] })(description);
}

export function ListOfWords(values: readonly string[]): PropertyDecorator {
  return field({ type: 'array', items: { type: 'string', enum: [...values] } })();
}

export function Nested(type: Type, description?: string): PropertyDecorator {
  return field({ type })(description);
}

/** The controller names the type in its `@ApiExtraModels`. */
export function NestedOrNull(type: Type, description?: string): PropertyDecorator {
  return field({ anyOf: [{ $ref: getSchemaPath(type) }, { type: 'null' }] })(description);
}

export function field(schema: ApiPropertyOptions): (description?: string) => PropertyDecorator {
  return (description) =>
    ApiProperty({ ...schema, ...(description !== undefined && { description }) });
}
