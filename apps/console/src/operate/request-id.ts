/** Requests that must not be done twice: the page names each, and what it creates has an id that follows from the name. */
import { createHash } from 'node:crypto';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsUUID } from 'class-validator';
import { type ConsoleOperator } from '../auth/audience.js';

export function RequestName(): PropertyDecorator {
  return applyDecorators(
    ApiProperty({
      type: 'string',
      format: 'uuid',
      description: 'Names the request: sent again, it creates nothing more.',
    }),
    IsUUID('all', { message: '$property must be a UUID.' }),
  );
}

/** The id of what a request creates: always the same of one person and name. */
export function createdId({ subject }: ConsoleOperator, request: string): string {
  const named = `${subject}\n${request.toLowerCase()}`;
  const digest = createHash('sha256').update(named).digest().subarray(0, 16);
  // RFC 9562, version 8: made as we like.
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
