/** JSON Schema of what several bodies of the operators' pages hold, and the checks of what several requests have. */
import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { STAKE_SET_RULE } from '#libs/domain';

export const TEXT = { type: 'string' } as const;
export const TEXT_OR_NULL = { type: String, nullable: true } as const;
export const TIME = { type: 'string', format: 'date-time' } as const;
export const TIME_OR_NULL = { type: String, format: 'date-time', nullable: true } as const;
export const DAY = { type: 'string', format: 'date', description: 'A UTC day.' } as const;
export const COUNT = { type: 'integer', minimum: 0 } as const;
export const COUNT_OR_NULL = { type: 'integer', minimum: 0, nullable: true } as const;
export const SECONDS_OR_NULL = { type: 'number', nullable: true } as const;
export const ADDRESS = { type: 'string', pattern: '^0x[0-9a-f]{40}$' } as const;
/** Exact, and whole units: of tokens, of US dollars. */
export const DECIMAL = { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]+)?$' } as const;
export const DECIMAL_OR_NULL = {
  type: String,
  pattern: '^-?[0-9]+(\\.[0-9]+)?$',
  nullable: true,
} as const;
export const BLOCK = { type: 'string', pattern: '^[0-9]+$' } as const;
export const BLOCK_OR_NULL = { type: String, pattern: '^[0-9]+$', nullable: true } as const;
export const NEXT = {
  type: String,
  nullable: true,
  description: 'For `after`; null on the last page.',
} as const;

/** Rows of a page. */
export const PAGE_SIZE = 50;

/** The stake set that a request is about; the default one where it names none. */
export function StakeSetParameter(): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ type: 'string', description: 'Default: `default`.' }),
    IsOptional(),
    Matches(/^[a-z][a-z0-9]{0,30}$/, {
      message: `$property must be ${STAKE_SET_RULE}, given once.`,
    }),
  );
}
