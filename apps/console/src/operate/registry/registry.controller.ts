import { Controller, Get } from '@nestjs/common';
import { ApiExtraModels } from '@nestjs/swagger';
import { registryOf } from '#libs/config';
import { type Database, IndexStore } from '#libs/db';
import { Answers, Operation } from '#libs/openapi';
import { registryStatus } from '#libs/operations';
import { ForOperators } from '../../auth/audience.js';
import { ConsoleSettings } from '../../console.env.js';
import { PAGE_SIZE } from '../schema.js';
import { StakeSets } from '../stake-sets.js';
import {
  RegistriesBody,
  type RegistryOfSetBody,
  RegistryStatusBody,
  statusBody,
} from './registry.dto.js';

/** The roots of sealed days that are published on chain. */
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
