/** Decorators for fields of requests. Each sets a rule, the message of its refusal, and the schema in the contract. */
import { applyDecorators } from '@nestjs/common';
import { ApiProperty, type ApiPropertyOptions, ApiPropertyOptional } from '@nestjs/swagger';
import { type ClassConstructor, Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';
import { Field } from '#libs/openapi';
import { isMoment } from '#libs/operations';
import { MayBeAbsent } from '#libs/service';

export const UUID_PATTERN = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/;

/** The id of a row in paths, as decimal digits. */
export const NUMBER_PATTERN = /^[1-9]\d{0,17}$/;
export const NUMBER_SCHEMA = { type: 'string', pattern: NUMBER_PATTERN.source } as const;
const WALLET_PATTERN = /^0x[0-9a-fA-F]{40}$/;

type Schema = ApiPropertyOptions;

/** Marks a field as optional; null is refused. Stands above the rule of the field. */
export function Optional(): PropertyDecorator {
  return applyDecorators(ApiPropertyOptional(), MayBeAbsent());
}

/**
 * @param must completes the refusal "$property must …"
 * @param schema the contract shows a pattern only where `schema` has one
 */
export function Matching(pattern: RegExp, must: string, schema?: Schema): PropertyDecorator {
  return applyDecorators(text(schema), Matches(pattern, refusal(must)));
}

/** @param most maximum length in characters. @param schema the contract shows the length only where `schema` has it */
export function TextUpTo(most: number, schema?: Schema, must = 'be a text'): PropertyDecorator {
  return applyDecorators(
    text(schema),
    IsString(refusal(must)),
    MaxLength(most, { message: '$property is too long.' }),
  );
}

export function OneOf(values: readonly string[], must: string, schema?: Schema): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ enum: [...values], ...schema }),
    IsIn(values, refusal(must)),
  );
}

export function Flag(description?: string): PropertyDecorator {
  return applyDecorators(
    ApiProperty({ type: 'boolean', ...(description !== undefined && { description }) }),
    IsBoolean(refusal('be true or false')),
  );
}

export function Moment(description?: string): PropertyDecorator {
  return applyDecorators(
    text({ ...Field.TIME, ...(description !== undefined && { description }) }),
    ValidateBy({
      name: 'isMoment',
      validator: {
        validate: isMoment,
        defaultMessage: () => '$property must be a moment such as 2026-11-23T12:00:00Z.',
      },
    }),
  );
}

export function Uuid(schema?: Schema): PropertyDecorator {
  return Matching(UUID_PATTERN, 'be an id', { format: 'uuid', ...schema });
}

export function Wallet(description?: string): PropertyDecorator {
  return Matching(WALLET_PATTERN, 'be 0x and 40 hex digits', {
    pattern: WALLET_PATTERN.source,
    ...(description !== undefined && { description }),
  });
}

export function Whole(
  { minimum, maximum }: { readonly minimum: number; readonly maximum: number },
  must: string,
  schema: Schema = { minimum, maximum },
): PropertyDecorator {
  const message = refusal(must);
  return applyDecorators(
    ApiProperty({ type: 'integer', ...schema }),
    IsInt(message),
    Min(minimum, message),
    Max(maximum, message),
  );
}

/** A field with a list of objects of a class. */
export function ListOf(
  classOf: () => ClassConstructor<object>,
  { most }: { readonly most: number },
): PropertyDecorator {
  return applyDecorators(
    ...nestedRules(classOf),
    ArrayMaxSize(most, { message: '$property has too many.' }),
    IsArray({ message: '$property must be a list.' }),
  );
}

/** `ValidateNested` alone lets a list pass, also one without any object in it. */
function nestedRules(classOf: () => ClassConstructor<object>): PropertyDecorator[] {
  const options = { each: true, message: '$property is not valid.' };
  return [ValidateNested(options), IsObject(options), Type(classOf)];
}

function text(schema?: Schema): PropertyDecorator {
  return ApiProperty({ type: 'string', ...schema });
}

function refusal(must: string): { readonly message: string } {
  return { message: `$property must ${must}.` };
}
