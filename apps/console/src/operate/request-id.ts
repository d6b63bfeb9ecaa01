/**
 * Idempotent creation: the page names each request by a UUID, and the id of the created row is derived from this name.
 */
import { createHash } from 'node:crypto';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsUUID } from 'class-validator';
import { type CredentialId, type PartnerId } from '#libs/domain';
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

/** The id of the partner that a request creates: always the same for the same person and name. */
export function createdPartnerId(operator: ConsoleOperator, request: string): PartnerId {
  return createdId(operator, request) as PartnerId;
}

/** The id of the credential that a request adds to a partner: always the same for the same person and name. */
export function createdCredentialId(
  operator: ConsoleOperator,
  partner: PartnerId,
  request: string,
): CredentialId {
  return createdId(operator, `${partner} ${request}`) as CredentialId;
}

function createdId({ subject }: ConsoleOperator, request: string): string {
  const named = `${subject}\n${request.toLowerCase()}`;
  const digest = createHash('sha256').update(named).digest().subarray(0, 16);
  // A UUID of version 8 (RFC 9562), whose other bits are free to choose.
  digest.writeUInt8((digest.readUInt8(6) & 0x0f) | 0x80, 6);
  digest.writeUInt8((digest.readUInt8(8) & 0x3f) | 0x80, 8);
  return digest.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
