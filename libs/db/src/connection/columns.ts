/**
 * TypeORM settings of the entities: snake-case columns for camel-case properties, and conversions between column
 * values and domain values.
 */
import { DefaultNamingStrategy, type ValueTransformer } from 'typeorm';
import { type Decimal, parseDecimal } from '#libs/domain';
import { decimalText } from './rows.js';

export class SnakeCaseColumns extends DefaultNamingStrategy {
  override columnName(property: string, custom?: string): string {
    return custom ?? snakeCase(property);
  }

  override joinColumnName(relation: string, column: string): string {
    return snakeCase(`${relation}_${column}`);
  }
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Transformers for bigint and numeric columns, which the driver returns as text. */
export const BIGINT = transformer<bigint>(BigInt, String);
export const DECIMAL = transformer<Decimal>(parseDecimal, decimalText);

/** Leaves null and undefined as they are. */
function transformer<T>(from: (text: string) => T, to: (value: T) => string): ValueTransformer {
  return {
    from: (text: string | null) => (text === null ? null : from(text)),
    to: (value: T | null | undefined) => (value == null ? value : to(value)),
  };
}
