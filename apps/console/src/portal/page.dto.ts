import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { IsMoment } from '../http/moment.js';

export const TIME = { type: 'string', format: 'date-time' } as const;
export const MAYBE_TIME = { type: String, format: 'date-time', nullable: true } as const;
export const MAYBE_TEXT = { type: String, nullable: true } as const;
export const UUID_PATTERN = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
export const UUID = { type: 'string', format: 'uuid' } as const;
/** Of a list whose rows have UUIDs. */
export const BEFORE = {
  type: 'string',
  pattern: UUID_PATTERN.source,
  description: 'See `next`.',
} as const;
export const BEFORE_FAULT = { message: '$property must be `next` of the page before.' };
export const ID_PATTERN = /^[1-9]\d{0,17}$/;
export const WALLET_PATTERN = /^0x[0-9a-fA-F]{40}$/;
const WALLET = { message: '$property must be 0x and 40 hex digits.' };

/** Rows of a page. */
export const PAGE_SIZE = 50;

/** A time, its end not included. */
export class TimeFilter {
  @ApiPropertyOptional(TIME)
  @IsOptional()
  @IsMoment()
  readonly since?: string;

  @ApiPropertyOptional({ ...TIME, description: 'Not included.' })
  @IsOptional()
  @IsMoment()
  readonly until?: string;
}

/** A time, and a wallet. */
export class WalletFilter extends TimeFilter {
  @ApiPropertyOptional({ type: 'string', pattern: WALLET_PATTERN.source })
  @IsOptional()
  @Matches(WALLET_PATTERN, WALLET)
  readonly wallet?: string;
}

export function timesOf({ since, until }: TimeFilter): { since?: Date; until?: Date } {
  return {
    ...(since !== undefined && { since: new Date(since) }),
    ...(until !== undefined && { until: new Date(until) }),
  };
}

export function text(moment: Date): string;
export function text(moment: Date | null): string | null;
export function text(moment: Date | null): string | null {
  return moment === null ? null : moment.toISOString();
}
