import { Injectable, type PipeTransform } from '@nestjs/common';
import { parseUuidV7, type UuidV7 } from '#libs/domain';
import { UserError } from '../http/user.error.js';

/** Which part of a list is asked for. */
export interface Page {
  /** 1 to 100. */
  readonly limit: number;
  /** The last id of the page before. */
  readonly before?: UuidV7;
}

const DEFAULT_LIMIT = 20;
const LIMIT = /^(?:[1-9]\d?|100)$/;

/** A parameter that comes twice is an array and so refused; those not known are ignored. */
@Injectable()
export class PagePipe implements PipeTransform<Record<string, unknown>, Page> {
  transform({ limit, before }: Record<string, unknown>): Page {
    return {
      limit: limitOf(limit),
      ...(before !== undefined && { before: beforeOf(before) }),
    };
  }
}

function limitOf(value: unknown): number {
  if (value === undefined) return DEFAULT_LIMIT;
  if (typeof value === 'string' && LIMIT.test(value)) return Number(value);
  throw UserError.badRequest('limit', 'limit must be a whole number from 1 to 100, given once.');
}

function beforeOf(value: unknown): UuidV7 {
  const id = typeof value === 'string' ? parseUuidV7(value) : undefined;
  if (id !== undefined) return id;
  throw UserError.badRequest('before', 'before must be the id of a redemption, given once.');
}
