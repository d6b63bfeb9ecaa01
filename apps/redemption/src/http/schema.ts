import { type ApiPropertyOptions } from '@nestjs/swagger';

export const NUMBER = { type: 'number', minimum: 0 } as const;
export const COUNT = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER } as const;
export const TIME = { type: 'string', format: 'date-time' } as const;
export const UUID = {
  type: 'string',
  pattern: '^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$',
} as const;
export const ADDRESS = { type: 'string', pattern: '^0x[0-9a-f]{40}$' } as const;
export const DIGITS = { type: 'string', pattern: '^[0-9]+$' } as const;
export const HEX = { type: 'string', pattern: '^0x[0-9a-f]+$' } as const;
export const PARTNER_NAME = {
  type: 'object',
  properties: { id: UUID, name: { type: 'string' } },
  required: ['id', 'name'],
  selfRequired: true,
} satisfies ApiPropertyOptions;
