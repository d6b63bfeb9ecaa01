import { Controller, Get } from '@nestjs/common';
import { ApiExtraModels, ApiSchema } from '@nestjs/swagger';
import { registryOf } from '#libs/config';
import { type Database, IndexStore } from '#libs/db';
import { Answers, Field, Operation } from '#libs/openapi';
import { type PublicationLine, registryStatus, type RegistryStatus } from '#libs/operations';
import { ForOperators } from '../../auth/audience.js';
import { ConsoleSettings } from '../../console.env.js';
import { PAGE_SIZE } from '../schema.js';
import { StakeSets } from '../stake-sets.js';

const STATUSES = ['due', 'sent', 'mined', 'final', 'refused'] as const;

@ApiSchema({ name: 'Publication' })
export class PublicationBody {
  @Field.Day() readonly day!: string;
  @Field.OneOf(STATUSES) readonly status!: PublicationLine['status'];
  @Field.Text() readonly root!: string;
  @Field.TextOrNull('What was signed for it last.') readonly transactionHash!: string | null;
  @Field.TextOrNull('Why it is refused.') readonly reason!: string | null;
  @Field.Flag('A person has looked into it.') readonly acknowledged!: boolean;
}

@ApiSchema({ name: 'RegistryStatus', description: 'As `registry status` has it.' })
export class RegistryStatusBody {
  @Field.ChainId() readonly chainId!: number;
  @Field.Count('Due, or signed and in no block.') readonly waiting!: number;
  @Field.TimeOrNull('Since when the oldest that is not final is due.')
  readonly waitingSince!: Date | null;
  @Field.Count('In a block that is not final.') readonly mined!: number;
  @Field.Count() readonly final!: number;
  @Field.DayOrNull('The last day that a final block holds.') readonly lastDay!: string | null;
  @Field.Count('Another root is on chain; not acknowledged.') readonly different!: number;
  @Field.Count('Sealed again after it was on chain; likewise.') readonly revised!: number;
  @Field.ListOf(String, 'Those days, a hundred at most.')
  readonly revisedDays!: readonly string[];
  @Field.ListOf(PublicationBody, 'The newest first.')
  readonly publications!: readonly PublicationBody[];
}

@ApiSchema({ name: 'RegistryOfSet' })
export class RegistryOfSetBody {
  @Field.Text() readonly stakeSet!: string;
  @Field.AddressOrNull('By REGISTRY_ADDRESS; null: it names none.')
  readonly registry!: string | null;
  @Field.NestedOrNull(RegistryStatusBody, 'Null without a registry, and before there is an index.')
  readonly status!: RegistryStatusBody | null;
}

@ApiSchema({ name: 'Registries' })
export class RegistriesBody {
  @Field.ListOf(RegistryOfSetBody) readonly registries!: RegistryOfSetBody[];
}

/** The publication of the roots of sealed days on chain. */
@Controller('api/operate/registries')
@ApiExtraModels(RegistryStatusBody)
@ForOperators('viewer')
export class RegistryController {
  constructor(
    private readonly sets: StakeSets,
    private readonly settings: ConsoleSettings,
  ) {}

  @Get()
  @Operation(
    'What of the sealed days is published on chain',
    'What waits, and what the registry holds otherwise, by the database.',
  )
  @Answers(200, 'One for each stake set, the default one first.', RegistriesBody)
  async list(): Promise<RegistriesBody> {
    return { registries: await this.sets.forEach((database, name) => this.of(database, name)) };
  }

  private async of(database: Database, stakeSet: string): Promise<RegistryOfSetBody> {
    const registry = registryOf(this.settings.registryAddress, stakeSet);
    if (registry === undefined) return { stakeSet, registry: null, status: null };
    const index = await new IndexStore(database).state();
    if (index === undefined) return { stakeSet, registry, status: null };
    const place = { chainId: index.chainId, registry };
    return {
      stakeSet,
      registry,
      status: statusBody(await registryStatus(database, place, PAGE_SIZE)),
    };
  }
}

function statusBody(found: RegistryStatus): RegistryStatusBody {
  const { chainId, waiting, waitingSince, mined, final, lastDay } = found;
  const { different, revised, revisedDays } = found;
  return {
    ...{ chainId, waiting, waitingSince, mined, final, lastDay, different, revised, revisedDays },
    publications: found.publications.map(publicationBody),
  };
}

function publicationBody(line: PublicationLine): PublicationBody {
  const { day, status, root, transactionHash, reason, acknowledged } = line;
  return { day, status, root, transactionHash, reason, acknowledged };
}
