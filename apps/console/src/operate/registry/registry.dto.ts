import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { type PublicationLine, type RegistryStatus } from '#libs/operations';
import { ADDRESS, COUNT, DAY, TEXT, TEXT_OR_NULL, TIME_OR_NULL } from '../schema.js';

const KINDS = ['day', 'period'] as const;
const STATUSES = ['due', 'sent', 'mined', 'final', 'refused'] as const;
const DAY_OR_NULL = { ...DAY, type: String, nullable: true } as const;

@ApiSchema({ name: 'Publication' })
export class PublicationBody {
  @ApiProperty(DAY)
  readonly firstDay!: string;

  @ApiProperty(DAY)
  readonly lastDay!: string;

  @ApiProperty({ enum: KINDS })
  readonly kind!: PublicationLine['kind'];

  @ApiProperty({ enum: STATUSES })
  readonly status!: PublicationLine['status'];

  @ApiProperty(TEXT)
  readonly root!: string;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'What was signed for it last.' })
  readonly transactionHash!: string | null;

  @ApiProperty({ ...TEXT_OR_NULL, description: 'Why it is refused.' })
  readonly reason!: string | null;

  @ApiProperty({ type: 'boolean', description: 'A person has looked into it.' })
  readonly acknowledged!: boolean;
}

@ApiSchema({ name: 'RegistryStatus', description: 'As `registry status` has it.' })
export class RegistryStatusBody {
  @ApiProperty({ type: 'integer', minimum: 1 })
  readonly chainId!: number;

  @ApiProperty({ ...COUNT, description: 'Due, or signed and in no block.' })
  readonly waiting!: number;

  @ApiProperty({ ...TIME_OR_NULL, description: 'Since when the oldest that is not final is due.' })
  readonly waitingSince!: string | null;

  @ApiProperty({ ...COUNT, description: 'In a block that is not final.' })
  readonly mined!: number;

  @ApiProperty(COUNT)
  readonly final!: number;

  @ApiProperty({ ...DAY_OR_NULL, description: 'The last day that a final block holds.' })
  readonly lastDay!: string | null;

  @ApiProperty({ ...COUNT, description: 'Another root is on chain; not acknowledged.' })
  readonly different!: number;

  @ApiProperty({ ...COUNT, description: 'Sealed anew after it was on chain; likewise.' })
  readonly revised!: number;

  @ApiProperty({ type: [String], description: 'The first days of those, a hundred at most.' })
  readonly revisedDays!: readonly string[];

  @ApiProperty({ type: [PublicationBody], description: 'The newest first.' })
  readonly publications!: readonly PublicationBody[];
}

@ApiSchema({ name: 'RegistryOfSet' })
export class RegistryOfSetBody {
  @ApiProperty(TEXT)
  readonly stakeSet!: string;

  @ApiProperty({
    ...ADDRESS,
    type: String,
    nullable: true,
    description: 'By REGISTRY_ADDRESS; null: it names none.',
  })
  readonly registry!: string | null;

  @ApiProperty({
    anyOf: [{ $ref: '#/components/schemas/RegistryStatus' }, { type: 'null' }],
    description: 'Null without a registry, and before there is an index.',
  })
  readonly status!: RegistryStatusBody | null;
}

@ApiSchema({ name: 'Registries' })
export class RegistriesBody {
  @ApiProperty({ type: [RegistryOfSetBody] })
  readonly registries!: RegistryOfSetBody[];
}

export function statusBody(found: RegistryStatus): RegistryStatusBody {
  const { chainId, waiting, mined, final, lastDay, different, revised, revisedDays } = found;
  return {
    ...{ chainId, waiting, mined, final, lastDay, different, revised, revisedDays },
    waitingSince: found.waitingSince?.toISOString() ?? null,
    publications: found.publications.map(publicationBody),
  };
}

function publicationBody(line: PublicationLine): PublicationBody {
  const { firstDay, lastDay, kind, status, root, transactionHash, reason, acknowledged } = line;
  return { firstDay, lastDay, kind, status, root, transactionHash, reason, acknowledged };
}
